"""Logs in the spirit of real ones, and how to put them through a handler."""

from collections.abc import Sequence

from processors.classified_chunk import ClassifiedChunk
from processors.classify.classifier import LineClassifier
from processors.classify.context import ClassifyContext
from processors.diagnose import Ending, FailureHandler, HandlerState
from processors.grammar.extractor import templates
from schedmate_records import Failure, Position

PROGRESS = [f"step {number} | loss {2.0 / number:.3f} | 12.5 it/s" for number in range(1, 60)]

BUG = [
    "Traceback (most recent call last):",
    '  File "/home/u/train.py", line 40, in <module>',
    "    main()",
    '  File "/home/u/train.py", line 31, in main',
    '    loss = model(batch["labels"])',
    "KeyError: 'labels'",
]

FALLEN = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus."
REMOTE = (
    "torch.distributed.DistBackendError: NCCL error: ncclRemoteError: A call failed possibly due to a network error"
)
CHILD = [
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
    "train.py FAILED",
    "  exitcode  : 1 (pid: 4242)",
]


def letters(lines: Sequence[str]) -> str:
    """Classes as the line classifier gives them."""
    return LineClassifier().classify(lines, ClassifyContext())


def view(  # noqa: PLR0917
    lines: Sequence[str],
    first: int = 1,
    rank: int = 0,
    time: float = 1000.0,
    attempt: int = 0,
    offset: int | None = None,
) -> ClassifiedChunk:
    where = Position("job-logs", rank, first if offset is None else offset)
    numbers = range(first, first + len(lines))
    times = [time + number * 0.001 for number in numbers]
    return ClassifiedChunk(
        "j", attempt, f"n{rank}", rank, "stdout", where, time, lines, numbers, times, letters(lines), templates(lines)
    )


def ending(**facts: object) -> Ending:
    return Ending("j", 0, Position("job-events", 0, 7), 5000.0, **facts)  # type: ignore[arg-type]


UNKNOWN = ending()


def run(
    handler: FailureHandler, lines: Sequence[str], end: Ending = UNKNOWN, size: int = 500
) -> tuple[list[Failure], HandlerState]:
    """Return all verdicts on `lines`, read in chunks of `size`."""
    state = HandlerState()
    said = []
    for start in range(0, len(lines), size):
        said += handler.observe(view(lines[start : start + size], start + 1), state)
    return said + handler.conclude(end, state), state
