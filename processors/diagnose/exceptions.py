"""What a Python exception says about whose fault a failure is: by its class, its module, then by whose code raised it."""

import re
from typing import NamedTuple

from schedmate_records import Component, ErrorType

from . import kinds
from .traceback import Raised, package


class ExceptionMeaning(NamedTuple):
    """Kind and classification of an event, as in a catalogue entry."""

    kind: str
    error_type: ErrorType
    component: Component
    restartable: bool | None
    confidence: float


def _user(confidence: float) -> ExceptionMeaning:
    return ExceptionMeaning(kinds.EXCEPTION, ErrorType.USER_SCRIPT, Component.NONE, False, confidence)


def _framework(confidence: float, *, restartable: bool = False) -> ExceptionMeaning:
    return ExceptionMeaning(kinds.EXCEPTION, ErrorType.FRAMEWORK, Component.NONE, restartable, confidence)


_BY_CLASS: dict[str, ExceptionMeaning] = {
    "KeyboardInterrupt": ExceptionMeaning(kinds.SCHEDULE, ErrorType.OTHER, Component.NONE, True, 0.9),
    "SystemExit": ExceptionMeaning(kinds.HINT, ErrorType.UNKNOWN, Component.NONE, None, 0.2),
    "CancelledError": ExceptionMeaning(kinds.CHILD, ErrorType.OTHER, Component.NONE, True, 0.3),
    "MemoryError": ExceptionMeaning(kinds.NODE, ErrorType.INFRASTRUCTURE, Component.NODE, False, 0.7),
    "FileNotFoundError": _user(0.85),
    "PermissionError": _user(0.75),
    "IsADirectoryError": _user(0.85),
    "NotADirectoryError": _user(0.85),
    "MissingSchema": _user(0.85),
    "InvalidSchema": _user(0.85),
    "InvalidURL": _user(0.85),
    "FileExistsError": _framework(0.45, restartable=True),
    "Empty": ExceptionMeaning(kinds.STARVED, ErrorType.USER_SCRIPT, Component.NONE, False, 0.5),
    "Full": ExceptionMeaning(kinds.STARVED, ErrorType.USER_SCRIPT, Component.NONE, False, 0.5),
    "BrokenBarrierError": ExceptionMeaning(kinds.STARVED, ErrorType.USER_SCRIPT, Component.NONE, False, 0.5),
    "BdbQuit": ExceptionMeaning(kinds.SCHEDULE, ErrorType.OTHER, Component.NONE, None, 0.5),
    "NameError": _user(0.95),
    "UnboundLocalError": _user(0.9),
    "SyntaxError": _user(0.95),
    "IndentationError": _user(0.95),
    "AssertionError": _user(0.75),
    "ZeroDivisionError": _user(0.9),
}

_BUGS = frozenset({
    "ArithmeticError", "AssertionError", "AttributeError", "ImportError", "IndentationError", "IndexError", "IsADirectoryError", "KeyError",
    "ModuleNotFoundError", "NameError", "NotADirectoryError", "NotImplementedError", "FileNotFoundError", "PermissionError",
    "RecursionError", "SyntaxError", "TypeError", "UnboundLocalError", "ValueError", "ZeroDivisionError",
})  # fmt: skip
"""Classes of Python's own that no lost peer, time-out or signal makes."""

_GENERAL = frozenset({"Exception", "RuntimeError"})
"""Classes that tell nothing without a message: what follows does, a compiler's own words under the source that it was given."""

_REMOTE = ExceptionMeaning(kinds.SERVICE, ErrorType.INFRASTRUCTURE, Component.NETWORK, True, 0.5)
_PEER = ExceptionMeaning(kinds.PEER, ErrorType.INFRASTRUCTURE, Component.NETWORK, True, 0.4)

_BY_MODULE: tuple[tuple[tuple[str, ...], ExceptionMeaning], ...] = (
    (("requests.exceptions.", "urllib3.exceptions.", "httpx.", "httpcore.", "aiohttp.client_exceptions.", "http.client."), _REMOTE),
    (("urllib.error.", "socket.gaierror", "socket.timeout", "ssl.", "ftplib.", "smtplib."), _REMOTE),
    (("redis.exceptions.", "pymongo.errors.", "psycopg", "kafka.errors.", "grpc.", "zmq.error.", "etcd3."), _REMOTE),
    (("torch.distributed.", "c10d.", "horovod.", "mpi4py.MPI."), _PEER),
    (("yaml.", "omegaconf.", "hydra.", "pydantic", "jsonschema.", "configparser.", "tomllib.", "json.decoder."), _user(0.85)),
    (("argparse.", "click.", "absl.flags.", "typer.", "getopt."), _user(0.85)),
    (("numpy.", "scipy.", "pandas.", "pyarrow.", "polars.", "sklearn.", "PIL.", "cv2.", "h5py.", "zarr."), _user(0.75)),
    (("jax.errors.", "tensorflow.python.framework.errors_impl.", "keras.", "einops."), _user(0.75)),
    (("torch._dynamo.", "torch._inductor.", "triton.", "jaxlib."), _framework(0.65)),
    (("pkg_resources.", "importlib.metadata.", "packaging."), _framework(0.7)),
)  # fmt: skip
"""By the module that an exception's class belongs to, as printed; the longest-known libraries only."""

