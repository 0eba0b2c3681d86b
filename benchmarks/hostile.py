"""Text that no training prints, of thirty kinds: lines and bytes a second beside ordinary text, and memory: `python -m benchmarks hostile`,
or `python -m benchmarks.hostile 10000000` for so many lines of all kinds.

Nearly every line of it is of a template of its own: what costs next to nothing a line elsewhere costs all of it here.
"""

import base64
import gc
import json
import random
import statistics
import string
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from typing import NamedTuple

import msgspec
from prometheus_client import Counter

from benchmarks import lines as ordinary
from benchmarks.memory import resident_mb
from processors.job import JobProcessor
from processors.state import JobState
from schedmate.assembly import job_processor
from schedmate.settings.settings import Settings
from schedmate_records import LogChunk, Position
from streams.producers.pieces import LIMIT

PACE = 100_000
"""Lines a second at which one job prints them."""
SHARE = 1 / 3
"""Lines or bytes a second of hostile text, of those of ordinary text, that are enough."""
POOL = 4
"""Chunks of a kind that the long run turns again and again."""
EVERY = 1_000_000
"""Lines after which the long run says how it goes."""


class Speed(NamedTuple):
    """How fast text is processed, in lines and in characters a second of processor time."""

    lines: float
    size: float

    @property
    def shown(self) -> str:
        """Both, for a table."""
        return f"{self.lines:,.0f} lines/s, {self.size / 1e6:,.1f} MB/s"

    def at_least(self, other: "Speed", share: float) -> bool:
        """Return whether lines or bytes a second are at least `share` of `other`'s."""
        return self.lines >= share * other.lines or self.size >= share * other.size


Kind = Callable[[random.Random], str]


def _letters(chance: random.Random, shortest: int = 2, longest: int = 11) -> str:
    return "".join(chance.choices(string.ascii_lowercase, k=chance.randint(shortest, longest)))


def _words(chance: random.Random, count: int = 12) -> str:
    return " ".join(_letters(chance) for _ in range(count))


def _base64(chance: random.Random, size: int = 57) -> str:
    return base64.b64encode(chance.randbytes(size)).decode()


def _hexdump(chance: random.Random) -> str:
    block = chance.randbytes(16)
    shown = "".join(chr(each) if 32 <= each < 127 else "." for each in block)
    return f"{chance.randrange(1 << 28) * 16:08x}  {block[:8].hex(' ')}  {block[8:].hex(' ')}  |{shown}|"


def _xxd(chance: random.Random) -> str:
    block = chance.randbytes(16)
    shown = "".join(chr(each) if 32 <= each < 127 else "." for each in block)
    return f"{chance.randrange(1 << 28) * 16:08x}: {block.hex(' ', 2)}  {shown}"


def _object(chance: random.Random) -> str:
    made = {
        _letters(chance): chance.choice((chance.random(), _letters(chance), [chance.randrange(99)])) for _ in range(12)
    }
    return json.dumps(made, separators=(",", ":"))


def _from(alphabet: str, length: int = 120) -> Kind:
    return lambda chance: "".join(chance.choices(alphabet, k=length))


