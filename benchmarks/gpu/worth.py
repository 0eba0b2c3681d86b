"""Whether a language model makes the product's answers better or worse, by kind of question.

`python -m benchmarks.gpu.worth --server http://127.0.0.1:8000/v1` asks the product's own questions, checks answers as it does, lets its
rules decide what follows, and holds what comes out against known truths:

- reviews: of verdicts on the corpus of provoked failures (error type, component, whether starting again helps, root line);
- templates: whose numbers stay open in logs of made-up formats that nothing was trained on (speed, last step, last loss);
- workloads: what the source of made-up trees leaves unknown (fields of the metadata record).

A case is better or worse by how many of these become right, less those that become wrong; a null is neither.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.corpus.failures.generate import LOGS, labels, load
from benchmarks.corpus.score import judge
from benchmarks.formats.generate import generate
from benchmarks.formats.score import FIRST, chunks
from processors.advise.agent import Tools, fill
from processors.advise.agent.claims import FIELDS
from processors.advise.metadata import Job, extract
from processors.advise.metadata.tree import SourceTree
from processors.prompts import Prompt
from processors.settings import ProcessorSettings
from records import LogChunk, ModelAnswer, ModelQuestion, Workload
from schedmate.analysis import analyze
from schedmate.assembly import job_processor
from schedmate.language_models import Ask, ask_or_none, asked_at_once, language_model
from schedmate.settings import LanguageModelSection
from schedmate.tail import find_tail
from streams.producers.stored import read_chunks
from tests.processors.advise.metadata.trees import grown, matches, tree_files

TREES = Path(__file__).resolve().parents[2] / "tests/processors/advise/metadata/workloads"
T = TypeVar("T")
LEFT_ALONE_S = (0.0, 12.0, 25.0, 45.0)
"""A server that failed three times in a row is left alone for a while, and then is asked again."""
AT_ONCE_S = 0.5
"""A question that came back sooner was not asked."""


@dataclass
class Counted:
    """What came of the questions of one kind; `seconds` of each that was answered or refused."""

    asked: int = 0
    answered: int = 0
    seconds: list[float] = field(default_factory=list)
    better: int = 0
    equal: int = 0
    worse: int = 0

    def compare(self, before: int, after: int) -> None:
        """Count a case by its points without a model and with one."""
        self.better += after > before
        self.equal += after == before
        self.worse += after < before

    def row(self) -> list[str]:
        """Return it as cells."""
        waits = sorted(self.seconds)
        wait = f"{waits[len(waits) // 2]:.1f}" if waits else "-"
        cases = self.better + self.equal + self.worse
        return [str(each) for each in (cases, self.asked, self.answered, wait, self.better, self.equal, self.worse)]

    def asking(self, ask: Ask) -> Ask:
        """Return `ask`, counted."""

        def counted(question: ModelQuestion, chunks: Mapping[int, LogChunk]) -> ModelAnswer | None:
            return self._count(lambda: ask(question, chunks))

        return counted

    def prompting(
        self, ask: Callable[[Prompt], Mapping[str, Any] | None]
    ) -> Callable[[Prompt], Mapping[str, Any] | None]:
        """Return `ask`, counted."""
        return lambda prompt: self._count(lambda: ask(prompt))

    def _count(self, ask: Callable[[], T | None]) -> T | None:
        for pause in LEFT_ALONE_S:
            time.sleep(pause)
            began = time.monotonic()
            answer = ask()
            took = time.monotonic() - began
            if answer is not None or took > AT_ONCE_S:
                break
        self.seconds.append(took)
        self.asked += 1
        self.answered += answer is not None
        return answer


def main() -> None:
    """Ask, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="address of an OpenAI-compatible server")
    parser.add_argument("--cases", type=int, default=100, help="cases of each kind at most (default: 100)")
    parser.add_argument(
        "--kind", action="append", choices=("review", "template", "workload"), help="default: all; repeatable"
    )
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one answer (default: 120)")
    given = parser.parse_args()
    unbounded = 10**9
    model = language_model(
        LanguageModelSection(
            servers=given.server, timeout_seconds=given.timeout, attempts=1,
            questions_per_job_hour=unbounded, questions_per_hour=unbounded,
        )
    )  # fmt: skip
    assert model is not None
    console = Console()
    counted = {
        "review": lambda: reviews(asked_at_once(model), given.cases, console),
        "template": lambda: templates(asked_at_once(model), given.cases, console),
        "workload": lambda: workloads(ask_or_none(model), given.cases, console),
    }
    for kind in given.kind or counted:
        table = Table("kind", "cases", "questions", "answered", "p50 s", "better", "equal", "worse")
        table.add_row(kind, *counted[kind]().row())
        console.print(table)


