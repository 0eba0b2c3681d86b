"""What follows from the topics' content when nothing goes wrong: one engine after the other, each message once, in order of time."""

import time
from dataclasses import dataclass, field
from typing import Any

import msgspec

from schedmate.assembly import job_processor, node_processor
from schedmate.settings.settings import Settings
from schedmate_records import Failure, decode
from streams.runtimes.engine import Engine, by_topic
from streams.transport import Message, Outgoing

MADE = ("job-metrics", "failures", "slowdowns", "alarms", "checkpoints", "node-findings")
"""Topics that workers alone write."""


@dataclass
class Replayed:
    """What a clean replay makes: values by `identity`, by topic; and the slowest messages."""

    made: dict[str, dict[str, bytes]] = field(default_factory=dict)
    slowest: list[tuple[float, str]] = field(default_factory=list)


def replay(topics: dict[str, list[Message]]) -> Replayed:
    """Run fresh processors over the inputs among `topics`."""
    settings = Settings().processors
    engines: list[Engine[Any]] = [Engine(job_processor(settings)), Engine(node_processor(settings))]
    engine_of, replayed = by_topic(engines), Replayed({name: {} for name in MADE})
    inputs = [message for name in engine_of for message in topics[name]]
    took: list[tuple[float, str]] = []
    for message in sorted(inputs, key=lambda message: message.time):
        began = time.perf_counter()
        results = engine_of[message.position.topic].handle([message])
        took.append((time.perf_counter() - began, (message.key or b"").decode(errors="replace")))
        for each in results.records:
            _keep(replayed, each)
    replayed.slowest = sorted(took, reverse=True)[:5]
    return replayed


def _keep(replayed: Replayed, made: Outgoing) -> None:
    if made.topic in MADE and made.value is not None:
        replayed.made[made.topic][identity(made.topic, made.value)] = made.value


def identity(topic: str, value: bytes) -> str:
    """Return what distinguishes an encoded record from all others of its topic: its id, and the revision of a verdict."""
    if topic == "failures":
        verdict = decode(Failure, value)
        return verdict_identity(verdict.id, verdict.revision)
    return str(msgspec.json.decode(value)["id"])


def verdict_identity(id_: str, revision: int) -> str:
    """Return what distinguishes a verdict from all others. One that is in force again has its old id and a higher revision."""
    return f"{id_} (revision {revision})"
