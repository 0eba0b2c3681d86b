"""The model worker on Kafka: a Faust application with a consumer group of its own, on the model's host.

Several questions are under way at a time. Each is committed once its answer is acknowledged; Faust commits up to the first that is not.
While no model can be asked, or no chunk be read, questions wait in the topic, until they are too old.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import structlog
from faust.types import EventT

from schedmate_records import Position

from ..kafka import Connection
from ..runtimes.faust_app import faust_app, run_app
from ..runtimes.writer import Writer
from ..transport import Message, Outgoing, TransportError
from .answering import QuestionAnswerer
from .language_model import ModelUnavailable

log = structlog.get_logger(__name__)

T = TypeVar("T")


class FaustModelWorker:
    """One model worker process. Several with one `group` share the questions.

    Args:
        answerer: Answers questions; called in threads.
        session_timeout_s: How long a dead worker keeps its partitions.
        concurrency: Questions under way at a time.
    """

    def __init__(
        self,
        connection: Connection,
        answerer: QuestionAnswerer,
        group: str = "schedmate-model-worker",
        session_timeout_s: float = 10.0,
        concurrency: int = 4,
    ) -> None:
        self._connection, self._answerer, self._concurrency = connection, answerer, concurrency
        self._writer, self._writing = Writer(connection), asyncio.Lock()
        self._free = asyncio.Semaphore(concurrency)
        self._under_way: set[asyncio.Task[None]] = set()
        self.app = faust_app(connection, group, session_timeout_s)
        questions = self.app.topic("model-questions", key_serializer="raw", value_serializer="raw")
        self.app.agent(questions, name="model-questions")(self._consume)

    def run(self) -> None:
        """Run until SIGINT or SIGTERM; ends the process."""
        run_app(self.app)

    def problems(self) -> list[str]:
        """Return what is wrong, for the health check."""
        away = ["the broker does not accept writes: it is away, or refuses"] if self._writer.outage.ongoing else []
        return [*self._connection.problems(), *away]

    async def _consume(self, stream: Any) -> None:
        try:
            # A question is handed on within 50 ms.
            async for events in stream.noack_take(self._concurrency, within=0.05):
                for event in events:
                    await self._free.acquire()
                    task = asyncio.create_task(self._answer(stream, event))
                    self._under_way.add(task)
                    task.add_done_callback(self._under_way.discard)
        finally:
            for task in self._under_way:
                task.cancel()
            await self._writer.close()

    async def _answer(self, stream: Any, event: "EventT[bytes]") -> None:
        try:
            if event.message.generation_id != self.app.consumer_generation_id:
                return  # fetched before a rebalance: it comes again, perhaps to another worker
            self._answerer.metrics.questions.inc()
            written = await self._handle(_message(event))
            async with self._writing:
                await self._writer.write(written)
            if event.message.generation_id == self.app.consumer_generation_id:
                await stream.ack(event)
        except Exception as error:
            log.exception("model_worker_cannot_go_on")
            await self.app.crash(error)
        finally:
            self._free.release()

    async def _handle(self, message: Message) -> list[Outgoing]:
        waits = False
        while True:
            try:
                return await _in_thread(lambda: self._answerer.handle(message))
            except (ModelUnavailable, TransportError) as error:
                if not waits:
                    log.warning("question_waits", position=message.position, reason=str(error))
                waits = True
                # A question that could not be answered is tried again after 5 s.
                await asyncio.sleep(5.0)


async def _in_thread(function: Callable[[], T]) -> T:
    """Return what `function` returns, called in a thread that does not keep the process from ending."""
    result: Future[T] = Future()
    result.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result.set_result(function())
        except Exception as error:  # noqa: BLE001  # it is raised again where the result is awaited
            result.set_exception(error)

    threading.Thread(target=run, name="question", daemon=True).start()
    return await asyncio.wrap_future(result)


def _message(event: "EventT[bytes]") -> Message:
    raw = event.message
    return Message(Position(raw.topic, raw.partition, raw.offset), raw.key, raw.value or b"", raw.timestamp)