KINDS: dict[str, Kind] = {
    "random bytes": lambda chance: chance.randbytes(200).replace(b"\n", b" ").decode("utf-8", "backslashreplace"),
    "random bytes as Latin 1": lambda chance: chance.randbytes(200).replace(b"\n", b" ").decode("latin-1"),
    "random printable characters": _from(string.printable.replace("\n", "").replace("\r", "")),
    "base64": _base64,
    "base64 in one line of 10 MB": lambda chance: _base64(chance, LIMIT * 3 // 4),
    "hex": lambda chance: chance.randbytes(32).hex(),
    "hexdump -C": _hexdump,
    "xxd": _xxd,
    "UUIDs": lambda chance: str(uuid.UUID(bytes=chance.randbytes(16))),
    "minified JSON": _object,
    "minified JSON in one line of 10 MB": lambda chance: "".join(_object(chance) for _ in range(120))[:LIMIT],
    "random words": _words,
    "random words and numbers": lambda chance: " ".join(
        f"{_letters(chance)} {chance.randrange(1 << 20)}" for _ in range(8)
    ),
    "k=v": lambda chance: " ".join(f"{_letters(chance)}={chance.random():.4f}" for _ in range(30)),
    "k: v": lambda chance: ", ".join(f"{_letters(chance)}: {chance.randrange(999)}" for _ in range(30)),
    "long digits": lambda chance: f"{_letters(chance)} " + "9" * chance.randint(300, 900),
    "step 999…9": lambda chance: f"step {'9' * chance.randint(300, 900)} loss {_letters(chance)}",
    "decimals": lambda chance: f"loss 0.{'1' * chance.randint(100, 900)} {_letters(chance)}",
    "paths": lambda chance: "/" + "/".join(_letters(chance) for _ in range(12)) + ".py",
    "URLs": lambda chance: (
        f"https://{_letters(chance)}.io/{_letters(chance)}?" + "&".join(f"{_letters(chance)}=1" for _ in range(9))
    ),
    "cells of words": lambda chance: ",".join(_letters(chance) for _ in range(20)),
    "cells of numbers": lambda chance: "\t".join(f"{10 ** chance.randint(0, 9)}.5" for _ in range(20)),
    "brackets": _from("()[]{}<>\"'"),
    "names of pods": lambda chance: f"{_letters(chance)}-" + "a-1" * chance.randint(100, 300),
    "colours": lambda chance: "".join(f"\x1b[{chance.randrange(99)}m{_letters(chance)}" for _ in range(12)),
    "Cyrillic and Chinese": lambda chance: "".join(
        chr(chance.choice((0x430, 0x4E00)) + chance.randrange(32)) for _ in range(120)
    ),
    "box drawing": lambda chance: "".join(chr(0x2500 + chance.randrange(160)) for _ in range(120)),
    "white space": _from(" \t|", 300),
    "exceptions": lambda chance: f"{_letters(chance).title()}Error: {_words(chance)}",
    "tracebacks": lambda chance: (
        f'Traceback (most recent call last): File "{_letters(chance)}.py", line 1 {_words(chance)}'
    ),
    "reports": lambda chance: (
        f"step {chance.randrange(9999)} loss {chance.random():.4f} {_letters(chance)}={chance.random():.3f}"
    ),
    "bars": lambda chance: (
        f"{_letters(chance)}: 10%|#         | {chance.randrange(99)}/99 [00:01<00:09, 9.{chance.randrange(99)}it/s]"
    ),
}


def chunks(kind: str, count: int, seed: int = 0, size: int = ordinary.CHUNK) -> Iterator[LogChunk]:
    """Yield `count` chunks of lines of `kind`; a long line comes in pieces, two a chunk."""
    chance, make = random.Random(f"{kind}{seed}"), KINDS[kind]
    if "10 MB" in kind:
        size = 2
    for number in range(count):
        cut = range(size) if "10 MB" in kind else ()
        first = number * size + 1
        yield LogChunk(
            job=kind, producer=kind, seq=number, lines=[make(chance) for _ in range(size)], time=1e6 + number * size / PACE,
            first_line=1 if cut else first, first_piece=first, cut=list(cut),
        )  # fmt: skip


def turned(kind: str, count: int) -> Iterator[LogChunk]:
    """Yield `count` chunks of `kind` as `chunks` makes them, but quickly: a few lines, turned at another place each time."""
    pool = list(chunks(kind, POOL))
    for number in range(count):
        made, turn = pool[number % POOL], number // POOL
        size = len(made.lines)
        first = number * size + 1
        yield msgspec.structs.replace(
            made,
            seq=number,
            lines=[line[turn % (len(line) or 1) :] + line[: turn % (len(line) or 1)] for line in made.lines],
            time=1e6 + first / PACE,
            first_line=1 if made.cut else first,
            first_piece=first,
        )


def follow(processor: JobProcessor, made: Iterable[LogChunk], state: JobState) -> Speed:
    """Process chunks; return how fast that was."""
    held = list(made)
    began = time.process_time()
    for offset, chunk in enumerate(held):
        processor.process(state, Position("job-logs", 0, offset), chunk)
    took = time.process_time() - began
    return Speed(sum(len(each.lines) for each in held) / took, sum(len(x) for each in held for x in each.lines) / took)


def measure(size: int = 40, longer: int = 3) -> list[tuple[str, str]]:
    """Return (what, figure) rows; each kind is a job of its own, in its first 4,000 lines, and in 60,000 when its budget is spent.

    Ordinary text runs before each kind, so that both meet the same host.
    """
    gc.collect()  # what other benchmarks left is not looked through while this one's clock runs
    gc.freeze()
    processor = job_processor(Settings().processors)
    rows = [("memory before the first line", f"{resident_mb():.0f} MB")]
    usual = list(ordinary.chunks("ordinary", size))
    cold, found, beside = follow(processor, usual, JobState(job="ordinary")), {}, []
    for kind in KINDS:
        beside.append(follow(processor, usual, JobState(job="ordinary")))
        state, made = JobState(job=kind), chunks(kind, 8 + longer * size)
        first = follow(processor, islice(made, 8), state)
        state.budget.tokens = [0.0] * len(state.budget.tokens)
        found[kind] = first, follow(processor, made, state)
    warm = Speed(*map(statistics.median, zip(*beside, strict=True)))
    rows += [("ordinary text, cold", cold.shown), ("ordinary text, warm", warm.shown)]
    for kind, (first, later) in found.items():
        shown = [
            f"{speed.shown} ({'' if speed.at_least(warm, SHARE) else 'less than '}a third)" for speed in (later, first)
        ]
        rows.append((kind, f"{shown[0]}; at first {shown[1]}"))
    for number, name in ((0, "at first"), (1, "beyond the budget")):
        enough = sum(each[number].at_least(warm, SHARE) for each in found.values())
        rows.append((f"kinds of {len(found)} that reach a third of ordinary text, {name}", str(enough)))
    return [*rows, ("memory after the last", f"{resident_mb():.0f} MB")]


def endure(lines: int) -> Iterator[str]:
    """Process so many hostile lines of all kinds by turns, a job each; say every `EVERY` of them how fast, and in how much memory."""
    processor, offsets = job_processor(Settings().processors), count()
    made = {kind: turned(kind, lines) for kind in KINDS}
    states = {kind: JobState(job=kind) for kind in KINDS}
    done, size, took, since, events = 0, 0, 0.0, 0, 0
    while done < lines:
        for kind, each in made.items():
            chunk = next(each)
            began = time.process_time()
            results = processor.process(states[kind], Position("job-logs", 0, next(offsets)), chunk)
            took += time.process_time() - began
            done, size = done + len(chunk.lines), size + sum(map(len, chunk.lines))
            events += len(results)
        if done - since >= EVERY or done >= lines:
            since, metrics = done, processor.reader.metrics
            read, passed_over = total(metrics.lines), total(metrics.passed_over)
            yield (
                f"{done:,} lines, {size / 1e6:,.0f} MB: {Speed(done / took, size / took).shown}; {read - passed_over:,} read, "
                f"{passed_over:,} passed over, {done - read:,} lost; {events} records; {resident_mb():.0f} MB of memory"
            )


def total(counter: Counter) -> int:
    """Return what a counter says."""
    (family,) = counter.collect()
    return int(sum(sample.value for sample in family.samples if sample.name.endswith("_total")))


def main() -> None:
    for said in endure(int(sys.argv[1]) if len(sys.argv) > 1 else EVERY):
        print(said, flush=True)


if __name__ == "__main__":
    main()