def reviews(ask: Ask, most: int, console: Console) -> Counted:
    """Ask about verdicts, of every family in turn."""
    counted = Counted()
    cases = [(LOGS / family / label["file"], label) for family in load() for label in labels(family)]
    for path, label in track(_spread(cases, most), "reviews", console=console):
        before, after = _failure(path, None), _failure(path, counted.asking(ask))
        counted.compare(points(label, before), points(label, after))
    return counted


def templates(ask: Ask, most: int, console: Console) -> Counted:
    """Ask about logs whose numbers stay open without a model; those that raise no question are passed over."""
    counted = Counted()
    with console.status("templates"):
        for seed in range(FIRST, FIRST + 40 * most):
            if counted.better + counted.equal + counted.worse >= most:
                break
            asked = counted.asked
            after, before = _progress(seed, counted.asking(ask)), _progress(seed, None)
            if counted.asked > asked:
                counted.compare(before, after)
    return counted


def workloads(ask: Callable[[Prompt], Mapping[str, Any] | None], most: int, console: Console) -> Counted:
    """Ask about trees that leave a field unknown which has a truth."""
    counted = Counted()
    jobs = [json.loads(line) for line in (TREES / "jobs.jsonl").read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as scratch:
        for place, (job, root, found) in enumerate(
            track(list(_open(jobs, Path(scratch), most)), "workloads", console=console)
        ):
            filled = fill(found, Tools(SourceTree(root)), job["command"], counted.prompting(ask), job=str(place))
            counted.compare(_fields(job, found), _fields(job, filled.workload))
    return counted


def points(label: Mapping[str, Any], verdict: Mapping[str, Any] | None) -> int:
    """Return how many of type, component, restartable and root line are right."""
    if verdict is None:
        return 4 if label["error_type"] == "none" else 0
    line = verdict["root_line"] or 0
    places = [label["acceptable_lines"], *label.get("alt_ranges", [])] if label["error_type"] != "none" else []
    right = (
        (verdict["error_type"] in {label["error_type"], *label.get("acceptable_error_types", [])})
        + (verdict["faulty_component"] in {label["faulty_component"], *label.get("acceptable_components", [])})
        + (label["restartable"] is None or verdict["restartable"] == label["restartable"])
        + any(low <= line <= high for low, high in places)
    )
    return int(right)


def _failure(path: Path, ask: Ask | None) -> Mapping[str, Any] | None:
    processor = job_processor(ProcessorSettings(ask_models=ask is not None))
    found = analyze(path, read_chunks(path), processor, find_tail(path, processor), ask).contract()["failure"]
    return dict(found) if found else None


def _progress(seed: int, ask: Ask | None) -> int:
    log = generate(seed)
    processor = job_processor(ProcessorSettings(ask_models=ask is not None))
    progress = analyze(Path(f"seed {seed}"), chunks(log), processor, ask=ask).contract()["progress"]
    verdicts = judge(log.truth, progress, streamed=True).values()
    return sum(int(verdict == "right") - int(verdict == "wrong") for verdict in verdicts)


def _open(jobs: Iterable[dict[str, Any]], scratch: Path, most: int) -> Iterator[tuple[dict[str, Any], Path, Workload]]:
    for place, job in enumerate(jobs):
        root = grown(scratch / str(place), tree_files((TREES / f"{job['tree']}.txt").read_text(encoding="utf-8")))
        found = extract(Job(root, root / job["directory"], job["command"], job["devices"], job["nodes"]))
        if most and any(getattr(found, name) is None and None not in job["accepted"][name] for name in FIELDS):
            most -= 1
            yield job, root, found


def _fields(job: Mapping[str, Any], found: Workload) -> int:
    told = {name: getattr(found, name) for name in FIELDS if getattr(found, name) is not None}
    right = sum(any(matches(value, each) for each in job["accepted"][name]) for name, value in told.items())
    return right - (len(told) - right)


def _spread(cases: list[T], most: int) -> list[T]:
    """Return `most` of the cases, evenly spread."""
    return cases if len(cases) <= most else [cases[place * len(cases) // most] for place in range(most)]


if __name__ == "__main__":
    main()
