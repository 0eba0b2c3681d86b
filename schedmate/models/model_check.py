"""One question with a closed schema, to see whether a model server is of use."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from processors.prompts import Prompt
from processors.prompts.quoting import NumberedLine, quoted
from processors.prompts.schema import closed, one_of, problem
from streams.model_worker.language_model import ModelError, ModelServer

QUESTION = Prompt(
    kind="check",
    version="1",
    key="check",
    instructions="You are given one line of a log between the marks <log> and </log>. Say whether it tells of progress or of an error.",
    data=quoted([NumberedLine(1, "step 100 loss 2.31 0.42 s/it")]),
    schema=closed({"class": one_of(["progress", "error"])}),
    max_tokens=32,
)


@dataclass(frozen=True)
class ServerCheck:
    """Result of the check of one server.

    Attributes:
        url: The server.
        well: Whether its answer matched the schema.
        result: Its model, answer and duration, or the error.
    """

    url: str
    well: bool
    result: str

    def __str__(self) -> str:
        return f"{self.url}: {self.result}"


def check(server: ModelServer, timeout: float, clock: Callable[[], float] = time.monotonic) -> ServerCheck:
    """Ask `server`, for at most `timeout` seconds an attempt."""
    try:
        model = server.model(timeout)
        began = clock()
        content = server.complete(QUESTION, timeout)
    except ModelError as error:
        return ServerCheck(server.url, False, str(error).removeprefix(f"{server.url}: "))
    took = clock() - began
    wrong = problem(content, QUESTION.schema)
    if wrong:
        return ServerCheck(server.url, False, f"model {model} answered outside the schema: {wrong}")
    return ServerCheck(
        server.url, True, f"model {model} answered inside the schema in {1000 * took:.0f} ms: {content['class']}"
    )
