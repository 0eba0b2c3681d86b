"""What a bridge takes in of what others wrote, whatever version wrote it; no broker is needed."""

import json
from collections.abc import Sequence
from typing import Any, cast

import pytest

from schedmate.services import bridge
from schedmate.services.bridge import History
from schedmate_records import Command, OperatorCommand, Position, encode
from schedmate_records.codec import VERSION
from streams.kafka import Connection
from streams.transport import Message
from tests.scheduler_bridge.test_people import command


def later(kind: Command, **changes: Any) -> bytes:
    written = json.loads(encode(command(kind, "restart/1/0/x")))
    return json.dumps({**written, "v": VERSION + 1, "only_for": "nobody knows", **changes}).encode()


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        (later(Command.STOP), True),
        (later(Command.REJECT), True),
        (later(Command.APPROVE), False),
        (later(Command.RESUME), False),
        (later(Command.STOP, time=1e300), False),
        (b"stop!", False),
    ],
)
def test_what_forbids_holds_in_a_later_version_and_what_allows_does_not(
    monkeypatch: pytest.MonkeyPatch, value: bytes, taken: bool
) -> None:
    class Follower:
        def __init__(self, _: object, topics: Sequence[str], since: float | None = None) -> None:
            self.topics = topics

        def new(self) -> list[Message]:
            return [Message(Position("approvals", 0, 0), b"", value, 0.0)] if "approvals" in self.topics else []

    monkeypatch.setattr(bridge, "KafkaFollower", Follower)
    found = list(History(cast(Connection, None))())
    assert [type(each) for each in found] == ([OperatorCommand] if taken else [])
