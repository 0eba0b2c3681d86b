"""Hostile input, one kind a function: each returns messages that anybody who can run a job could write."""

import random
from collections.abc import Callable

from schedmate_records import LogChunk, encode
from streams.transport import Outgoing, outgoing

UNDECODABLE = b"undecodable-"
"""What the key of a message begins with that cannot be a record of its topic, and must become a dead letter."""

Make = Callable[[random.Random, int], list[Outgoing]]


def _chunk(job: str, lines: list[str], rank: int = 0) -> Outgoing:
    return outgoing(
        LogChunk(job=job, producer="hostile", lines=lines, time=1.0, first_line=1, first_piece=1, rank=rank)
    )


def nested(_: random.Random, number: int) -> list[Outgoing]:
    """Objects within objects, where a parser that calls itself runs out of stack."""
    value = b'{"a":' * 1200
    key = UNDECODABLE + b"nested-%d" % number
    plain = Outgoing("job-logs", b"nested-%d" % number, value)
    return [plain, *(Outgoing(topic, key, value) for topic in ("job-events", "node-logs", "gpu-metrics"))]


def backtracking(_: random.Random, number: int) -> list[Outgoing]:
    """Lines at which a regular expression with choices inside choices never comes to an end."""
    return [_chunk(f"backtracking-{number}", ["abcdef" + "a-1" * 680] * 60)]


def ranks(_: random.Random, number: int) -> list[Outgoing]:
    """One job of many ranks."""
    return [_chunk(f"ranks-{number}", ["step 1 | loss 0.5"], rank) for rank in range(1500)]


def random_bytes(chance: random.Random, number: int) -> list[Outgoing]:
    """Bytes that are no text, in which every line is of another shape."""
    return [Outgoing("job-logs", b"random-%d" % number, chance.randbytes(60_000)) for _ in range(5)]


def huge_line(_: random.Random, number: int) -> list[Outgoing]:
    """A line of nearly a megabyte."""
    return [_chunk(f"huge-{number}", ["x=1 " * 220_000])]


def huge_value(chance: random.Random, number: int) -> list[Outgoing]:
    """A message that fits into its topic, and whose dead letter does not."""
    return [Outgoing("job-events", UNDECODABLE + b"huge-%d" % number, chance.randbytes(6_500_000))]


def many_jobs(_: random.Random, number: int) -> list[Outgoing]:
    """A job id for each line."""
    return [Outgoing("job-logs", b"many-%d-%d" % (number, index), b"hello") for index in range(800)]


def wrong_fields(_: random.Random, number: int) -> list[Outgoing]:
    """JSON that is almost a record, and a record of tomorrow."""
    key = UNDECODABLE + b"fields-%d" % number
    tomorrow = encode(LogChunk(job="j", lines=["x"], time=1.0)).replace(b'"v":1', b'"v":7')
    almost = (b'{"lines":5}', tomorrow)
    return [*(Outgoing("job-logs", key, value) for value in almost), Outgoing("job-events", key, b"\xff\xfe\x00")]


KINDS: dict[str, Make] = {
    make.__name__.replace("_", "-"): make
    for make in (nested, wrong_fields, huge_value, ranks, many_jobs, backtracking, random_bytes, huge_line)
}
"""All kinds by name."""
