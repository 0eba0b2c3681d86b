"""Number columns and templates whose roles and phases are known: of the corpus by what its hooks clocked, and of made-up formats."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpus import capture
from benchmarks.corpus.label import load_rules, rule_of
from benchmarks.corpus.plan import BLIND, load
from benchmarks.formats.generate import GeneratedLog, generate
from processors.grammar.extractor import LONGEST
from processors.grammar.prefix import clean
from processors.read.kept import KeptSeries, observe, series_of
from processors.read.proposer.features import Floats, numeric
from processors.read.roles import Phase, Role
from processors.read.series import NumberColumn, SeriesReader, TemplateSeries

GENERATED = "generated"
DOUBTFUL = 0.3
"""Weight of what the corpus does not prove: that a column is nothing."""
EPOCHS = re.compile(r"(?i)\bepoch|\bep\b|\bround\b|\bpass\b")
SURE = 0.7
"""Weight from which a label is measured by."""
_EVALUATION = re.compile(r"(?i)val|eval|test|\bdev\b")
_OF = re.compile(r"(?:/|\bof)\s*$")
_PACE = re.compile(
    r"(?i)/ ?s|s/|sec|\bms|time|fps|sps|speed|rate|ips|took|/it|step|update|iter|batch|duration|wps|throughput"
)
"""What a number that happens to be near the pace must stand beside."""
_LOSS = re.compile(r"(?i)loss|error|nll|\bkl\b")


@dataclass(frozen=True, slots=True)
class LabelledLog:
    """The series of one log, with what is known of them.

    Attributes:
        group: What is left out together: the framework; `generated` with a number for made-up formats.
        series: The templates.
        roles: For each template, its columns' roles; None where nothing is known.
        weights: How sure each is.
        phases: Of each template; None where nothing is known.
        truth: The last steps and losses, and what the log tells.
        numbers: What features see of each template's columns.
    """

    group: str
    series: list[TemplateSeries]
    roles: list[list[Role | None]]
    weights: list[list[float]]
    phases: list[Phase | None]
    truth: dict[str, Any]
    numbers: list[Floats]


def corpus(blind: bool = False) -> Iterator[LabelledLog]:
    """Yield the labelled logs of the corpus: those that may be looked at, or only the blind ones."""
    rules = load_rules()
    for name, framework in sorted(load()[1].items()):
        if (framework.split == BLIND) == blind:
            for folder in sorted(path.parent for path in framework.logs.glob("*/truth.json")):
                yield _labelled(folder, name, rules.get(name, rules[""]))


def lines_of(folder: Path) -> list[tuple[str, float]]:
    """Return the pieces of a log of the corpus, with the arrival of each."""
    captured = capture.read(folder)
    return [(piece.decode("utf-8", "backslashreplace"), captured.start + after) for piece, after in captured.pieces]


def _labelled(folder: Path, name: str, rules: list[tuple[str, re.Pattern[str]]]) -> LabelledLog:
    truth = json.loads((folder / "truth.json").read_text())
    reader, kept = SeriesReader(), KeptSeries()
    classes: dict[int, Counter[str]] = defaultdict(Counter)
    for place, (line, arrival) in enumerate(lines_of(folder), 1):
        observe([(place, line, arrival)], reader, kept)
        row = reader.read(line, place, arrival, kept.header)
        if row is not None:
            at = rule_of(line.rstrip("\r\n"), rules)
            classes[row.template.key][rules[at][0] if at is not None else ""] += 1
    series = series_of(reader, kept)
    roles: list[list[Role | None]] = []
    weights, phases = [], []
    proved = [[_role(template, place, truth) for place in range(len(template.columns))] for template in series]
    alike = {
        (column.index, column.before): role
        for template, found in zip(series, proved, strict=True)
        for column, (role, weight) in zip(template.columns, found, strict=True)
        if weight >= SURE
    }
    for template, found in zip(series, proved, strict=True):
        known = classes[template.key].most_common(1)[0][0]
        if known == "progress":  # what ended before the log did has the roles of what went on
            for place, column in enumerate(template.columns):
                role = alike.get((column.index, column.before))
                found[place] = (role, SURE) if role and found[place][1] < SURE else found[place]
        phase = _phase(template, [role for role, _ in found], known)
        roles.append(
            [Role.OTHER if role is Role.LOSS_PART and phase is not Phase.TRAINING else role for role, _ in found]
        )
        weights.append([weight for _, weight in found])
        phases.append(phase)
    return LabelledLog(name, series, roles, weights, phases, truth, numeric(series))


def _phase(template: TemplateSeries, roles: Sequence[Role], known: str) -> Phase | None:
    if known == "progress" or (not known and Role.LOSS in roles and Role.STEP in roles):
        return Phase.TRAINING
    if known in ("other", "warning"):
        return Phase.EVALUATION if _EVALUATION.search(template.text) else Phase.OTHER
    return None


def _role(template: TemplateSeries, place: int, truth: dict[str, Any]) -> tuple[Role, float]:
    """Return what the clocked numbers prove a column to be, and how sure that is."""
    column = template.columns[place]
    values = np.array(column.values)
    if not len(values) or not np.isfinite(values[-1]):
        return Role.OTHER, DOUBTFUL
    constant = len(values) > 1 and bool((values == values[0]).all())
    if constant or (place and len(values) < 3 and _OF.search(column.before)):
        return _constant(column, len(template.columns), truth)
    if not column.integer and not column.duration and _matches(column, truth):
        return (Role.OTHER if _EVALUATION.search(column.before[-24:]) else Role.LOSS), 1.0
    return _counter(column, values, truth) or _timed(column, values, template, truth)


def _constant(column: NumberColumn, columns: int, truth: dict[str, Any]) -> tuple[Role, float]:
    last = column.values[-1]
    if column.integer and column.index and _OF.search(column.before):
        return Role.END, 1.0
    if column.integer and columns > 1 and last in {truth["steps"], *truth["last_step"]}:
        return Role.END, 0.5
    if column.integer and last == _batch(truth) > 0 and re.search(r"(?i)b(?:atch)?.?s", column.before[-24:]):
        return Role.BATCH_SIZE, 1.0
    return Role.OTHER, DOUBTFUL


def _counter(column: NumberColumn, values: Any, truth: dict[str, Any]) -> tuple[Role, float] | None:
    """Return which counter of the training a column is; None where it is none."""
    last, batch = float(values[-1]), _batch(truth)
    if len(values) > 1 and float((np.diff(values) >= 0).mean()) <= 0.6:
        return None
    epochs = EPOCHS.search(column.before[-24:]) is not None and last < truth["steps"]
    if epochs and (not column.integer or len(truth["last_step"]) > 1 or last not in truth["last_step"]):
        return Role.EPOCH, 1.0 if column.integer else SURE
    if not column.integer:
        return None
    if last in truth["last_step"] or last + 1 in truth["last_step"]:
        return Role.STEP, 1.0
    scales = (batch, batch * truth.get("world", 1))
    if batch > 1 and any(last == step * scale for step in truth["last_step"] for scale in scales):
        return Role.SAMPLE, 1.0
    tokens = (truth["tokens_per_s"] or 0) * truth["step_time_s"] * truth["steps"]
    return (Role.TOKEN, 1.0) if tokens and _near(last, tokens, 0.05) else None


def _batch(truth: dict[str, Any]) -> int:
    return round(truth["samples_per_s"] * truth["step_time_s"]) if truth["samples_per_s"] else 0


def _timed(column: NumberColumn, values: Any, template: TemplateSeries, truth: dict[str, Any]) -> tuple[Role, float]:
    if len(values) < 3:
        return Role.OTHER, DOUBTFUL
    times, named = np.array(template.arrivals), column.before[-24:]
    span, passed = float(values[-1] - values[0]), float(times[-1] - times[0])
    if passed > 2 and abs(span) > 1:
        if _near(span, passed, 0.05 + 1 / abs(span)) and bool((np.diff(values) >= 0).all()):
            return Role.ELAPSED, 1.0
        if _near(-span, passed, 0.3) and column.duration:
            return Role.REMAINING, 1.0
    if float((np.diff(values) > 0).mean()) < 0.9 and _PACE.search(f"{named}{column.after[:12]}"):
        return _pace(float(np.median(values[-20:])), truth)
    if not column.integer and _LOSS.search(named) and not _EVALUATION.search(column.before):
        return Role.LOSS_PART, DOUBTFUL
    return Role.OTHER, DOUBTFUL


def _pace(middle: float, truth: dict[str, Any]) -> tuple[Role, float]:
    """Return what a number near `middle` that speaks of the pace is: seconds or milliseconds a step or a report, or a rate."""
    seconds = (truth["step_time_s"], truth["step_time_mean_s"], *truth.get("also_step_time_s", []))
    rates = [1 / each for each in seconds if each] + [
        truth[key] for key in ("samples_per_s", "tokens_per_s") if truth[key]
    ]
    if any(
        _near(middle, each * scale, 0.1)
        for each in seconds
        for scale in (1, 1000, truth["interval"], 1000 * truth["interval"])
    ):
        return Role.INTERVAL, 0.9
    if middle > 1 and any(_near(middle, each, 0.1) for each in rates):
        return Role.RATE, 0.9
    return Role.OTHER, DOUBTFUL


def _matches(column: NumberColumn, truth: dict[str, Any]) -> bool:
    """Return whether a column prints the losses that were clocked."""
    known = np.array(sorted(loss for loss in truth["step_loss"] if loss is not None))
    if len(known) and column.decimals >= 2:
        half = 0.5 * 10.0**-column.decimals + 1e-9
        recent = np.array(column.values[-60:])
        at = (
            np.clip(np.searchsorted(known, recent), 1, len(known) - 1) if len(known) > 1 else np.zeros(len(recent), int)
        )
        close = np.minimum(np.abs(known[at] - recent), np.abs(known[at - 1] - recent)) <= half
        if len(recent) > 3 and column.decimals >= 3 and close.mean() > 0.7:
            return True
    last = column.values[-1]
    return (
        any(
            _near(last, loss, 0.003) or abs(last - loss) <= 0.51 * 10.0**-column.decimals for loss in truth["last_loss"]
        )
        and column.decimals >= 2
    )


def _near(value: float, other: float, tolerance: float) -> bool:
    return abs(value - other) <= tolerance * abs(other)


def generated(seeds: Sequence[int]) -> Iterator[LabelledLog]:
    """Yield labelled logs of made-up formats: each as it ends, and as it stood at some time before."""
    for seed in seeds:
        log = generate(seed)
        yield labelled(log)
        if seed % 2:
            yield labelled(log, share=0.1 + 0.08 * (seed % 9))


def labelled(log: GeneratedLog, share: float = 1.0) -> LabelledLog:
    """Return the series of the first `share` of a made-up log with the roles of their columns, found by what each line is known to hold."""
    reader, kept = SeriesReader(), KeptSeries()
    votes: dict[int, list[Counter[Role]]] = {}
    phases: dict[int, Counter[Phase]] = defaultdict(Counter)
    for place, line in enumerate(log.lines[: max(4, round(share * len(log.lines)))], 1):
        observe([(place, line.text, line.time)], reader, kept)
        row = reader.read(line.text, place, line.time, kept.header)
        if row is None:
            continue
        phases[row.template.key][line.phase] += 1
        shown = clean(line.text)[:LONGEST]
        rest = list(line.numbers)
        counts = votes.setdefault(row.template.key, [Counter() for _ in row.template.places])
        for votes_of_column, (begin, end) in zip(counts, row.template.places, strict=False):
            at = next((at for at, number in enumerate(rest) if number.text == shown[begin:end]), None)
            votes_of_column[rest[at].role if at is not None else Role.OTHER] += 1
            if at is not None:
                del rest[: at + 1]
    series = series_of(reader, kept)
    roles: list[list[Role | None]] = [
        [of_column.most_common(1)[0][0] for of_column in votes[each.key][: len(each.columns)]] for each in series
    ]
    return LabelledLog(
        f"{GENERATED} {log.seed}",
        series,
        roles,
        [[1.0] * len(each.columns) for each in series],
        [phases[each.key].most_common(1)[0][0] for each in series],
        log.truth,
        numeric(series),
    )
