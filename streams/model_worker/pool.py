"""Several model servers as one language model: the least busy is asked, within limits of number, time and budget.

One question takes these steps: an answer given before is given again; the budgets of its job and of all jobs are asked; a place among
`concurrency` is waited for; the server with the fewest questions under way is asked; after a failure another one, after a pause, a
bounded number of times. A server that fails again and again is left alone (`breaker`). What comes is checked against the schema.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

import structlog
from prometheus_client import Counter, Gauge, Histogram

from processors.prompts import Prompt
from processors.prompts.schema import problem

from ..resilience import Backoff, retry_within
from .answers import AnswerStore
from .breaker import CircuitBreaker
from .budget import HourlyBudget
from .language_model import Answer, ModelError, ModelServer, ModelUnavailable, PromptRefused, ServerBusy, UselessAnswer

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ModelLimits:
    """Limits of questions, and time limits.

    Attributes:
        concurrency: Maximum questions in progress at a time, over all servers.
        timeout_s: Seconds for one attempt.
        total_s: Seconds for a question, waiting and all attempts included.
        attempts: Maximum attempts at a question.
        pause_s: Pause after the first failed attempt; doubled after each, with a random part.
        per_job_hour: Maximum questions about a job within an hour.
        per_hour: Maximum questions about all jobs within an hour.
        failures: In a row, after which a server is left alone.
        rest_s: Seconds for which it is.
    """

    concurrency: int = 4
    timeout_s: float = 30.0
    total_s: float = 90.0
    attempts: int = 3
    pause_s: float = 0.5
    per_job_hour: int = 20
    per_hour: int = 500
    failures: int = 3
    rest_s: float = 10.0


class ModelMetrics:
    """Metrics of questions."""

    def __init__(self) -> None:
        self.asked = Counter("schedmate_language_model_asked", "Questions sent to a server.", registry=None)
        self.answered = Counter("schedmate_language_model_answered", "Answers that match the schema.", registry=None)
        self.outside_schema = Counter(
            "schedmate_language_model_outside_schema", "Answers in JSON that do not match the schema.", registry=None
        )
        self.retries = Counter("schedmate_language_model_retries", "Attempts after the first.", registry=None)
        self.failed = Counter(
            "schedmate_language_model_failed", "Questions without an answer after all attempts.", registry=None
        )
        self.over_budget = Counter(
            "schedmate_language_model_over_budget",
            "Questions not asked because the budget of the job or the hour was used up.",
            registry=None,
        )
        self.resting = Counter(
            "schedmate_language_model_resting",
            "Questions not asked because all servers failed recently.",
            registry=None,
        )
        self.crowded = Counter(
            "schedmate_language_model_crowded", "Questions dropped because no slot became free in time.", registry=None
        )
        self.under_way = Gauge("schedmate_language_model_under_way", "Questions in flight.", registry=None)
        self.request_duration = Histogram(
            "schedmate_language_model_request_duration_seconds",
            "Time to answer, in seconds.",
            buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
            unit="seconds",
            registry=None,
        )


class _AttemptFailed(Exception):
    """An attempt that another one may mend, after so many seconds at least."""

    def __init__(self, reason: str, after: float) -> None:
        super().__init__(reason)
        self.after = after


@dataclass
class _Member:
    server: ModelServer
    breaker: CircuitBreaker
    under_way: int = 0
    asked: int = 0


@dataclass
class ModelPool:
    """Asks several servers that serve the same model. Safe to be shared by threads; `ask` blocks its thread.

    Attributes:
        servers: The servers.
        limits: How much may be asked.
        store: Answers given before.
        model: Name of the model that the servers serve. If empty, stored answers are looked up once a server has reported the name.
        clock: Seconds, growing.
        sleep: Waits for so many seconds.
    """

    servers: Sequence[ModelServer]
    limits: ModelLimits = field(default_factory=ModelLimits)
    store: AnswerStore = field(default_factory=AnswerStore)
    model: str = ""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    metrics: ModelMetrics = field(default_factory=ModelMetrics)

    def __post_init__(self) -> None:
        if not self.servers:
            raise ValueError("expected at least one model server, got none")
        limits = self.limits
        self._members = [
            _Member(server, CircuitBreaker(limits.failures, limits.rest_s, self.clock)) for server in self.servers
        ]
        self._budget = HourlyBudget(limits.per_job_hour, limits.per_hour, self.clock)
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(limits.concurrency)
        self._name = self.model
        self._over = False

    def ask(self, prompt: Prompt) -> Answer | None:
        """Return the answer, inside the prompt's schema; None where there is none to be had.

        Raises:
            ModelUnavailable: Every server is left alone now.
        """
        known = self._remembered(prompt)
        if known is not None:
            return known
        if not self._may_ask(prompt):
            return None
        deadline = self.clock() + self.limits.total_s
        if not self._places.acquire(timeout=self.limits.total_s):
            with self._lock:
                self.metrics.crowded.inc()
            return None
        with self._lock:
            self.metrics.under_way.inc()
        try:
            return self._ask(prompt, deadline)
        finally:
            with self._lock:
                self.metrics.under_way.dec()
            self._places.release()

    def _remembered(self, prompt: Prompt) -> Answer | None:
        if not self._name:
            return None  # no server has reported its model's name yet
        content = self.store.get((self._name, prompt.kind, prompt.version, prompt.key))
        if content is None or problem(content, prompt.schema):
            return None
        return Answer(self._name, prompt.version, content)

    def _may_ask(self, prompt: Prompt) -> bool:
        with self._lock:
            if all(member.breaker.open for member in self._members):
                self.metrics.resting.inc()
                raise ModelUnavailable("every model server has failed and is not asked for a while")
            within = self._budget.spend(prompt.job)
            if within:
                self.metrics.asked.inc()
            else:
                self.metrics.over_budget.inc()
            over, self._over = self._over, not within
        if not within and not over:
            log.warning("over_budget", job=prompt.job)
        return within

    def _ask(self, prompt: Prompt, deadline: float) -> Answer | None:
        limits, attempts = self.limits, count()
        try:
            return retry_within(
                lambda: self._attempt(prompt, deadline, again=next(attempts) > 0),
                on=_AttemptFailed,
                tries=limits.attempts,
                until=deadline,
                backoff=Backoff(limits.pause_s, limits.total_s),
                at_least=lambda failed: failed.after,
                clock=self.clock,
                sleep=self.sleep,
            )
        except (_AttemptFailed, PromptRefused) as error:
            with self._lock:
                self.metrics.failed.inc()
            log.info("no_answer", kind=prompt.kind, job=prompt.job, reason=str(error))
            return None

    def _attempt(self, prompt: Prompt, deadline: float, *, again: bool) -> Answer:
        """Ask one server. Raises `_AttemptFailed`, `PromptRefused`, or `ModelUnavailable` where every server is left alone."""
        if again:
            with self._lock:
                self.metrics.retries.inc()
        left = deadline - self.clock()
        if left <= 0:
            raise _AttemptFailed("no time left", after=math.inf)
        member = self._acquire()
        if member is None:
            with self._lock:
                self._budget.refund(prompt.job)
            raise ModelUnavailable("every model server has failed and is not asked for a while")
        try:
            answer = self._try(member, prompt, min(left, self.limits.timeout_s))
        except PromptRefused:
            self._release(member, failed=None)
            raise
        except ModelError as error:
            # An answer of no use is the model's failing; the server is in order.
            self._release(member, failed=not isinstance(error, UselessAnswer))
            raise _AttemptFailed(str(error), error.after if isinstance(error, ServerBusy) else 0.0) from error
        self._release(member, failed=False)
        return answer

    def _try(self, member: _Member, prompt: Prompt, timeout: float) -> Answer:
        began = self.clock()
        name = member.server.model(timeout)
        left = timeout - (self.clock() - began)  # the first question to a server also asks for its model's name
        if left <= 0:
            raise ModelError(f"{member.server.url}: no answer within {timeout:g} s")
        content = member.server.complete(prompt, left)
        wrong = problem(content, prompt.schema)
        if wrong:
            with self._lock:
                self.metrics.outside_schema.inc()
            raise UselessAnswer(f"{member.server.url}: {wrong}")
        took = self.clock() - began
        with self._lock:
            self._name = name
            self.metrics.answered.inc()
            self.metrics.request_duration.observe(took)
        self.store.put((name, prompt.kind, prompt.version, prompt.key), content)
        return Answer(name, prompt.version, content, took)

    def _acquire(self) -> _Member | None:
        """Return the server with the fewest questions under way among those not left alone; of equals, the one asked least."""
        with self._lock:
            ready = [member for member in self._members if not member.breaker.open]
            if not ready:
                return None
            member = min(ready, key=lambda one: (one.under_way, one.asked))
            member.breaker.begin()
            member.under_way += 1
            member.asked += 1
            return member

    def _release(self, member: _Member, failed: bool | None) -> None:
        """Note the outcome; None: the server answered, and refused the prompt."""
        with self._lock:
            member.under_way -= 1
            if failed:
                if member.breaker.failed():
                    log.warning("server_left_alone", server=member.server.url, for_s=self.limits.rest_s)
            elif member.breaker.succeeded():
                log.info("server_back", server=member.server.url)
