"""The local scheduler: a queue, some slots, and one thread that starts, reads and ends processes."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import structlog

from schedmate_records import EventKind, JobEvent

from ...errors import ActuatorError
from ...queue import Queue
from ...views import JobView, NodeView, SchedulerJobState
from .events import event_of
from .jobs import LocalJob, StreamOutput, slot_name
from .nodes import LocalNodes
from .outputs import Outputs
from .process import Task
from .queue import queue_of

log = structlog.get_logger(__name__)


class LocalScheduler:
    """Runs processes as jobs on the slots of this machine.

    A slot is a core; with more slots than cores, some share one. A slot holds one job, or a job and those that asked to be
    packed with it. A job's processes find `RANK`, `LOCAL_RANK`, `WORLD_SIZE`, `LOCAL_JOB_ID`, `LOCAL_RESTART_COUNT` and
    `LOCAL_NODE` in their environment. When one rank fails, the others are ended. All public methods are safe for threads. One that the
    state of the job or slot does not allow raises `ActuatorError` and does nothing.

    Args:
        emit: Called with every job event, in order, from the scheduler's thread.
        output: Called with what jobs print, from the scheduler's thread. It must not block for long: a job whose pipe is
            full waits. A stream's end comes before the event that its job ended.
        cores: The core of each slot, from the first again where there are more slots; all that this process may use where empty.
        grace: Seconds between SIGTERM and SIGKILL.
    """

    def __init__(
        self,
        emit: Callable[[JobEvent], None],
        output: Callable[[StreamOutput], None],
        *,
        slots: int = 2,
        cores: Sequence[int] = (),
        grace: float = 2.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._emit = emit
        self._outputs = Outputs(output, clock)
        self._slots = slots
        self._nodes = LocalNodes(slots)
        self._grace = grace
        self._clock = clock
        self._cores = cores or (sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0])
        self._jobs: dict[str, LocalJob] = {}
        self._kill_at: dict[str, float] = {}
        self._events: deque[JobEvent] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="local-scheduler", daemon=True)
        self._thread.start()

    def submit(
        self,
        command: Sequence[str],
        *,
        job: str = "",
        ranks: int = 1,
        environment: Mapping[str, str] | None = None,
        directory: str = "",
        pack_with: str = "",
        partition: str = "",
        priority: int = 0,
    ) -> str:
        """Queue a job and return its id.

        Args:
            command: The program and its arguments.
            job: The id that it shall have; the next number where empty.
            ranks: How many processes to start.
            environment: Added to the environment of this process.
            directory: Working directory; that of this process where empty.
            pack_with: Job with which it shall share a slot, once that one runs.
            partition: Its class, by which an operator may name it.
            priority: The larger, the sooner it starts.

        Raises:
            ValueError: The id is taken, or there is no job to be packed with.
        """
        with self._changed:
            job = job or str(len(self._jobs) + 1)
            if job in self._jobs:
                raise ValueError(f"expected a new job id, got {job!r}, which is taken")
            if pack_with and pack_with not in self._jobs:
                raise ValueError(f"expected a job to be packed with, got {pack_with!r}, which is not known")
            new = LocalJob(job, tuple(command), ranks, dict(environment or {}), directory, pack_with)
            new.partition, new.priority, new.queued = partition, priority, self._clock()
            self._jobs[job] = new
            self._tell(new, EventKind.SUBMITTED)
            return job

    def job(self, job: str) -> JobView | None:
        """Return what is known of a job; None for an unknown one."""
        with self._changed:
            found = self._jobs.get(job)
            return found.view() if found else None

    def jobs(self) -> list[JobView]:
        """Return all jobs, in the order in which they were submitted."""
        with self._changed:
            return [job.view() for job in self._jobs.values()]

    def queue(self) -> Queue:
        """Return what waits and what runs; a slot counts as a node with one GPU, which a job takes whole."""
        with self._changed:
            return queue_of(self._jobs.values(), self._nodes)

    def set_environment(self, job: str, name: str, value: str) -> None:
        """Change what a job finds in its environment from its next start on."""
        with self._changed:
            if found := self._jobs.get(job):
                found.environment = {**found.environment, name: value}

    def restart(self, job: str, exclude: Sequence[str] = ()) -> None:
        """Put a failed job back in the queue, away from some slots besides those that it avoids already."""
        with self._changed:
            stopped = self._find(job, (SchedulerJobState.FAILED,))
            excluded = stopped.excluded | set(exclude)
            if excluded.issuperset(self._nodes.names()):
                raise ActuatorError("a slot to be left", f"{sorted(excluded)} excluded", "nothing was done")
            stopped.excluded = excluded
            self._requeue(stopped)

    def requeue(self, job: str, *, alone: bool = False, delay: float = 0.0) -> None:
        """Stop a running job and put it back in the queue.

        With `alone` it is never packed again; with `delay` it does not start for so many seconds.

        Returns at once; the job is back in the queue when its processes have ended.
        """
        with self._changed:
            running = self._find(job, (SchedulerJobState.RUNNING,))
            running.alone |= alone
            running.not_before = self._clock() + delay
            self._stop(running, SchedulerJobState.PENDING)

    def hold(self, job: str) -> None:
        """Keep a job that waits from starting."""
        with self._changed:
            self._find(job, (SchedulerJobState.PENDING,)).state = SchedulerJobState.HELD

    def release(self, job: str) -> None:
        """Let a held job start."""
        with self._changed:
            self._find(job, (SchedulerJobState.HELD,)).state = SchedulerJobState.PENDING

    def drain(self, node: str, reason: str, key: str = "") -> None:
        """Start no more jobs on a slot. A person who does so gives no key."""
        with self._changed:
            self._nodes.drain(node, reason, key)

    def undrain(self, node: str, key: str = "") -> None:
        """Return a drained slot to service."""
        with self._changed:
            self._nodes.undrain(node, key)

    def nodes(self) -> list[NodeView]:
        """Return all slots as nodes."""
        with self._changed:
            return self._nodes.views({job.node for job in self._jobs.values() if job.tasks})

    def add_act(self, job: str, key: str) -> None:
        """Keep the key of what the bridge does to a job."""
        with self._changed:
            if found := self._jobs.get(job):
                found.acts = (*found.acts, key)

    def cancel(self, job: str) -> None:
        """End a job for good, as its user would."""
        with self._changed:
            found = self._find(job, (SchedulerJobState.RUNNING, SchedulerJobState.PENDING, SchedulerJobState.HELD))
            if found.state is SchedulerJobState.RUNNING:
                self._stop(found, SchedulerJobState.CANCELLED)
            else:
                found.state = SchedulerJobState.CANCELLED
                self._tell(found, EventKind.ENDED, state="CANCELLED")

    def signal(self, job: str, number: int) -> None:
        """Send a signal to all processes of a running job, as a kernel or a person would; what follows is the job's own end."""
        with self._changed:
            for task in self._find(job, (SchedulerJobState.RUNNING,)).tasks:
                task.signal(number)

    def wait(self, reached: Callable[[list[JobView]], bool], seconds: float) -> bool:
        """Wait until the jobs are as wanted. Returns False after `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: reached([job.view() for job in self._jobs.values()]), seconds)

    def close(self) -> None:
        """End all processes and the thread. Jobs that still ran are cancelled."""
        with self._changed:
            for job in self._jobs.values():
                if job.state is SchedulerJobState.RUNNING:
                    self._stop(job, SchedulerJobState.CANCELLED)
            self._closing = True
        if self._thread is not threading.current_thread():
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        try:
            while not self._step():
                pass
        finally:  # also where a callback raised: no process outlives its scheduler
            for job in self._jobs.values():
                for task in job.tasks:
                    task.close()
            self._outputs.close()

    def _step(self) -> bool:
        """Do what there is to do within one tick. True once all is over."""
        with self._changed:
            if not self._closing:
                self._start_what_fits()
            self._changed.notify_all()
            over = self._closing and not any(job.tasks for job in self._jobs.values())
        # Look at the processes every 50 ms: immediate for a person, at no cost.
        self._outputs.read(0.05)
        self._reap()
        while self._events:
            self._emit(self._events.popleft())
        return over

    def _start_what_fits(self) -> None:
        for job in sorted(self._jobs.values(), key=lambda job: -job.priority):
            due = job.state is SchedulerJobState.PENDING and job.not_before <= self._clock()
            if due and (slot := self._slot_for(job)) is not None:
                self._start(job, slot)

    def _slot_for(self, job: LocalJob) -> int | None:
        """Return the slot where a job may start now."""
        partner = self._jobs.get(job.pack_with)
        if partner and not job.alone:
            fits = partner.state is SchedulerJobState.RUNNING and not partner.alone and partner.node not in job.excluded
            return partner.slot if fits and self._nodes.in_service(partner.node) else None
        taken = {other.slot for other in self._jobs.values() if other.tasks}
        for slot in range(self._slots):
            name = slot_name(slot)
            if slot not in taken and name not in job.excluded and self._nodes.in_service(name):
                return slot
        return None

    def _start(self, job: LocalJob, slot: int) -> None:
        job.slot, job.state, job.next, job.exit_code, job.signal = slot, SchedulerJobState.RUNNING, None, None, 0
        job.started = self._clock()
        there = [other for other in self._jobs.values() if other is not job and other.tasks and other.slot == slot]
        try:
            for rank in range(job.ranks):
                task = Task(
                    job.command, rank, job.environment_of(rank), job.directory, self._cores[slot % len(self._cores)]
                )
                job.tasks.append(task)
                self._outputs.follow(job, task)
        except OSError as error:
            log.warning("job_not_started", job=job.job, error=str(error))
            job.exit_code = 127  # a shell's exit code for "command not found"
            for task in job.tasks:
                task.signal(signal.SIGKILL)
        self._tell(job, EventKind.STARTED)
        if not job.tasks:
            self._end(job)
            return
        for other in there:
            job.beside.add(other.job)
            other.beside.add(job.job)
            self._tell(other, EventKind.PACKED, partner=job)
            self._tell(job, EventKind.PACKED, partner=other, newcomer=True)

    def _reap(self) -> None:
        """See which processes have ended, and end those that must not go on."""
        for job in [job for job in self._jobs.values() if job.tasks]:
            with self._changed:
                exits = [task.exit for task in job.tasks]
                bad = next((code for code in exits if code), None)
                if bad is not None and job.exit_code is None:
                    job.exit_code, job.signal = (bad, 0) if bad > 0 else (None, -bad)
                if bad is not None and job.job not in self._kill_at and None in exits:
                    self._terminate(job)
                if self._kill_at.get(job.job, float("inf")) < time.monotonic():
                    for task in job.tasks:
                        task.signal(signal.SIGKILL)
            if None not in exits:
                for task in job.tasks:
                    self._outputs.finish(job, task)
                with self._changed:
                    self._end(job)

    def _stop(self, job: LocalJob, then: SchedulerJobState) -> None:
        job.state, job.next = SchedulerJobState.STOPPING, then
        self._terminate(job)

    def _terminate(self, job: LocalJob) -> None:
        self._kill_at[job.job] = time.monotonic() + self._grace
        for task in job.tasks:
            task.signal(signal.SIGTERM)

    def _end(self, job: LocalJob) -> None:
        """All processes of an attempt have ended: report that, separate it from its neighbours, and go on to its next state."""
        job.tasks = []
        self._kill_at.pop(job.job, None)
        for name in sorted(job.beside):
            other = self._jobs[name]
            other.beside.discard(job.job)
            self._tell(other, EventKind.UNPACKED, partner=job)
            self._tell(job, EventKind.UNPACKED, partner=other)
        job.beside = set()
        if job.next is SchedulerJobState.PENDING:
            self._requeue(job)
            return
        failed = bool(job.exit_code) or bool(job.signal)
        job.state = job.next or (SchedulerJobState.FAILED if failed else SchedulerJobState.COMPLETED)
        code = job.exit_code if failed else 0
        self._tell(job, EventKind.ENDED, exit_code=code, signal=job.signal, state=job.state.value.upper())

    def _requeue(self, job: LocalJob) -> None:
        job.state, job.next, job.queued = SchedulerJobState.PENDING, None, self._clock()
        job.attempt += 1
        self._tell(job, EventKind.REQUEUED)

    def _find(self, job: str, states: Sequence[SchedulerJobState]) -> LocalJob:
        found = self._jobs.get(job)
        if found is None:
            raise ActuatorError("a job that this scheduler knows", repr(job), "nothing was done")
        if found.state not in states:
            wanted = " or ".join(state.value for state in states)
            raise ActuatorError(f"a job that is {wanted}", f"{job} is {found.state.value}", "nothing was done")
        return found

    def _tell(self, job: LocalJob, kind: EventKind, **more: Any) -> None:
        self._events.append(event_of(job, kind, self._clock(), **more))
