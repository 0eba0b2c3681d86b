"""Whatever the order, the repeats and the crashes: a decision is carried out at most once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schedmate_records import Action, Decision, DecisionResult, Failure, Mode, Outcome, Record
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.ledger import Ledger
from scheduler_bridge.schedulers import ActuatorError, JobView, SchedulerAway, SchedulerJobState
from tests.scheduler_bridge.guardrails.test_guardrails import decision, tried

from .findings import NOW, failure
from .no_scheduler import NoScheduler


class Died(Exception):
    """The bridge is killed here."""


class Cluster(NoScheduler):
    """One failed job whose restarts are counted, in a scheduler that can fail in every way."""

    def __init__(self) -> None:
        self.attempts: dict[str, int] = {}
        self.restarts: list[tuple[str, int]] = []
        self.trouble: list[str] = []

    def job(self, job: str) -> JobView | None:
        if self.trouble and self.trouble[-1] == "away":
            self.trouble.pop()
            raise SchedulerAway("an answer", "none", "wait")
        return JobView(job, SchedulerJobState.FAILED, attempt=self.attempts.get(job, 0))

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        trouble = self.trouble.pop() if self.trouble else ""
        if trouble == "refuse":
            raise ActuatorError("a restart", "no", "look")
        if trouble == "die before":
            raise Died
        self.restarts.append((job, self.attempts.get(job, 0)))
        if trouble == "fail at once":  # the new attempt ends before anyone looks: a new attempt all the same
            pass
        self.attempts[job] = self.attempts.get(job, 0) + 1
        if trouble == "die after":
            raise Died
        if trouble == "lost answer":
            raise SchedulerAway("an answer", "none", "wait")
        return JobView(job, SchedulerJobState.PENDING, attempt=self.attempts[job])


class Topic:
    """What was acknowledged. Writing may kill the bridge, before or after the record is there."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.deaths: list[str] = []

    def __call__(self, record: Record) -> None:
        death = self.deaths.pop() if self.deaths else ""
        if death == "die before":
            raise Died
        self.records.append(record)
        if death == "die after":
            raise Died


SETTINGS = BridgeSettings(
    modes=dict.fromkeys(Action, Mode.ACT), min_confidence=0.5, ttl_seconds=1000, actions_per_job=2
)
FAILURES = st.builds(
    lambda attempt, revision, sure, final: failure(
        job="1", attempt=attempt, revision=revision, confidence=0.9 if sure else 0.1, final=final, node=""
    ),
    st.integers(0, 3),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
)
STEPS = st.lists(st.one_of(FAILURES, st.sampled_from(["advance", "kill", "replay"])), max_size=25)


@given(
    STEPS,
    st.lists(st.sampled_from(["", "", "away", "refuse", "die before", "die after", "lost answer"]), max_size=12),
    st.lists(st.sampled_from(["", "", "", "die before", "die after"]), max_size=12),
    st.randoms(use_true_random=False),
)
def test_an_attempt_is_restarted_at_most_once(
    steps: list[Failure | str], trouble: list[str], deaths: list[str], random: Any
) -> None:
    cluster, topic = Cluster(), Topic()
    cluster.trouble, topic.deaths = trouble, deaths
    seen: list[Failure] = []
    now = NOW

    def start() -> Bridge:
        bridge = Bridge(cluster, SETTINGS, topic, lambda: now)
        history = [r for r in topic.records if isinstance(r, Decision | DecisionResult)]
        history += random.sample(history, len(history) // 2)
        random.shuffle(history)
        for record in history:
            bridge.remember(record)
        return bridge

    bridge = start()
    for step in [*steps, "advance"]:
        now += 5
        try:
            if step == "advance":
                bridge.advance()
            elif step == "kill":
                bridge = start()
            elif step == "replay":
                for old in [*seen, *[r for r in topic.records if isinstance(r, Decision | DecisionResult)]]:
                    bridge.accept(old)
            elif isinstance(step, Failure):
                seen.append(step)
                bridge.accept(step)
        except Died:
            bridge = start()
    assert len(cluster.restarts) == len(set(cluster.restarts))
    assert len(cluster.restarts) <= SETTINGS.actions_per_job
    started = {r.decision_id for r in topic.records if isinstance(r, DecisionResult) and r.outcome is Outcome.STARTED}
    assert len(cluster.restarts) <= len(started)


@given(
    st.permutations([decision(), *[tried(0, o, decision_id=decision().id) for o in (Outcome.STARTED, Outcome.DONE)]]),
    st.data(),
)
def test_the_order_of_history_does_not_matter(history: list[Decision | DecisionResult], data: st.DataObject) -> None:
    ledger = Ledger()
    for index, record in enumerate(history):
        ledger.remember(record)
        ledger.remember(history[data.draw(st.integers(0, index))])
    assert ledger.pending() == []
    assert ledger.unfinished() == []
    assert [result.outcome for result in ledger.tried()] == [Outcome.STARTED]
    assert ledger.recent(NOW) == list(ledger.tried())
    assert ledger.recent(NOW + 7200) == []


def test_knows_what_is_open() -> None:
    ledger = Ledger()
    first, second = decision(), decision(id="second", time=NOW - 1)
    ledger.remember(first)
    ledger.remember(second)
    assert ledger.pending() == [second, first]
    ledger.remember(tried(0, Outcome.STARTED, decision_id="second"))
    assert (ledger.pending(), ledger.unfinished()) == ([first], [second])
    ledger.remember(tried(0, Outcome.REFUSED, decision_id=first.id))
    assert ledger.pending() == []


def test_forgets_only_what_was_never_tried_and_is_long_over() -> None:
    ledger = Ledger()
    for name, outcome in (("a", Outcome.SHADOWED), ("b", Outcome.DONE)):
        ledger.remember(decision(id=name))
        ledger.remember(tried(0, outcome, decision_id=name, time=NOW))
    ledger.remember(decision(id="c"))
    ledger.forget(NOW + 3600)
    assert ledger.knows("a")
    ledger.forget(NOW + 100_000)
    assert [ledger.knows(name) for name in "abc"] == [False, True, True]
