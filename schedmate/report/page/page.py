"""Assembles the page. The content of a log is text there: no mark-up, and nothing that runs."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

from ...analysis.analysis import Analysis
from ...terminal import printable
from ..report import Part, Row, headline, parts, summary
from .curve import curve


def page(analyses: Sequence[Analysis], explain: bool = False) -> str:
    """Return `analyses` as a page: a table where there are several, then each with its curves, verdict and quoted lines."""
    skeleton = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    logs = "\n".join(_log(place, each, explain) for place, each in enumerate(analyses))
    return skeleton.substitute(overview=_overview(analyses) if len(analyses) > 1 else "", logs=logs)


def _overview(analyses: Sequence[Analysis]) -> str:
    rows = "\n".join(
        f'<tr><td><a href="#log{place}">{_text(each.file)}</a></td><td{_colour(each)}>{_text(summary(each))}</td></tr>'
        for place, each in enumerate(analyses)
    )
    return f"<table>\n<thead><tr><th>Log</th><th>Result</th></tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _log(place: int, analysis: Analysis, explain: bool) -> str:
    points = analysis.points
    curves = [
        curve("step time, s", [(each.line, each.seconds) for each in points if each.seconds is not None]),
        curve("loss", [(each.line, each.loss) for each in points if each.loss is not None]),
    ]
    body = "\n".join(_part(each, analysis) for each in parts(analysis, explain))
    return f'<section id="log{place}">\n<h2>{_text(headline(analysis))}</h2>\n{"".join(curves)}<dl>\n{body}\n</dl>\n</section>'


def _part(part: Part, analysis: Analysis) -> str:
    if isinstance(part, Row):
        colour = _colour(analysis) if part.name == "verdict" else ""
        return f"<dt>{_text(part.name)}</dt><dd{colour}>{_text(part.text)}</dd>"
    return f"<pre>{part.line} | {_text(part.text)}</pre>"


def _colour(analysis: Analysis) -> str:
    return ' class="failed"' if analysis.failure else ""


def _text(text: str) -> str:
    return escape(printable(text))
