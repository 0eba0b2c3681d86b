"""Proposes a signature from a person's feedback about a failure, with how often it would have matched."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import re2

from processors.diagnose.catalogue.entry import Signature, checked, masked
from processors.grammar.prefix import clean, strip_prefix
from schedmate_records import Component, ErrorType, Feedback, LogChunk, UserError, counted

KINDS = {
    Component.GPU: "device",
    Component.NVLINK: "fabric",
    Component.NETWORK: "fabric",
    Component.NODE: "node",
    Component.STORAGE: "storage",
}
LETTERS = 8
"""Letters that a pattern needs at least: less of a line would be found everywhere."""
READ = 2000
"""Characters of a line that are looked at."""
_VARIABLE = re.compile(r"0x[0-9a-fA-F]+|/[\w./@+-]+|\d+")
"""Parts that differ between lines of one kind: addresses, paths, numbers."""


class NoProposal(UserError):
    """No signature can be made of a line; the message states why."""


@dataclass
class Fired:
    """Number of jobs with lines that a pattern matches, by how they ended; `unknown` without a reported end."""

    lines: int = 0
    read: int = 0
    failed: set[str] = field(default_factory=set)
    well: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    against: list[str] = field(default_factory=list)
    """Lines of jobs that ended well in which it would have fired."""

    @property
    def confidence(self) -> float:
        """The share of failed jobs among those in which it fired, with one of each added for what was not seen; 0.9 at most."""
        return round(min(0.9, (len(self.failed) + 1) / (len(self.failed) + len(self.well) + 2)), 2)


def pattern_of(line: str) -> str:
    r"""Return an RE2 pattern of the lines like `line`: its message, with `\d+` for numbers, and patterns for paths and addresses.

    Raises:
        NoProposal: Too little of the line does not vary.
    """
    text = strip_prefix(clean(line[:READ])).text.strip()
    parts, fixed, at = [], [], 0
    for found in _VARIABLE.finditer(text):
        fixed.append(text[at : found.start()])
        parts += [re.escape(fixed[-1]), _general(found[0])]
        at = found.end()
    fixed.append(text[at:])
    parts.append(re.escape(fixed[-1]))
    if sum(map(str.isalpha, "".join(fixed))) < LETTERS:
        raise NoProposal(
            f"expected a line with {LETTERS} letters at least besides numbers and paths, got {line[:80]!r}"
        )
    return "".join(parts)


def fire(pattern: str, history: Iterable[LogChunk], ended_well: Mapping[str, bool]) -> Fired:
    """Return how often `pattern` would have fired in `history`. `ended_well`: whether a job did, where that is known."""
    compiled, fired = re2.compile(pattern), Fired()
    for chunk in history:
        for line in chunk.lines:
            fired.read += 1
            if not compiled.search(masked(line[:READ])):
                continue
            fired.lines += 1
            well = ended_well.get(chunk.job)
            {True: fired.well, False: fired.failed, None: fired.unknown}[well].add(chunk.job)
            # Lines of jobs that ended well, shown where a rule would match them. More give more evidence, but a longer text to
            # read.
            if well and len(fired.against) < 3:
                fired.against.append(line[:READ])
    return fired


def propose(said: Feedback, fired: Fired) -> Signature:
    """Return the signature of a person's feedback. Raises `NoProposal`, or `InvalidSignature` if the catalogue would reject it."""
    line = said.line[:READ]
    infrastructure = said.error_type is ErrorType.INFRASTRUCTURE
    raw = {
        "name": re.sub(r"[^a-z0-9]+", "_", said.cause.lower()).strip("_") or "unnamed",
        "pattern": pattern_of(line),
        "kind": KINDS.get(said.component, "vague") if infrastructure else "exception",
        "error_type": said.error_type.value,
        "component": said.component.value if infrastructure else Component.NONE.value,
        "confidence": fired.confidence,
        "action": said.comment or "State here what an operator should do.",
        "source": f"{said.user}, on attempt {said.attempt} of job {said.job}",
        "example": line,
        "counter": "Give a line here that looks alike and must not match.",
    }
    return checked(raw, "proposal")


def as_toml(one: Signature, fired: Fired) -> Iterator[str]:
    """Yield the lines of a catalogue file with the proposal, and the matches for and against it as comments."""
    yield (
        f"# It would have fired in {fired.lines} of {counted(fired.read, 'line')}: in {counted(len(fired.failed), 'job')} that failed, "
        f"{len(fired.well)} that ended well, {len(fired.unknown)} whose end is not known."
    )
    for line in fired.against:
        yield f"# Against it, from a job that ended well: {json.dumps(line)}"
    yield "[[signature]]"
    fields = (
        "name",
        "pattern",
        "kind",
        "error_type",
        "component",
        "confidence",
        "action",
        "source",
        "example",
        "counter",
    )
    for name in fields:
        value = getattr(one, name)
        yield f"{name} = {value if isinstance(value, float) else json.dumps(str(value))}"
    yield "# restartable = true   # would the unchanged job succeed if started again? Leave it out where not known"


def _general(text: str) -> str:
    if text.startswith("0x"):
        return r"0x[\da-fA-F]+"
    return r"/[\w./@+-]+" if text.startswith("/") else r"\d+"
