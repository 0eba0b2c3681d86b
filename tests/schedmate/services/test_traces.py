"""Traces of the pipeline: what reaches a receiver."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from threading import Event
from typing import cast

from processors.job import JobProcessor
from schedmate.services.bridge import Bridging, History
from schedmate.services.sink import with_spans
from schedmate.services.traces import END_S, exported
from schedmate.settings.settings import ServiceSettings
from schedmate_records import Action, Decision, Failure, LogChunk, Position, Record, decode, encode
from scheduler_bridge import BridgeSettings
from streams.memory import MemoryBroker, MemoryProducer
from streams.runtimes.engine import Engine
from streams.runtimes.tracing import Tracing
from streams.spans import Span as Told
from streams.transport import Message
from tests.scheduler_bridge.findings import slowdown
from tests.scheduler_bridge.no_scheduler import NoScheduler
from tests.servers.otlp import otlp_receiver

LOST = "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered"
LINE = "torch.OutOfMemoryError: CUDA out of memory."


def logs(offset: int, line: str) -> Message:
    chunk = LogChunk(job="j", producer="p", lines=[line], time=100.0 + offset, first_line=offset, first_piece=offset)
    return Message(Position("job-logs", 0, offset), b"j", encode(chunk), 100.5 + offset)


def spans_and_verdicts(messages: Sequence[Message]) -> tuple[list[Told], list[Failure]]:
    spans: list[Told] = []
    engine = Engine(JobProcessor(), clock=lambda: 120.0, tracing=Tracing(spans.append))
    results = engine.handle(messages)
    assert not spans, "nothing is acknowledged yet"
    engine.acknowledged(results)
    return spans, [decode(Failure, each.value or b"") for each in results.records if each.topic == "failures"]


def test_a_verdict_is_traced_from_its_line_to_its_acknowledgement() -> None:
    spans, (failure,) = spans_and_verdicts([logs(5, "epoch 1"), logs(6, LINE)])
    assert {(each.about, each.name, each.start, each.end, each.within) for each in spans} == {
        (failure.id, "verdict", 106.0, 120.0, ""),
        (failure.id, "ship", 106.0, 106.5, "verdict"),
        (failure.id, "work", 106.5, 120.0, "verdict"),
    }
    assert "memory" not in str([each.attributes for each in spans]), "what jobs print goes nowhere else"


def test_the_share_of_the_chunks_follows_from_where_they_stand() -> None:
    taken = [(message := logs(offset, "a line"), decode(LogChunk, message.value)) for offset in range(400)]

    def traced(share: float) -> set[str]:
        return {each.about for each in Tracing(lambda _: None, share).begin_spans(taken, [])}

    some = traced(0.25)
    assert 60 < len(some) < 140
    assert traced(0.25) == some
    assert some < traced(0.5)
    assert len(traced(1.0)) == 400
    assert traced(0.0) == set()


def test_commands_put_their_spans_into_one_trace_without_a_word_between_them() -> None:
    with otlp_receiver() as receiver:
        settings = ServiceSettings(traces_url=receiver.address)
        with exported(settings, "worker") as worker:
            assert worker is not None
            engine = Engine(JobProcessor(), clock=lambda: 120.0, tracing=Tracing(worker))
            results = engine.handle([logs(6, LINE)])
            engine.acknowledged(results)
        (failure,) = (decode(Failure, each.value or b"") for each in results.records if each.topic == "failures")
        causes = {"restart": failure.id, "drain": failure.id, "cancel_packing": "slowdown/j"}
        records: list[Record] = [
            failure,
            *(
                Decision(
                    id=action, action=Action(action), job="j", time=1.0, expires=2.0, policy="p", reason="r", cause_id=cause
                )
                for action, cause in causes.items()
            ),
        ]  # fmt: skip
        with exported(settings, "sink") as sink:
            assert sink is not None
            with_spans(lambda _: None, sink)(
                [(Position("failures", 0, place), each) for place, each in enumerate(records)]
            )
        assert sorted((service, span.name) for service, span in receiver.taken) == [
            ("schedmate-sink", "store decision"),
            ("schedmate-sink", "store decision"),
            ("schedmate-sink", "store failure"),
            ("schedmate-worker", "ship"),
            ("schedmate-worker", "verdict"),
            ("schedmate-worker", "work"),
        ]
        (whole,) = receiver.named("verdict")
        assert {span.trace_id for _, span in receiver.taken} == {whole.trace_id}
        assert {span.parent_span_id for _, span in receiver.taken if span is not whole} == {whole.span_id}
        assert len({span.span_id for _, span in receiver.taken}) == 6
        assert (whole.start_time_unix_nano, whole.end_time_unix_nano) == (106 * 10**9, 120 * 10**9)


def test_a_decision_of_the_bridge_is_a_span_of_its_verdicts_trace() -> None:
    broker, stop = MemoryBroker(), Event()
    with otlp_receiver() as receiver:
        settings = ServiceSettings(traces_url=receiver.address)
        with exported(settings, "worker") as worker:
            assert worker is not None
            engine = Engine(JobProcessor(), clock=lambda: 120.0, tracing=Tracing(worker))
            results = engine.handle([logs(6, LOST)])
            engine.acknowledged(results)
        (found,) = (decode(Failure, each.value or b"") for each in results.records if each.topic == "failures")
        with exported(settings, "bridge") as bridge:
            history = cast("History", lambda: iter(()))
            bridging = Bridging(
                NoScheduler(),
                BridgeSettings(),
                MemoryProducer(broker),
                history,
                stop,
                active=lambda: True,
                spans=bridge,
            )
            bridging.handle([(Position("failures", 0, 0), found), (Position("slowdowns", 0, 0), slowdown())])
        (_, restart), *others = [
            (message.position, decode(Decision, message.value))
            for each in broker.topics["decisions"]
            for message in each.messages
        ]
        assert (restart.action, restart.cause_id) == (Action.RESTART, found.id)
        assert [one.action for _, one in others] == [Action.CANCEL_PACKING], "of a slowdown, which no trace is about"
        (whole,), (decided,) = receiver.named("verdict"), receiver.named("decide")
        assert (decided.trace_id, decided.parent_span_id) == (whole.trace_id, whole.span_id)
        assert ("schedmate-bridge", "decide") in [(service, span.name) for service, span in receiver.taken]
        said = {one.key: one.value.string_value for one in decided.attributes}
        assert said == {
            "schedmate.action": "restart",
            "schedmate.mode": "shadow",
            "schedmate.policy": "restart-on-infrastructure-failure",
        }, "what jobs print goes nowhere else"


def test_nothing_of_it_is_loaded_where_traces_go_nowhere() -> None:
    program = """
import sys
import time
from schedmate.services.service import service
from schedmate.settings.settings import Settings
with service(Settings(), "sink") as running:
    assert running.spans is None
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
"""
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ)


def test_a_receiver_that_is_away_holds_nobody_up_for_long() -> None:
    with exported(ServiceSettings(traces_url="http://127.0.0.1:9/v1/traces"), "sink") as spans:
        assert spans is not None
        for number in range(5000):
            spans(Told(f"failure/{number}", "verdict", 1.0, 2.0))
        ending = time.monotonic()
    assert time.monotonic() - ending < 4 * END_S, "the library's own half a minute would be longer"
