"""What the lines of a log mean, asked about made-up trainings that the rules do not read.

They print every ten steps, in words of many languages and in abbreviations, and their steps as floats (`10.0`), which is what keeps the
columns from telling them. `python -m benchmarks.models.harm` measures what wrong answers do.
"""

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from processors.formats import KnownFormats
from processors.settings import ProcessorSettings
from schedmate.analysis.analysis import Analysis, analyze
from schedmate.assembly import job_processor
from schedmate.models.language_models import asked_at_once
from schedmate_records import LogChunk, QuestionKind
from streams.model_worker.language_model import LanguageModel

from .asking import Noted
from .judged import Tally, compared, points

FORMS = (
    "zug {step} obj {loss} tick {ms}",
    "Schritt {step} Verlust {loss} Dauer {ms}",
    "Schritt {step}, Fehler {loss}, je Schritt {seconds}",
    "étape {step} perte {loss} durée {seconds}",
    "paso {step} pérdida {loss} tiempo {ms}",
    "passo {step} perda {loss} ritmo {rate}",
    "шаг {step} потери {loss} время {ms}",
    "步数 {step} 损失 {loss} 用时 {ms}",
    "krok {step} strata {loss} tempo {rate}",
    "steg {step} förlust {loss} tid {ms}",
    "n {step} J {loss} tau {seconds}",
    "k={step} L={loss} dt={ms}",
    "u:{step} o:{loss} w:{ms}",
    "upd {step} obj {loss} took {ms}",
    "sweep {step} energy {loss} wall {seconds}",
    "tick {step} cost {loss} period {ms}",
    "minibatch {step} nll {loss} cadence {rate}",
    "gen {step} fit {loss} pace {rate}",
    "cycle {step} residual {loss} cadence {rate}",
    "lap {step} err {loss} split {ms}",
    "{step} {loss} {seconds}",
    "{step};{loss};{ms}",
    "{loss} @ {step} ~ {ms}",
    "seen {samples} zug {step} obj {loss} pace {rate}",
    "pos {step} of {total} crit {loss} dur {ms}",
    "at {step} free {memory} obj {loss} beat {ms}",
    "round {step} nats {loss} tact {ms} gnorm {norm}",
    "t {step} V {loss} grad {norm} per {seconds}",
    "move {step} score {loss} temp {norm} clk {ms}",
    "pass {step} mass {loss} hop {rate} mem {memory}",
)
LINES, CHUNK, EVERY, TOTAL = 96, 20, 10, 9000
TOLERANCE = 0.05
"""Of a step time, either way."""


@dataclass(frozen=True)
class Training:
    """Lines of a training, by chunks, and what they say."""

    form: str
    chunks: tuple[LogChunk, ...]
    step: int
    step_time_s: float
    loss: float


def trainings() -> list[Training]:
    """Return made-up trainings, the same each time."""
    return [_training(place, form) for place, form in enumerate(FORMS)]


def _training(place: int, form: str) -> Training:
    chance = random.Random(place)
    step_time, now, loss = chance.choice((0.04, 0.13, 0.31, 0.62)), 1_000_000.0, 0.0
    lines, times = list[str](), list[float]()
    for at in range(1, LINES + 1):
        seconds = step_time * chance.uniform(0.99, 1.01)
        now += EVERY * seconds
        loss = round(0.4 + 3 / (1 + at / 8) * chance.uniform(0.9, 1.1), 4)
        values: dict[str, object] = {
            "step": float(at * EVERY),
            "loss": f"{loss:.4f}",
            "samples": 64 * at * EVERY,
            "total": TOTAL,
        }
        values |= {"seconds": f"{seconds:.4f}", "ms": f"{1000 * seconds:.1f}", "rate": f"{1 / seconds:.2f}"}
        values |= {"memory": 21_504 + at % 7, "norm": f"{chance.uniform(0.5, 2):.3f}"}
        lines.append(form.format(**values))
        times.append(now)
    return Training(form, tuple(_chunks(f"made-up-{place}", lines, times)), LINES * EVERY, step_time, loss)


def _chunks(job: str, lines: Sequence[str], times: Sequence[float]) -> Iterator[LogChunk]:
    for at in range(0, len(lines), CHUNK):
        piece = slice(at, at + CHUNK)
        after = [round(1000 * (each - times[at])) for each in times[piece]]
        yield LogChunk(
            job=job, producer="p", seq=at, lines=list(lines[piece]), first_line=at + 1, first_piece=at + 1, time=times[at], after_ms=after
        )  # fmt: skip


def measure(model: LanguageModel, most: int, concurrency: int) -> Iterator[Tally]:
    """Yield one row: step, step time and loss of each training, read from its newest line, with the model's format and without."""
    row = Tally("what a log's lines mean: step, step time, loss")
    asked_about = trainings()[:most]
    with ThreadPoolExecutor(concurrency) as pool:
        read = pool.map(lambda one: (_read(one), _read(one, model)), asked_about)
        for training, ((plain, _), (asked, noted)) in zip(asked_about, read, strict=True):
            row.subjects += 1
            noted.count(row)
            row.effective += _figures(plain) != _figures(asked)
            row.changes[compared(_points(training, plain), _points(training, asked))] += 1
    yield row


def _read(training: Training, model: LanguageModel | None = None) -> tuple[Analysis, Noted]:
    noted = Noted(model, QuestionKind.FORMAT)
    processor = job_processor(ProcessorSettings(ask_models=model is not None), formats=KnownFormats())
    return analyze(Path(training.form), training.chunks, processor, ask=asked_at_once(noted) if model else None), noted


def _figures(analysis: Analysis) -> dict[str, float | None]:
    metric = analysis.metric
    names = ("step", "step_time_s", "loss")
    return dict.fromkeys(names) if metric is None else {name: getattr(metric, name) for name in names}


def _points(training: Training, analysis: Analysis) -> dict[str, float]:
    """Return 1 for each figure that is right, 0 for one that is open, -1 for one that is wrong."""
    figures = _figures(analysis)
    return {
        "step": points(figures["step"], figures["step"] == training.step),
        "step_time_s": points(figures["step_time_s"], _near(figures["step_time_s"], training.step_time_s)),
        "loss": points(figures["loss"], figures["loss"] == training.loss),
    }


def _near(value: float | None, true: float) -> bool:
    return value is not None and abs(value / true - 1) <= TOLERANCE
