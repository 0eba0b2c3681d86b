"""What a case is: a small program, how it is run, and the truth that its construction fixes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TRACEBACK = r"Traceback \(most recent call last\)"

MADE, INJECTED, WRITTEN = "made", "injected", "written"
"""`made`: a real program failed for the real cause. `injected`: a real program met an error number that a shim gave to its system call.
`written`: real progress, then lines written from a vendor's documented formats, because the cause needs hardware."""


class UnexpectedEnd(Exception):
    """A case that did not end as it must; the message says how it ended."""


@dataclass(frozen=True)
class Truth:
    """What is known by construction. Words as in `records.ErrorType` and `records.Component`.

    Attributes:
        error_type: Whose fault.
        component: What failed; `none` unless infrastructure.
        restartable: Whether the unchanged job would plausibly succeed if started again; null where that is disputable.
        root: Pattern of the line that names the cause; the first match counts.
        why: The cause in words.
        begin: Pattern of the first accepted line: the last match at or before the root. Empty: the root itself.
        end: Pattern of the last accepted line: the first match at or after the root. Empty: the root itself.
        also_types: Error types that a fair judge accepts, too.
        also_components: Components likewise.
        repeated: Every match of `root` is accepted (all ranks fail in the same way), each with its own block.
    """

    error_type: str
    component: str
    restartable: bool | None
    root: str
    why: str
    begin: str = ""
    end: str = ""
    also_types: tuple[str, ...] = ()
    also_components: tuple[str, ...] = ()
    repeated: bool = False


@dataclass(frozen=True)
class Case:
    """A failure, or a healthy look-alike, that can be made again.

    Attributes:
        name: Unique within its family (the module it stands in).
        run: A shell script, as a batch job has one, run in an empty directory that holds `files` and the shared programs.
        truth: Null for a run that does not fail.
        files: Name to text, put into the directory.
        environment: `plain` (any Python), `torch` (the frameworks), `cuda` (PyTorch and a GPU) or `slurm` (a cluster on loopback).
        style: Style of the progress lines, which names the prelude of the long form.
        origin: `made`, `injected` or `written`.
        source: Where a written message's format is documented.
        seconds: Time limit.
        needs: Commands that must be on PATH.
    """

    name: str
    run: str
    truth: Truth | None
    files: Mapping[str, str] = field(default_factory=dict)
    environment: str = "plain"
    style: str = "plain"
    origin: str = MADE
    source: str = ""
    seconds: float = 60
    needs: tuple[str, ...] = ()


def user_script(root: str, why: str, **more: Any) -> Truth:
    """Return the truth of a fault in the job's own code, data, configuration or arguments."""
    fixed: dict[str, Any] = {"restartable": False, "root": root, "why": why}
    return Truth("user_script", "none", **fixed | more)


def framework(root: str, why: str, **more: Any) -> Truth:
    """Return the truth of a fault inside a framework or between versions of libraries."""
    fixed: dict[str, Any] = {"restartable": False, "root": root, "why": why}
    return Truth("framework", "none", **fixed | more)


def infrastructure(component: str, root: str, why: str, *, restartable: bool | None, **more: Any) -> Truth:
    """Return the truth of a fault of hardware, node, network, storage or driver."""
    return Truth("infrastructure", component, restartable, root, why, **more)


def other(root: str, why: str, **more: Any) -> Truth:
    """Return the truth of an end that the scheduler or a person chose."""
    fixed: dict[str, Any] = {"restartable": True, "root": root, "why": why}
    return Truth("other", "none", **fixed | more)


def raised(message: str) -> dict[str, str]:
    """Return `root` and `begin` for an exception's traceback whose last line matches `message`."""
    return {"root": message, "begin": TRACEBACK}
