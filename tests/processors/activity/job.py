"""A job whose log and GPUs are followed."""

import itertools
from collections.abc import Iterable, Sequence

import msgspec

from processors.activity.stage import ActivityMonitor, ActivityState
from processors.classified_chunk import ClassifiedChunk
from processors.grammar.extractor import templates
from schedmate_records import (
    Alarm,
    Checkpoint,
    CheckpointState,
    EventKind,
    Evidence,
    GpuActivity,
    GpuSpan,
    GpuState,
    JobEvent,
    JobMetric,
    Position,
    Record,
)


class Job:
    """Its stage hears what is said; its state is stored and read back each time."""

    def __init__(self, **limits: float) -> None:
        self.monitor, self.state, self.said = ActivityMonitor(**limits), ActivityState(), list[Alarm]()
        self._offsets = itertools.count()

    def report(self, time: float, rank: int = 0, node: str = "n1", **fields: object) -> list[Alarm]:
        place = self._place("job-logs")
        line = Evidence(topic="job-logs", partition=0, offset=place.offset, line=int(time), text=f"at {time}")
        return self._hear(
            JobMetric(
                id=f"m{place.offset}",
                job="7",
                node=node,
                rank=rank,
                time=time,
                confidence=0.9,
                evidence=[line],
                **fields,
            ),
            place,
        )

    def say(self, time: float, *texts: str, rank: int = 0, node: str = "n1", progress: bool = False) -> list[Alarm]:
        place = self._place("job-logs")
        chunk = ClassifiedChunk(
            job="7", attempt=0, node=node, rank=rank, stream="stdout", position=place, time=time, lines=texts,
            numbers=range(1, len(texts) + 1), times=[time] * len(texts), classes="op"[progress] * len(texts), templates=templates(texts),
        )  # fmt: skip
        return self._hear(chunk, place)

    def hear(self, *times: float, **where: object) -> list[Alarm]:
        """Say that nothing is printed."""
        return [each for time in times for each in self.say(time, **where)]  # type: ignore[arg-type]

    def train(self, times: Iterable[float], ranks: Sequence[int] = (0,)) -> None:
        for time in times:
            for rank in ranks:
                node = f"n{rank + 1}"
                self.report(time, rank=rank, node=node, step=int(time))
                self.say(time, f"step {time}", rank=rank, node=node, progress=True)

    def gpus(self, time: float, *states: tuple[GpuState, float], node: str = "n1") -> list[Alarm]:
        """Tell what each GPU of a node does, and since when."""
        place = self._place("gpu-activity")
        spans = [GpuSpan(gpu=gpu, state=state, since=since, rank=gpu) for gpu, (state, since) in enumerate(states)]
        return self._hear(GpuActivity(id=f"a{place.offset}", job="7", node=node, time=time, gpus=spans), place)

    def save(self, time: float, state: str, **fields: object) -> list[Alarm]:
        saved = Checkpoint(
            id=f"c{time}", job="7", number=1, state=CheckpointState(state), time=time, since=time, **fields
        )
        return self._hear(saved, self._place("job-logs"))

    def event(self, kind: EventKind, time: float, **fields: object) -> list[Alarm]:
        return self._hear(JobEvent(id=f"e{time}", job="7", kind=kind, time=time, **fields), self._place("job-events"))

    def newer_attempt(self, time: float) -> list[Alarm]:
        return self._kept(self.monitor.on_superseded("7", 0, time, self._place("job-logs"), self.state))

    @property
    def kinds(self) -> list[tuple[str, bool]]:
        return [(alarm.kind.value, alarm.raised) for alarm in self.said]

    def _hear(self, record: ClassifiedChunk | Record, place: Position) -> list[Alarm]:
        return self._kept(self.monitor.dispatch(record, place, self.state))  # type: ignore[arg-type]

    def _kept(self, made: Iterable[Record]) -> list[Alarm]:
        alarms = [each for each in made if isinstance(each, Alarm)]
        self.said += alarms
        self.state = msgspec.json.decode(msgspec.json.encode(self.state), type=ActivityState)
        return alarms

    def _place(self, topic: str) -> Position:
        return Position(topic, 0, next(self._offsets))
