"""What to ask a language model about a job, and the lines to ask with.

Questions are no results: they are made from what is in memory, may be made twice or lost, and change no state.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from prometheus_client import Counter

from processors.view import ChunkView
from records import ErrorType, Evidence, Failure, ModelAnswer, Sample

from . import failure_review, template_reading
from .inquiry import Inquiry
from .quoting import NumberedLine
from .recent_lines import RecentLines, Stream, StreamName
from .review_window import window
from .template_reading import MOST, SHOWN, texts_of
from .worth_asking import could_be_confirmed

FIRST_LOOK = 40
"""Lines of a stream after which its templates are looked at first; then after twice as many, and so on."""
PER_JOB = 3
"""Templates of a job that are asked about."""
_JOBS = 10_000
_LINES = 40
"""Newest lines of a template that are held against the clock before anybody is asked about it, and again once there is an answer."""


class InquirerMetrics:
    """What was found worth a question."""

    def __init__(self) -> None:
        self.reviews = Counter("schedmate_inquirer_reviews", "Questions about verdicts.", registry=None)
        self.templates = Counter("schedmate_inquirer_templates", "Questions about templates.", registry=None)
        self.without_lines = Counter(
            "schedmate_inquirer_without_lines",
            "Verdicts not asked about because no line around them is in memory: after a restart, or with too many streams.",
            registry=None,
        )


class Inquirer:
    """Keeps recent lines and makes questions. Not safe for threads.

    Args:
        recent: Where lines are kept.
    """

    def __init__(self, recent: RecentLines | None = None) -> None:
        self.recent = recent or RecentLines()
        self.metrics = InquirerMetrics()
        self._asked: OrderedDict[str, set[str]] = OrderedDict()
        self._made: list[Inquiry] = []

    def take(self) -> list[Inquiry]:
        """Return the questions made since the last call."""
        made, self._made = self._made, []
        return made

    def read(self, view: ChunkView) -> bool:
        """Keep the lines of a chunk. Returns whether the time has come to look at the templates of its stream."""
        before = self.recent.of(StreamName.of(view))
        seen = before.seen if before else 0
        stream = self.recent.add(view)
        return stream is not None and _looks(stream.seen) > _looks(seen)

    def left_open(self, view: ChunkView) -> None:
        """Ask about the most frequent template of the stream of `view`, whose reports tell no speed."""
        stream = self.recent.of(StreamName.of(view))
        asked = self._asked.setdefault(view.job, set())
        self._asked.move_to_end(view.job)
        if len(self._asked) > _JOBS:
            self._asked.popitem(last=False)
        if stream is None or len(asked) >= PER_JOB:
            return
        for samples in _templates(stream):
            question = template_reading.question(samples, view.job)
            if question is None or question.key in asked:
                continue
            asked.add(question.key)
            self.metrics.templates.inc()
            draft = ModelAnswer(
                id="", job=view.job, attempt=view.attempt, about=question.key, time=0.0, model="", prompt="",
                samples=list(samples), node=view.node, rank=view.rank, stream=view.stream,
            )  # fmt: skip
            self._made.append(Inquiry(question, view.position.partition, draft))
            return

    def said(self, verdict: Failure, partition: int) -> None:
        """Ask for a second look at `verdict`, which was just said of a job whose state is of `partition`."""
        if verdict.error_type is ErrorType.NONE:
            return
        root = verdict.root if verdict.root is not None and verdict.root.rank is not None else None
        places = self._around(verdict, root)
        lines = [NumberedLine(number, place.text) for number, place in sorted(places.items())]
        shown = window(lines, root.line if root else 0)
        if not shown:
            self.metrics.without_lines.inc()
            return
        self.metrics.reviews.inc()
        places = {each.number: places[each.number] for each in shown}
        draft = ModelAnswer(
            id="", job=verdict.job, attempt=verdict.attempt, about=verdict.id, revision=verdict.revision, time=0.0, model="", prompt="",
        )  # fmt: skip
        self._made.append(Inquiry(failure_review.question(shown, verdict.job), partition, draft, places))

    def _around(self, verdict: Failure, root: Evidence | None) -> dict[int, Evidence]:
        """Return the lines of the stream of `root`, by number; what the verdict cites of it stands in for what is no longer kept.

        Without a root that a rank printed it is the stream that printed last.
        """
        if root is None:
            stream = self.recent.newest(verdict.job, verdict.attempt)
        else:
            stream = self.recent.of(StreamName(verdict.job, verdict.attempt, root.rank or 0, root.stream))
        cited = verdict.evidence if root else []
        places = {each.line: each for each in cited if root and (each.rank, each.stream) == (root.rank, root.stream)}
        return places | {
            view.numbers[index]: view.evidence(index) for view, index in (stream.lines() if stream else ())
        }


def _looks(seen: int) -> int:
    """Return how many looks are due after so many lines of a stream."""
    return (seen // FIRST_LOOK).bit_length()


def _templates(stream: Stream) -> Iterable[Sequence[Sample]]:
    """Yield the newest lines of each template that could be confirmed as a report, the most frequent template first."""
    groups: dict[tuple[str, ...], list[tuple[ChunkView, int]]] = {}
    for view, index in stream.lines():
        texts = texts_of(view.lines[index])
        if 2 <= len(texts) - 1 <= MOST:  # a step and a time
            groups.setdefault(texts, []).append((view, index))
    for places in sorted(groups.values(), key=len, reverse=True):
        if len(places) < SHOWN:
            return
        newest = [Sample(line=view.evidence(index), time=view.times[index]) for view, index in places[-_LINES:]]
        if could_be_confirmed(newest):
            yield newest
