"""One entry of the signature catalogue, and what makes it valid."""

import re
from typing import Any

import msgspec
import re2

from schedmate_records import Component, ErrorType, Severity, UserError

from ..drivers import read_event
from ..kinds import Kind

_DIGITS = str.maketrans("123456789", "000000000")


class InvalidSignature(UserError, ValueError):
    """A catalogue entry that cannot be used; the message names the entry, what was expected and what came."""


def masked(text: str) -> str:
    """Return `text` with every ASCII digit replaced by 0: the template that signatures are matched against."""
    return text.translate(_DIGITS)


class Signature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    r"""Meaning of a kind of line.

    Attributes:
        name: The cause, in snake case; what counts as one root cause.
        pattern: RE2, searched in the line with all digits replaced by 0. Write `\d` for a digit.
        numbers: Where not empty: the pattern's first group, read from the unmasked line, must be one of these.
        driver_event: True where the table of driver events (`diagnose.drivers`) selects the entry, by what the line states of its Xid.
        kind: Place in the graph of causes and consequences (`diagnose.kinds`).
        error_type: Whose fault it is.
        component: What is faulty; `none` unless infrastructure.
        restartable: Would the unchanged job plausibly succeed if started again? Absent: not known.
        confidence: 0 to 1, of the whole verdict.
        severity: How bad a finding of a node is that rests on such a line; absent: follows from the confidence.
        drain: True where such a line in a node's log, when it is fatal, may lead to a drain; driver events have a table of their own.
        repeats: Number of such lines from which they are one level worse; 0: they stay what they are.
        within_s: Time in which they count, in seconds.
        action: What an operator should do.
        source: The document that the message is described in.
        example: A line that matches.
        counter: A line that looks similar and must not match.
    """

    name: str
    pattern: str
    numbers: list[int] = []
    driver_event: bool = False
    kind: str
    error_type: ErrorType
    component: Component = Component.NONE
    restartable: bool | None = None
    confidence: float
    severity: Severity | None = None
    drain: bool = False
    repeats: int = 0
    within_s: float = 0.0
    action: str
    source: str
    example: str
    counter: str

    def matches(self, line: str) -> bool:
        """Return whether `line`, unmasked, is one of these. Slow: for tests."""
        return bool(re2.search(self.pattern, masked(line))) and self.selects(line)

    def selects(self, line: str) -> bool:
        """Return whether what `line` states agrees with the entry; the pattern is known to match its template."""
        if self.driver_event:
            event = read_event(line)
            return event is not None and event[1].signature == self.name
        return not self.numbers or self._numbered(line)

    def _numbered(self, line: str) -> bool:
        found = re2.search(self.pattern, line.encode("utf-8", "replace").decode())
        number = found.group(1) if found else None
        return bool(number and number.isdecimal() and int(number) in self.numbers)


_REQUIRED, _OPTIONAL = (
    [field.name for field in msgspec.structs.fields(Signature) if field.required is needed] for needed in (True, False)
)


def checked(raw: dict[str, Any], where: str) -> Signature:
    """Return `raw` as a `Signature`.

    Raises:
        InvalidSignature: With the file, the entry and the reason.
    """
    label = f"{where}: signature {raw.get('name', '(without a name)')!r}"
    for field, among in (("error_type", ErrorType), ("component", Component), ("severity", Severity)):
        if field in raw and raw[field] not in list(among):
            raise InvalidSignature(f"{label}: expected `{field}` among {', '.join(among)}, got {raw[field]!r}")
    wrong = {
        "lacks": [field for field in _REQUIRED if field not in raw],
        "has": [field for field in raw if field not in (*_REQUIRED, *_OPTIONAL)],
    }
    if any(wrong.values()):
        found = " and ".join(f"{verb} {', '.join(fields)}" for verb, fields in wrong.items() if fields)
        fields = f"{', '.join(_REQUIRED)}, and where they apply {', '.join(_OPTIONAL)}"
        raise InvalidSignature(f"{label} {found}; expected the fields {fields}")
    try:
        entry = msgspec.convert(raw, Signature)
    except msgspec.ValidationError as error:
        raise InvalidSignature(f"{label}: {error}") from error
    problem = _problem(entry)
    if problem:
        raise InvalidSignature(f"{label}: {problem}")
    return entry


def _problem(entry: Signature) -> str:
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(entry.pattern, options)
    except re2.error as error:
        return f"expected an RE2 pattern, got {entry.pattern!r}: {_words(error)}"
    bare = re.sub(r"\\.|\[[^\]]*\]|\{\d++,?\d*+\}", "", entry.pattern)
    infrastructure = entry.error_type is ErrorType.INFRASTRUCTURE
    reasons = {
        f"expected a name in snake case, got {entry.name!r}": not re.fullmatch(r"[a-z][a-z0-9_]*", entry.name),
        f"expected a kind among {', '.join(Kind)}, got {entry.kind!r}": entry.kind not in list(Kind),
        f"expected a confidence above 0 and at most 1, got {entry.confidence}": not 0 < entry.confidence <= 1,
        "an infrastructure failure needs the component that is faulty": infrastructure
        and entry.component is Component.NONE,
        f"only an infrastructure failure has a faulty component, got {entry.component.value!r}": not infrastructure
        and entry.component is not Component.NONE,
        "`numbers` needs a pattern whose first group is the number": bool(entry.numbers) and compiled.groups < 1,
        rf"the pattern holds a digit other than 0, which no template has: write \d, and `numbers` ({bare})": bool(
            re.search("[1-9]", bare)
        ),
        "only a fatal entry can have `drain`": entry.drain and entry.severity not in {None, Severity.FATAL},
        "`repeats` needs `within_s` above 0": entry.repeats > 0 and not entry.within_s > 0,
        f"an entry of the kind {Kind.WARNING} needs the severity warning": entry.kind == Kind.WARNING
        and entry.severity is not Severity.WARNING,
        "the pattern matches an empty line": bool(compiled.search("")),
    }
    reason = next((reason for reason, wrong in reasons.items() if wrong), "")
    if not reason and not entry.matches(entry.example):
        reason = rf"the pattern does not match `example`; it is searched in {masked(entry.example)!r}: write \d for each digit"
    if not reason and entry.matches(entry.counter):
        reason = f"the pattern matches `counter`, {entry.counter!r}, which it must not: narrow it"
    return reason


def _words(error: re2.error) -> str:
    """Return the message of RE2, which comes as bytes."""
    message = error.args[0] if error.args else ""
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(error)
