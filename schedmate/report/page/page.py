"""Assembles the page. The content of a log is text there: no mark-up, and nothing that runs."""

import math
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template

from ...analysis.analysis import Analysis
from ...terminal import printable
from ...top.sparkline import share_of, widened
from ..report import Part, Quote, Row, headline, parts, state_sentence, summary

_WIDTH, _HEIGHT, _LEFT, _TOP, _FOOT = 720, 150, 62, 20, 130


def page(analyses: Sequence[Analysis], explain: bool = False) -> str:
    """Return `analyses` as a page: a table where there are several, then each with its curves, verdict and quoted lines."""
    skeleton = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    logs = "\n".join(_log(place, each, explain) for place, each in enumerate(analyses))
    return skeleton.substitute(overview=_overview(analyses) if len(analyses) > 1 else "", logs=logs)


def _overview(analyses: Sequence[Analysis]) -> str:
    rows = "\n".join(
        f'<tr><td><a href="#log{place}">{_text(each.file)}</a></td><td class="{_colour(each)}">{_text(summary(each))}</td></tr>'
        for place, each in enumerate(analyses)
    )
    return f"<table>\n<thead><tr><th>Log</th><th>Result</th></tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _log(place: int, analysis: Analysis, explain: bool) -> str:
    """Return the section of a log, in the order of a job's page: state, quoted line, what to do, progress, curves, evidence."""
    points = analysis.points
    curves = curve("step time, s", [(each.line, each.seconds) for each in points if each.seconds is not None]) + curve(
        "loss", [(each.line, each.loss) for each in points if each.loss is not None]
    )
    named = _by_name(parts(analysis, explain))
    first = [named.pop(name) for name in ("to do", "progress", "speed") if name in named]
    quotes = [each for each in named.get("verdict", []) if isinstance(each, Quote)][:1]
    sentence = "" if analysis.signs is not None else _capitalised(state_sentence(analysis))
    state = f'<p class="state{_colour(analysis)}">{_text(sentence)}</p>\n' if sentence else ""
    rest = _list(named.values())
    if curves or first:
        rest = f"<details open><summary>Evidence</summary>\n{rest}</details>\n"
    return (
        f'<section id="log{place}">\n<h2>{_text(headline(analysis))}</h2>\n{state}{"".join(map(_part, quotes))}'
        f"{_list(first)}{curves}{rest}</section>"
    )


def _by_name(found: Iterable[Part]) -> dict[str, list[Part]]:
    """Return parts by the name of their row; a row without a name and a quote belong to the row before."""
    named: dict[str, list[Part]] = {}
    last: list[Part] = []
    for each in found:
        if isinstance(each, Row) and each.name:
            last = named.setdefault(each.name, [])
        last.append(each)
    return named


def _list(groups: Iterable[Iterable[Part]]) -> str:
    body = "\n".join(_part(each) for group in groups for each in group)
    return f"<dl>\n{body}\n</dl>\n" if body else ""


def _part(part: Part) -> str:
    if isinstance(part, Row):
        return f"<dt>{_text(part.name)}</dt><dd>{_text(part.text)}</dd>"
    return f"<pre>{part.line} | {_text(part.text)}</pre>"


def _colour(analysis: Analysis) -> str:
    return " failed" if analysis.failure else ""


def _capitalised(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _text(text: str) -> str:
    return escape(printable(text))


def curve(title: str, points: Sequence[tuple[int, float]]) -> str:
    """Return a plot of `points`, (line of the log, value) with growing lines; empty for fewer than two."""
    known = [(line, value) for line, value in points if math.isfinite(value)]
    if len(known) < 2:
        return ""
    first, last = known[0][0], known[-1][0]
    low, high = widened(min(value for _, value in known), max(value for _, value in known))
    path = "M" + "L".join(
        f"{_LEFT + (_WIDTH - _LEFT) * share_of(line, first, last):.1f} {_FOOT - (_FOOT - _TOP) * share_of(value, low, high):.1f}"
        for line, value in known
    )
    return f"""\
<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{title}, by line of the log">
<text x="{_LEFT}" y="{_TOP - 6}">{title}</text>
<rect class="frame" x="{_LEFT}" y="{_TOP}" width="{_WIDTH - _LEFT}" height="{_FOOT - _TOP}"/>
<path class="curve" d="{path}"/>
<text x="{_LEFT - 6}" y="{_TOP + 9}" text-anchor="end">{high:.4g}</text>
<text x="{_LEFT - 6}" y="{_FOOT}" text-anchor="end">{low:.4g}</text>
<text x="{_LEFT}" y="{_HEIGHT - 5}">line {first:,}</text>
<text x="{_WIDTH}" y="{_HEIGHT - 5}" text-anchor="end">line {last:,}</text>
</svg>
"""
