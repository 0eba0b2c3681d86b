"""Finds dead letters for an operator, sends them again, and skips a message that a worker cannot get past."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing

import kafka
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from schedmate_records import BY_NAME, DeadLetter, InvalidRecord, Position, UserError, decode

from .accept import refuse
from .kafka import Connection, read_back, read_one
from .kafka.admin import admin_client
from .kafka.errors import refused
from .transport import Message, Outgoing, Producer, outgoing

TOPIC = "dead-letters"
WRITTEN_WITHIN_S = 30.0
"""Time limit for the broker, in seconds: a person waits for the command."""


class DeadLetterError(UserError):
    """The command is not possible for this dead letter or message; the text gives the reason."""


def read(connection: Connection, since: float | None = None) -> Iterator[DeadLetter]:
    """Yield each dead letter once, those written after `since` (seconds since 1970) where it is given.

    Raises:
        TransportError: No broker, or no right to read the topic.
    """
    seen: set[str] = set()
    for message in read_back(connection, [TOPIC], since):
        try:
            letter = decode(DeadLetter, message.value)
        except InvalidRecord:
            continue  # somebody else's message; there is no topic for what cannot be read here
        if letter.id not in seen:
            seen.add(letter.id)
            yield letter


def find(letters: Iterable[DeadLetter], wanted: Iterable[str]) -> list[DeadLetter]:
    """Return the letters whose ids, or places (`topic/partition/offset`), are `wanted`, in that order. Raises `DeadLetterError`."""
    known = {}
    for letter in letters:
        known[letter.id] = known[f"{letter.topic}/{letter.partition}/{letter.offset}"] = letter
    asked = list(wanted)
    if missing := [each for each in asked if each not in known]:
        raise DeadLetterError(f"no dead letter {', '.join(missing)}: see `schedmate dead-letters list`")
    return [known[each] for each in asked]


def original(letter: DeadLetter) -> Outgoing:
    """Return the message that became `letter`, to be written to its original topic and partition, or raise `DeadLetterError`."""
    if letter.truncated:
        raise DeadLetterError(
            f"{letter.id}: only {len(letter.value):,} of {letter.size:,} bytes were kept, so it cannot be sent again: "
            f"read {letter.topic}/{letter.partition}/{letter.offset} itself while Kafka still has it"
        )
    if letter.sha256 and hashlib.sha256(letter.value).hexdigest() != letter.sha256:
        raise DeadLetterError(f"{letter.id}: its bytes are not those of the message (SHA-256 differs): it is not sent")
    if letter.topic not in BY_NAME or letter.topic == TOPIC:
        raise DeadLetterError(
            f"{letter.id}: expected a message of one of SchedMate's topics, got one of {letter.topic!r}"
        )
    return Outgoing(letter.topic, letter.key, letter.value, letter.partition)


def replay(letter: DeadLetter, producer: Producer) -> None:
    """Write the message of `letter` again, and return once it is acknowledged. Raises `DeadLetterError` and `TransportError`."""
    producer.send(original(letter)).result(WRITTEN_WITHIN_S)


def standing_at(connection: Connection, group: str, place: Position) -> Message:
    """Return the message at `place`, where that is the next one of `group` and none of its members runs.

    Raises:
        DeadLetterError: A member runs, or the group is at another message: to skip it would lose messages that were never read.
        TransportError: No broker, no such message, or no right.
    """
    if running := members(connection, group):
        raise DeadLetterError(
            f"{running} of the group {group} run: stop all of them first, then skip, then start them again"
        )
    stands = committed(connection, group, place.topic, place.partition)
    if stands is not None and stands > place.offset:
        raise DeadLetterError(f"{group} is past it: in {place.topic}/{place.partition} it reads on at {stands}")
    start = Position(place.topic, place.partition, 0 if stands is None else stands)
    message = read_one(connection, start)
    if message.position != place:
        raise DeadLetterError(
            f"{group} is at {place.topic}/{place.partition}/{message.position.offset}, before that message: only the message that it "
            "is at can be skipped"
        )
    return message


def skip(connection: Connection, group: str, message: Message, open_producer: Callable[[], Producer]) -> DeadLetter:
    """Keep `message` as a dead letter, then move `group` past it; done again it changes nothing more. Raises `TransportError`."""
    letter = refuse(message, f"skipped for {group} by an operator", "quarantine")
    with closing(open_producer()) as producer:
        producer.send(outgoing(letter)).result(WRITTEN_WITHIN_S)
    place = message.position
    move(connection, group, Position(place.topic, place.partition, place.offset + 1))
    return letter


def members(connection: Connection, group: str) -> int:
    """Return how many members `group` has now."""
    with admin_client(connection, f"ask for the group {group}") as client:
        return len(client.describe_groups([group])[group]["members"])


def committed(connection: Connection, group: str, topic: str, partition: int) -> int | None:
    """Return the offset that `group` reads next in a partition; None where it has committed nothing there."""
    part = kafka.TopicPartition(topic, partition)
    with admin_client(connection, f"ask for the group {group}") as client:
        found = client.list_group_offsets({group: [part]})[group].get(part)
    return None if found is None or found.offset < 0 else int(found.offset)


def move(connection: Connection, group: str, to: Position) -> None:
    """Let `group` read on at `to`. Raises `TransportError` where a member runs, or this user may not."""
    part = kafka.TopicPartition(to.topic, to.partition)
    doing = f"move the group {group} in {to.topic}"
    with admin_client(connection, doing) as client:
        answer = client.alter_group_offsets(group, {part: OffsetAndMetadata(to.offset, "", -1)})[part]
    if answer is not kafka.errors.NoError:
        error: KafkaError = answer()
        raise refused(connection, error, doing) from error
