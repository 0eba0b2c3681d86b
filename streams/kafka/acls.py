"""Rights on a broker: granting a role's, taking them away, and the same as commands of Kafka's own tool."""

import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.errors import KafkaError

from ..rights import Grant
from ..transport import TransportError
from .admin import admin_client
from .connection import Connection

_ANY_HOST = "*"


def grant(connection: Connection, principal: str, grants: Iterable[Grant]) -> int:
    """Give `principal` (`User:NAME`) each of `grants`, and return how many it had not.

    Raises:
        TransportError: The broker has no authorizer, or this user may not grant.
    """
    wanted = [_acl(each, principal) for each in grants]
    with admin_client(connection, "grant rights") as client:
        present = set(_present(client, principal))
        missing = [each for each in wanted if each not in present]
        made = client.create_acls(missing) if missing else {"failed": []}
        if made["failed"]:
            reason: KafkaError = made["failed"][0]()
            raise reason
    return len(missing)


def revoke(connection: Connection, principal: str) -> int:
    """Delete all rights of `principal`, whatever their origin, and return how many there were."""
    with admin_client(connection, "take rights away") as client:
        ((_, gone, _),) = client.delete_acls([_all_of(principal)])
    return len(gone)


def granted(connection: Connection, principal: str) -> list[Grant]:
    """Return the rights that `principal` has by name. What it has through super users or other principals is not among them."""
    with admin_client(connection, "ask for rights") as client:
        found = list(_present(client, principal))
    return [
        Grant(
            each.operation.name,
            each.resource_pattern.resource_type.name.lower(),
            each.resource_pattern.resource_name,
            each.resource_pattern.pattern_type is ACLResourcePatternType.PREFIXED,
        )
        for each in found
    ]


def commands(brokers: str, principal: str, grants: Iterable[Grant]) -> Iterator[str]:
    """Yield the commands of Kafka's own tool that grant the same, one for each resource."""
    _checked(principal)
    by_resource: dict[tuple[str, str, bool], list[str]] = {}
    for each in grants:
        by_resource.setdefault((each.resource, each.name, each.prefixed), []).append(each.operation)
    for (resource, name, prefixed), operations in by_resource.items():
        on = ["--cluster"] if resource == "cluster" else [f"--{resource}", name]
        pattern = ["--resource-pattern-type", "prefixed"] if prefixed else []
        can = [part for operation in operations for part in ("--operation", operation.title().replace("_", ""))]
        yield shlex.join(
            [
                *("kafka-acls.sh", "--bootstrap-server", brokers, "--command-config", "admin.properties", "--add"),
                *("--allow-principal", principal, *can, *on, *pattern),
            ]
        )


def _acl(each: Grant, principal: str) -> Any:
    pattern = ACLResourcePatternType.PREFIXED if each.prefixed else ACLResourcePatternType.LITERAL
    return ACL(
        _checked(principal),
        _ANY_HOST,
        ACLOperation[each.operation],
        ACLPermissionType.ALLOW,
        ResourcePattern(ResourceType[each.resource.upper()], each.name, pattern),
    )


def _present(client: Any, principal: str) -> Iterable[Any]:
    found, _ = client.describe_acls(_all_of(principal))
    return [each for each in found if each.permission_type is ACLPermissionType.ALLOW and each.host == _ANY_HOST]


def _all_of(principal: str) -> Any:
    anything = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    return ACLFilter(_checked(principal), None, ACLOperation.ANY, ACLPermissionType.ANY, anything)


def _checked(principal: str) -> str:
    kind, _, name = principal.partition(":")
    if kind != "User" or not name or name == "*":
        raise TransportError(
            f"expected a principal such as User:schedmate-pipe, or User:CN=host for a certificate, got {principal!r}"
        )
    return principal
