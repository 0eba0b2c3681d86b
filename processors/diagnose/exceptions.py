"""Cause of a failure from a Python exception: by its class, its module, then by the code that raised it.

`exceptions.toml` lists classes and modules.
"""

import re
from importlib import resources
from typing import Any

import msgspec

from schedmate_records import Component, ErrorType

from .kinds import Classification, Kind
from .traceback import Raised, package_of


class _Meaning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kind: Kind
    error_type: ErrorType
    component: Component = Component.NONE
    restartable: bool | None = None


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    meaning: str
    confidence: float
    names: list[str]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    meanings: dict[str, _Meaning]
    classes: list[_Row]
    modules: list[_Row]
    sets: dict[str, frozenset[str]]

    def classification(self, name: str, confidence: float, **changes: Any) -> Classification:
        """Return the meaning `name`, with `changes`."""
        one = self.meanings[name]
        return Classification(one.kind, one.error_type, one.component, one.restartable, confidence)._replace(**changes)


_table = msgspec.toml.decode(resources.files(__package__).joinpath("exceptions.toml").read_bytes(), type=_Table)
_by_class = {name: _table.classification(row.meaning, row.confidence) for row in _table.classes for name in row.names}
_by_module = {name: _table.classification(row.meaning, row.confidence) for row in _table.modules for name in row.names}

_PATTERNS = {
    "connection": re.compile(r"[/\\](?:socket|ssl|http[/\\]client|ftplib|smtplib|urllib[/\\]request)\.py$"),
    "file_operation": re.compile(
        r"\b(?:open|read|readinto|readlines?|write|flush|seek|close|load|save|stat|fsync|rename|listdir|mkdir)\("
    ),
    "argument": re.compile(r"unexpected keyword argument '(\w+)'"),
    "part": re.compile(r"(?:No module named|^module) '([\w.]+)'"),
    "mismatch": re.compile(r"positional argument|unexpected keyword argument|takes no arguments|no attribute"),
}
"""Files of Python that connect to services; operations on files; what a message names; a call that does not fit what is called."""


def classify_exception(raised: Raised) -> Classification:
    """Return what `raised` means. Without better knowledge it is the program's own error, as most are."""
    name = raised.name.rsplit(".", 1)[-1]
    module = next((known for prefix, known in _by_module.items() if raised.name.startswith(prefix)), None)
    found = _by_class.get(name) or module or _by_system_error(raised, name) or _by_origin(raised, name)
    if raised.is_side and found.kind == Kind.EXCEPTION:
        return found._replace(kind=Kind.THREAD if raised.place.remark == "thread" else Kind.CHILD, confidence=0.3)
    if not raised.complete:
        kind = found.kind if raised.name else Kind.VAGUE
        return found._replace(kind=kind, confidence=round(found.confidence * 0.6, 2))
    if found.kind != Kind.EXCEPTION:
        return found
    if name in {"Exception", "RuntimeError"} and not raised.message:  # the lines below state the error
        return found._replace(kind=Kind.VAGUE)
    return found._replace(kind=Kind.BUG) if raised.name in _table.sets["bugs"] else found


def is_file_error(raised: Raised) -> bool:
    """Return whether the operating system refused an operation on a file: the file system fails then, however remote."""
    operation = _PATTERNS["file_operation"].search(raised.place.code) or raised.message.endswith(("'", '"'))
    return raised.message.startswith("[Errno") and bool(operation)


def _by_system_error(raised: Raised, name: str) -> Classification | None:
    """Return what an error of the operating system means by where it was raised: no answer of a service, too many processes."""
    inner = raised.place.last
    if name == "TimeoutError" and (
        _PATTERNS["connection"].search(inner) or package_of(inner) in _table.sets["clients"]
    ):
        return _table.classification("remote", 0.5)
    if name in {"BlockingIOError", "OSError"} and "[Errno 11]" in raised.message and "fork" in raised.place.code:
        return _table.classification("host_memory", 0.65)
    return None


def _by_origin(raised: Raised, name: str) -> Classification:
    inner, outer = package_of(raised.place.last), package_of(raised.place.caller)
    if name in {"ImportError", "ModuleNotFoundError"}:
        missing = _find("part", raised.message)
        broken = "cannot import name" in raised.message or "." in missing
        if "-packages" in raised.message and "cannot import name" in raised.message:
            return _table.classification("framework", 0.7)  # the installed version lacks the name
        if inner and (broken or missing.replace("_", "-") == inner.replace("_", "-")):
            return _table.classification("framework", 0.7)
        return _table.classification("user", 0.8)
    if raised.place.importing and inner:
        return _table.classification("framework", 0.7)
    if inner not in {"", "python"} and name in {"TypeError", "AttributeError"} and _is_wrong_call(raised, inner, outer):
        return _table.classification("framework", 0.55)
    return _table.classification("user", 0.75 if raised.name else 0.6)


def _is_wrong_call(raised: Raised, inner: str, outer: str) -> bool:
    """Return whether the library `inner` called another one in a way that does not fit it."""
    argument, part = _find("argument", raised.message), _find("part", raised.message)
    if (argument and f"{argument}=" in raised.place.code) or (part and part.partition(".")[0] != inner):
        return True  # the error is in the library's own source line, not in its arguments
    return _PATTERNS["mismatch"].search(raised.message) is not None and outer not in {"", "python", inner}


def _find(pattern: str, message: str) -> str:
    found = _PATTERNS[pattern].search(message)
    return found[1] if found else ""
