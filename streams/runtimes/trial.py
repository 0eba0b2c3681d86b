"""Finds the message at which workers die, in a process of its own: what dies there is no worker.

An exception becomes a dead letter where it is raised. What ends the process (the kernel for want of memory, a fault in native code)
leaves no word; the next worker meets the same message and ends, too. So a worker that is the third in a row to begin at one
place has its first messages tried here before it takes them.
"""

import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from typing import Any

import structlog

from processors.keyed import KeyedProcessor

from ..transport import Message
from .engine import Engine

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Trial:
    """Inputs of a process that tries messages as a worker would.

    Attributes:
        make: Makes the processor; it is sent to the process.
        partition: Which partition's messages these are.
        stored: What the state topic holds of it.
        committed: Next offset of each input topic.
        replay: Input that the states lack.
    """

    make: Callable[[], KeyedProcessor[Any]]
    partition: int
    stored: Sequence[Message]
    committed: dict[str, int]
    replay: Sequence[Message]

    def deadly(self, messages: Sequence[Message], limit_s: float = 60.0) -> Message | None:
        """Return the first of `messages` at which a process dies, or that takes more than `limit_s` seconds; None where it takes all."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=_try, args=(self, messages, theirs), daemon=True)
        child.start()
        theirs.close()
        at = -1
        try:
            # The process must start within 120 s: it loads the models and compiles the signatures, on a busy host.
            while ours.poll(120.0 if at < 0 else limit_s):
                at = ours.recv()
                if at == len(messages):
                    return None
        except EOFError:
            pass
        finally:
            child.kill()
            child.join()
            ours.close()
        if at < 0:
            log.error("trial_did_not_begin", exit_code=child.exitcode, then="the messages are taken untried")
            return None
        return messages[at]


def _try(trial: Trial, messages: Sequence[Message], pipe: Pipe) -> None:
    engine: Engine[Any] = Engine(trial.make())
    engine.load(trial.partition, trial.stored)
    engine.restore(trial.partition, trial.committed)
    engine.replay(trial.replay)
    for index, message in enumerate(messages):
        pipe.send(index)
        engine.handle([message])
    pipe.send(len(messages))