_CONNECTION = re.compile(r"[/\\](?:socket|ssl|http[/\\]client|ftplib|smtplib|urllib[/\\]request)\.py$")
"""Files of Python's own that talk to remote services."""
_CLIENTS = frozenset(
    {
        "urllib3",
        "requests",
        "httpx",
        "httpcore",
        "aiohttp",
        "huggingface_hub",
        "botocore",
        "fsspec",
        "gcsfs",
        "s3fs",
        "anyio",
    }
)
"""Packages that talk to remote services."""
_ON_FILES = re.compile(
    r"\b(?:open|read|readinto|readlines?|write|flush|seek|close|load|save|stat|fsync|rename|listdir|mkdir)\("
)
_NAMED_ARGUMENT = re.compile(r"unexpected keyword argument '(\w+)'")
_NAMED_PART = re.compile(r"(?:No module named|^module) '([\w.]+)'")
_SIGNATURE_MISMATCH = ("positional argument", "unexpected keyword argument", "takes no arguments", "no attribute")


def meaning(raised: Raised) -> ExceptionMeaning:
    """Return what `raised` says. Without better knowledge it is the program's own: that is what most tracebacks are."""
    name = raised.name.rsplit(".", 1)[-1]
    found = _BY_CLASS.get(name) or _by_module(raised.name) or _by_place(raised, name) or _by_origin(raised, name)
    if raised.side and found.kind == kinds.EXCEPTION:
        return found._replace(kind=kinds.THREAD if raised.thread else kinds.CHILD, confidence=0.3)
    if not raised.complete:
        kind = found.kind if raised.name else kinds.VAGUE
        return found._replace(kind=kind, confidence=round(found.confidence * 0.6, 2))
    if found.kind == kinds.EXCEPTION and name in _GENERAL and not raised.message:
        return found._replace(kind=kinds.VAGUE)
    return found._replace(kind=kinds.BUG) if found.kind == kinds.EXCEPTION and raised.name in _BUGS else found


def _by_module(name: str) -> ExceptionMeaning | None:
    return next((found for modules, found in _BY_MODULE if name.startswith(modules)), None)


def on_file(raised: Raised) -> bool:
    """Return whether the operating system refused an operation on a file: what fails is then the file system, however remote."""
    return raised.message.startswith("[Errno") and bool(
        _ON_FILES.search(raised.code) or raised.message.endswith(("'", '"'))
    )


def _by_place(raised: Raised, name: str) -> ExceptionMeaning | None:
    """Return what an error of the operating system means where it was raised: a service that is silent, a process too many."""
    if name == "TimeoutError" and (_CONNECTION.search(raised.last) or package(raised.last) in _CLIENTS):
        return _REMOTE
    if name in {"BlockingIOError", "OSError"} and "[Errno 11]" in raised.message and "fork" in raised.code:
        return ExceptionMeaning(kinds.NODE, ErrorType.INFRASTRUCTURE, Component.NODE, None, 0.65)
    return None


def _by_origin(raised: Raised, name: str) -> ExceptionMeaning:
    inner, outer = package(raised.last), package(raised.caller)
    if name in {"ImportError", "ModuleNotFoundError"}:
        missing = _named(_NAMED_PART, raised.message)
        broken = "cannot import name" in raised.message or "." in missing
        if inner and (broken or missing.replace("_", "-") == inner.replace("_", "-")):
            return _framework(0.7)
        return _user(0.8)
    if raised.importing and inner:
        return _framework(0.7)
    if inner not in {"", "python"} and _wrong_call(raised, inner, outer, name):
        return _framework(0.55)
    return _user(0.75 if raised.name else 0.6)


def _wrong_call(raised: Raised, inner: str, outer: str, name: str) -> bool:
    """Return whether the library `inner` called another one as that one cannot be called."""
    if name not in {"TypeError", "AttributeError"}:
        return False
    argument, part = _named(_NAMED_ARGUMENT, raised.message), _named(_NAMED_PART, raised.message)
    if (argument and f"{argument}=" in raised.code) or (part and part.partition(".")[0] != inner):
        return True  # what is wrong stands in the library's own source, not in what it was handed
    mismatch = any(one in raised.message for one in _SIGNATURE_MISMATCH)
    return mismatch and outer not in {"", "python", inner}


def _named(pattern: re.Pattern[str], message: str) -> str:
    found = pattern.search(message)
    return found[1] if found else ""
