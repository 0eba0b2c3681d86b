"""Asks a language model to read the source of jobs, in a thread of its own: nothing waits for it."""

import queue
import threading
from contextlib import suppress

import structlog

from processors.advise.agent import combined, fill
from schedmate_records import Workload

from ...scheduler import Ask
from ..client import SlurmError, SlurmJob
from .remote_tools import RemoteTools, SourceGone

log = structlog.get_logger(__name__)


class ModelReader:
    """Asks about one job after the other, in a thread of its own. What it found is fetched by `take`, soon: it waits in memory.

    Args:
        ask: Asks the model; None where there is no answer to be had.
        one_s: Seconds for one job.
    """

    # One job may keep the model busy for ten minutes.
    def __init__(self, ask: Ask, one_s: float = 600.0) -> None:
        self._ask, self._one_s = ask, one_s
        # At most 100 jobs wait for the model; further ones are left as they are.
        self._waiting: queue.Queue[tuple[str, SlurmJob, Workload]] = queue.Queue(100)
        self._found: dict[str, Workload] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._run, name="model-reader", daemon=True).start()

    def submit(self, name: str, job: SlurmJob, known: Workload) -> None:
        """Ask about a job, at some time.

        Args:
            name: What events call it.
            job: The job.
            known: Workload that the deterministic reader found. It completes the answer of the model.
        """
        with suppress(queue.Full):
            self._waiting.put_nowait((name, job, known))

    def pop_results(self) -> dict[str, Workload]:
        """Return, once, what source and model show of each job to which the model added something."""
        with self._lock:
            found, self._found = self._found, {}
        return found

    def drain(self) -> None:
        """Wait until all who were submitted have been asked about."""
        self._waiting.join()

    def _run(self) -> None:
        while True:
            name, job, known = self._waiting.get()
            try:
                self._look(name, job, known)
            except (SlurmError, SourceGone) as error:
                log.info("source_not_read_by_model", job=name, user=job.user, error=str(error))
            except Exception:  # one job's source must not end the reading of others'
                log.exception("source_not_read_by_model", job=name, user=job.user)
            finally:
                self._waiting.task_done()

    def _look(self, name: str, job: SlurmJob, known: Workload) -> None:
        with RemoteTools(job.user, job.directory) as tools:
            ending = threading.Timer(self._one_s, tools.end)
            ending.daemon = True
            ending.start()
            try:
                found = fill(Workload(gpus=known.gpus), tools, job.command, self._ask, job=name)
            finally:
                ending.cancel()
        workload = combined(found.workload, known, job.command)
        if workload != known:
            with self._lock:
                self._found[name] = workload
