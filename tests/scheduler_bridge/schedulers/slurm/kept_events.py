"""A producer that keeps the events of jobs, for what watches schedulers."""

from concurrent.futures import Future

from schedmate_records import EventKind, JobEvent, decode
from streams.transport import Outgoing, TransportError


class KeptEvents:
    """A producer that keeps events; `away` makes it fail as a broker that is away does."""

    def __init__(self) -> None:
        self.events: list[JobEvent] = []
        self.away = False

    def connect(self) -> "KeptEvents":
        return self

    def send(self, message: Outgoing) -> "Future[None]":
        future: Future[None] = Future()
        if self.away:
            future.set_exception(TransportError("away"))
        else:
            assert message.value
            self.events.append(decode(JobEvent, message.value))
            future.set_result(None)
        return future

    def flush(self, timeout: float) -> None:
        pass

    def close(self) -> None:
        pass

    def of(self, job: str) -> list[JobEvent]:
        return [event for event in self.events if event.job == job]

    def kinds(self, job: str) -> list[EventKind]:
        return [event.kind for event in self.of(job)]
