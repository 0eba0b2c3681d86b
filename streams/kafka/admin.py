"""Topics on a broker: create, list, check, and whether a program has the rights that it needs."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import kafka
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import (
    GroupAuthorizationFailedError,
    KafkaError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)

from ..rights import ALL, Role
from ..topics import LAYOUTS
from ..transport import TransportError
from .connection import Connection
from .errors import refused, unreachable


@contextmanager
def admin_client(connection: Connection, doing: str) -> Iterator[Any]:
    """Yield kafka-python's admin client; `doing` names the purpose in errors. Raises `TransportError`."""
    try:
        client = kafka.KafkaAdminClient(**connection.config())
    except KafkaError as error:
        raise unreachable(connection, error) from error
    try:
        yield client
    except KafkaError as error:
        raise refused(connection, error, doing) from error
    finally:
        client.close()


@dataclass(frozen=True)
class _Topic:
    """A topic as a broker shows it to this user. `partitions` is 0 where it does not exist, None where the user may not see it."""

    partitions: int | None
    operations: frozenset[str]


def _topics(connection: Connection) -> dict[str, _Topic]:
    with admin_client(connection, "ask for the topics") as client:
        described = client.describe_topics(list(ALL))
    return {each["name"]: _topic(each) for each in described}


def _topic(described: dict[str, Any]) -> _Topic:
    operations = frozenset(described.get("authorized_operations") or ())
    if described["error_code"] == TopicAuthorizationFailedError.errno:
        return _Topic(None, operations)
    missing = described["error_code"] == UnknownTopicOrPartitionError.errno
    return _Topic(0 if missing else len(described["partitions"]), operations)


def list_topics(connection: Connection) -> dict[str, int]:
    """Return the number of partitions of each of our topics that exists and that this user may see."""
    return {name: topic.partitions for name, topic in _topics(connection).items() if topic.partitions}


def unreadable(connection: Connection, topic: str) -> TransportError:
    """Return why a consumer does not find `topic`: it is not there, or this user may not see it."""
    with admin_client(connection, f"read {topic}") as client:
        (described,) = client.describe_topics([topic])
    if _topic(described).partitions is None:
        return refused(connection, TopicAuthorizationFailedError(), f"read {topic}")
    return TransportError(f"expected the topic {topic}, which does not exist: run `schedmate topics create`")


def create_topics(connection: Connection, partitions: int, replication: int) -> list[str]:
    """Create those of our topics that do not exist, and return their names. Running it again changes nothing."""
    present = _topics(connection)
    if hidden := [name for name, topic in present.items() if topic.partitions is None]:
        raise refused(connection, TopicAuthorizationFailedError(), f"see and create {', '.join(hidden)}")
    missing = {
        layout.name: {
            "num_partitions": layout.partitions or partitions,
            "replication_factor": replication,
            "configs": layout.config,
        }
        for layout in LAYOUTS
        if not present[layout.name].partitions
    }
    if missing:
        with admin_client(connection, "create topics") as client:
            client.create_topics(missing, timeout_ms=30_000, wait_for_metadata=True)
    return sorted(missing)


def check_topics(connection: Connection) -> list[str]:
    """Return what is wrong with our topics, a sentence each; an empty list when all is well."""
    seen = _topics(connection)
    present = {name: topic.partitions for name, topic in seen.items() if topic.partitions}
    hidden = [name for name, topic in seen.items() if topic.partitions is None]
    problems = [
        f"topic {name} does not exist: run `schedmate topics create`"
        for name, topic in seen.items()
        if topic.partitions == 0
    ]
    if hidden:
        problems.append(
            f"this user may not see {', '.join(hidden)}: check as one who may, or its own rights with `schedmate acls check ROLE`"
        )
    return problems + _layout_problems(present) + _config_problems(connection, present)


def check_role(connection: Connection, role: Role, prefix: str = "schedmate") -> list[str]:
    """Return what keeps a program with `role` from its work, a sentence each: topics that are missing, rights that it lacks."""
    seen, problems = _topics(connection), []
    grants = list(role.grants(prefix))
    lacks: dict[str, list[str]] = {}
    for grant in grants:
        if grant.resource == "topic":
            topic = seen[grant.name]
            if topic.partitions is None or (topic.operations and grant.operation not in topic.operations):
                lacks.setdefault(grant.operation, []).append(grant.name)
    used = dict.fromkeys(grant.name for grant in grants if grant.resource == "topic")
    problems += [
        f"topic {name} does not exist: run `schedmate topics create`" for name in used if seen[name].partitions == 0
    ]
    if lacks:
        missing = "; ".join(f"{operation} {', '.join(topics)}" for operation, topics in sorted(lacks.items()))
        problems.append(f"this user has no right to {missing}: {_HOW.format(role=role.name)}")
    for grant in grants:
        if grant.resource == "group" and not grant.prefixed and not _may_join(connection, grant.name):
            problems.append(f"this user has no right to join the group {grant.name}: {_HOW.format(role=role.name)}")
    return problems + _layout_problems({name: found for name in used if (found := seen[name].partitions)})


_CHECKED = ("message.timestamp.type", "cleanup.policy")
"""Required settings of topics: times must not come from producers' clocks, and states must be compacted. Others are up to the operator."""


def _config_problems(connection: Connection, names: Iterable[str]) -> list[str]:
    """Return a sentence for each setting of `names` that loses or delays messages, as far as this user may see them."""
    wanted = {layout.name: layout.config for layout in LAYOUTS if layout.name in names}
    asked = [ConfigResource(ConfigResourceType.TOPIC, name, dict.fromkeys(_CHECKED)) for name in wanted]
    with admin_client(connection, "ask how the topics are configured") as client:
        found = client.describe_configs(asked, config_filter="all").get("topic", {}) if asked else {}
    return [
        f"topic {name} has {key}={found[name][key]['value']}, expected {wanted[name][key]}: "
        f"kafka-configs.sh --alter --entity-type topics --entity-name {name} --add-config '{key}=[{wanted[name][key]}]'"
        for name in sorted(found)
        for key in _CHECKED
        if key in found[name] and set(found[name][key]["value"].split(",")) != set(wanted[name][key].split(","))
    ]


_HOW = "an administrator grants it with `schedmate acls grant {role} User:NAME`"


def _may_join(connection: Connection, group: str) -> bool:
    with admin_client(connection, f"ask for the group {group}") as client:
        try:
            # A group that is not there yet, or a broker that never had one, is no reason against joining it.
            with suppress(kafka.errors.RetriableError, kafka.errors.GroupIdNotFoundError):
                client.describe_groups([group])
        except GroupAuthorizationFailedError:
            return False
    return True


def _layout_problems(present: dict[str, int]) -> list[str]:
    shared = {
        layout.name: present[layout.name] for layout in LAYOUTS if layout.partitions is None and layout.name in present
    }
    problems = []
    if len(set(shared.values())) > 1:
        counts = ", ".join(f"{name} {count}" for name, count in sorted(shared.items()))
        problems.append(
            f"expected the same number of partitions in every topic that a job's state is made from, got {counts}: "
            "stop the workers and raise the smaller ones with Kafka's own tool "
            f"(kafka-topics.sh --alter --partitions {max(shared.values())})"
        )
    problems += [
        f"expected {layout.partitions} partition in {layout.name}, got {present[layout.name]}: delete the topic and create it again"
        for layout in LAYOUTS
        if layout.partitions is not None and present.get(layout.name, layout.partitions) != layout.partitions
    ]
    return problems
