"""Text that no training prints, of thirty kinds: lines and bytes a second beside ordinary text, and memory: `python -m benchmarks hostile`.

Nearly every line of it is of a template of its own: what costs next to nothing a line elsewhere costs all of it here.
"""

import base64
import json
import random
import string
import time
import uuid
from collections.abc import Callable, Iterator
from itertools import islice

from benchmarks import lines as ordinary
from benchmarks.memory import resident_mb
from processors.job import JobProcessor
from processors.state import JobState
from records import LogChunk, Position
from schedmate.assembly import job_processor
from schedmate.settings import Settings
from streams.producers.pieces import LIMIT

PACE = 100_000
"""Lines a second at which one job prints them."""

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


def follow(processor: JobProcessor, made: Iterator[LogChunk], state: JobState) -> str:
    """Process chunks; return how fast that was."""
    held = list(made)
    lines, size = sum(len(each.lines) for each in held), sum(len(line) for each in held for line in each.lines)
    began = time.process_time()
    for offset, chunk in enumerate(held):
        processor.process(state, Position("job-logs", 0, offset), chunk)
    took = time.process_time() - began
    return f"{lines / took:,.0f} lines/s, {size / took / 1e6:,.1f} MB/s"


def measure(count: int = 40) -> list[tuple[str, str]]:
    """Return (what, figure) rows; each kind is a job of its own, after `count` chunks that spend what a job may spend at once."""
    processor = job_processor(Settings().processors)
    rows = [("memory before the first line", f"{resident_mb():.0f} MB")]
    rows.append(
        ("ordinary text, cold", follow(processor, ordinary.chunks("ordinary", count), JobState(job="ordinary")))
    )
    rows.append(("ordinary text, warm", follow(processor, ordinary.chunks("ordinary", count), JobState(job="again"))))
    for kind in KINDS:
        state = JobState(job=kind)
        made = chunks(kind, 8 + count)
        first = follow(processor, islice(made, 8), state)
        state.budget.tokens = [0.0] * len(state.budget.tokens)
        rows.append((kind, f"{follow(processor, made, state)}; at first {first}"))
    return [*rows, ("memory after the last", f"{resident_mb():.0f} MB")]
