"""Paths and files: `os.path`, `pathlib`, `open`; files of the tree are read, others are not."""

import fnmatch
import posixpath
from collections.abc import Mapping
from typing import Any

from .. import operations
from ..values import (
    UNKNOWN,
    Config,
    OpenFile,
    Term,
    Value,
)

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]


def _open(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    path = path_text(arguments[0] if arguments else keywords.get("file", UNKNOWN))
    return OpenFile(path) if isinstance(path, str) else Term("call", "open", (Term("external", "open"), *arguments))


def path_attribute(owner: Term, name: str) -> Value:
    """Return what `pathlib.Path` has under `name`; `UNKNOWN` where that is not known."""
    path = path_text(owner)
    if not isinstance(path, str):
        return UNKNOWN
    if name == "parent":
        return _as_path(owner, posixpath.dirname(path) or ".")
    if name == "parents":
        above = [posixpath.dirname(path) or "."]
        while posixpath.dirname(above[-1]) not in {above[-1], ""} and len(above) < _MOST_PARENTS:
            above.append(posixpath.dirname(above[-1]))
        return [_as_path(owner, each) for each in above]
    last = posixpath.basename(path)
    return {"name": last, "stem": posixpath.splitext(last)[0], "suffix": posixpath.splitext(last)[1]}.get(name, UNKNOWN)


def _as_path(owner: Term, path: str) -> Term:
    return Term("call", "Path", (owner.parts[0], path))


def _same_path(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    return owner if is_path(owner) else NotImplemented


def _text_of_path(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    return path_text(owner) if is_path(owner) else NotImplemented


def _text(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    value = arguments[0] if arguments else ""
    path = path_text(value) if is_path(value) else value
    return path if isinstance(path, str) else operations.convert("str", value)


def path_text(value: Value) -> Value:
    """Return a path as a text where all of it is known."""
    value = operations.settle(value)
    if isinstance(value, Term) and value.kind == "call" and value.name in {"Path", "PurePath"}:
        pieces = [path_text(each) for each in value.parts[1:]]
        return posixpath.join(*pieces) if pieces and all(isinstance(each, str) for each in pieces) else value
    return value


def read_text(program: Program, path: Value) -> str | None:
    """Return the text of a file of the tree that the program names; null where there is none."""
    path = path_text(path)
    if not isinstance(path, str):
        return None
    name = program.tree.relative(path, program.directory)
    return program.tree.read(name) if name is not None else None


def _read(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    path = owner.path if isinstance(owner, OpenFile) else owner if is_path(owner) or isinstance(owner, str) else None
    if path is None:
        return NotImplemented
    text = read_text(program, path)
    return text if text is not None else Term("call", "read", (UNKNOWN, path))


def lines_of(program: Program, file: OpenFile) -> list[Value] | None:
    """Return the lines of a file of the tree; null where it is none, or has more than a configuration has."""
    text = read_text(program, file.path)
    lines = None if text is None else text.splitlines(keepends=True)
    return None if lines is None or len(lines) > _MOST_LINES else list(lines)


def _read_lines(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if not isinstance(owner, OpenFile):
        return NotImplemented
    lines = lines_of(program, owner)
    return Term("call", "readlines", (UNKNOWN, owner)) if lines is None else lines


def is_path(value: Value) -> bool:
    """Whether a value is a `pathlib.Path`."""
    return isinstance(value, Term) and value.kind == "call" and value.name in {"Path", "PurePath"}


def _path_exists(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    return _exists(program, (owner,), {}) if is_path(owner) else NotImplemented


def _open_path(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    """`path.open()`; a text that is asked for it is a path that the command line made one."""
    return _open(program, (owner,), {}) if is_path(owner) or isinstance(owner, str) else NotImplemented


def _join_path(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    found = [path_text(each) for each in arguments]
    if found and all(isinstance(each, str) for each in found):
        return posixpath.join(*found)
    return Term("operation", "join", tuple(found))


def _path_function(name: str) -> Any:
    def call(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
        path = path_text(arguments[0] if arguments else UNKNOWN)
        if not isinstance(path, str):
            return Term("operation", name, (path,))
        if name == "abspath":
            return (
                path
                if path.startswith("/")
                else posixpath.normpath(posixpath.join(program.absolute(program.directory), path))
            )
        return getattr(posixpath, name)(path)

    return call


def _exists(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    path = path_text(arguments[0] if arguments else UNKNOWN)
    if isinstance(path, str):
        name = program.tree.relative(path, program.directory)
        if name is not None and (program.tree.is_file(name) or program.tree.is_directory(name)):
            return True
    return Term("call", "exists", (Term("external", "os.path.exists"), path))


def _entries(program: Program, path: Value) -> list[str] | None:
    """Return the names in a directory of the tree; null where it is none."""
    name = program.tree.relative(path, program.directory) if isinstance(path, str) else None
    if name is None or not program.tree.is_directory(name):
        return None
    found: list[str] = program.tree.entries(name)
    return found


def _listed(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`os.listdir(path)`."""
    path = path_text(arguments[0] if arguments else ".")
    found = _entries(program, path)
    return Term("call", "listdir", (Term("external", "os.listdir"), path)) if found is None else found


def _matched(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`glob.glob(pattern)`: what the tree holds; a term where it holds nothing of it."""
    pattern = path_text(arguments[0] if arguments else UNKNOWN)
    directory, last = posixpath.split(pattern) if isinstance(pattern, str) else ("", "")
    held = [each for each in _entries(program, directory or ".") or [] if fnmatch.fnmatchcase(each, last)]
    found = [posixpath.join(directory, each) for each in held]
    return found or Term("call", "glob", (Term("external", "glob.glob"), pattern))


def _matched_below(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    """`Path.glob(pattern)`, `Path.iterdir()`."""
    directory = path_text(owner) if is_path(owner) else None
    if not isinstance(directory, str):
        return NotImplemented
    pattern = arguments[0] if arguments else "*"
    held = _entries(program, directory) or [] if isinstance(pattern, str) and "/" not in pattern else []
    found = [each for each in held if fnmatch.fnmatchcase(each, pattern)]
    return [_as_path(owner, posixpath.join(directory, each)) for each in found] or NotImplemented


def _submodules(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`pkgutil.iter_modules(paths)`: the name of each module and whether it is a package."""
    paths = arguments[0] if arguments else keywords.get("path", UNKNOWN)
    held = (
        [each for path in paths if (inner := _entries(program, path)) for each in inner]
        if isinstance(paths, list)
        else []
    )
    modules = [each.removesuffix(".py") for each in held if each.endswith(".py") and each != "__init__.py"]
    return [Config(name=each, ispkg=False) for each in modules] or UNKNOWN


def _relative_path(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`os.path.relpath(path)`: another way to write the same path."""
    return path_text(arguments[0]) if arguments else UNKNOWN


def _working_directory(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    return Term("call", "Path", (Term("external", "pathlib.Path"), program.absolute(program.directory)))


def _split_extension(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    path = path_text(arguments[0] if arguments else UNKNOWN)
    return posixpath.splitext(path) if isinstance(path, str) else Term("operation", "splitext", (path,))


def _search(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    """`sys.path.append(…)`, `sys.path.insert(0, …)`: modules are looked for there, too."""
    if not (isinstance(owner, Term) and owner.name == "sys.path"):
        return NotImplemented
    for each in arguments[-1] if isinstance(arguments[-1], list) else arguments[-1:]:
        path = path_text(each)
        name = program.tree.relative(path, program.directory) if isinstance(path, str) else None
        if name is not None and name not in program.modules.search:
            program.modules.search.append(name)
    return None


_MOST_PARENTS = 8
_MOST_LINES = 1_000


EXTERNALS: Mapping[str, Any] = {
    "str": _text,
    "os.fspath": _text,
    "open": _open,
    "os.path.join": _join_path,
    **{f"os.path.{name}": _path_function(name) for name in ("basename", "dirname", "abspath", "normpath")},
    "os.path.expanduser": lambda program, arguments, keywords: arguments[0],
    "os.path.realpath": _path_function("abspath"),
    "os.path.splitext": _split_extension,
    "os.path.exists": _exists,
    "os.path.isfile": _exists,
    "os.path.isdir": _exists,
    "os.path.relpath": _relative_path,
    "os.listdir": _listed,
    "glob.glob": _matched,
    "pkgutil.iter_modules": _submodules,
    "pathlib.Path.cwd": _working_directory,
    "os.getcwd": lambda program, arguments, keywords: program.absolute(program.directory),
}
METHODS: Mapping[str, Any] = {
    "read": _read,
    "read_text": _read,
    "readlines": _read_lines,
    "open": _open_path,
    **dict.fromkeys(("append", "insert", "extend"), _search),
    "as_posix": _text_of_path,
    **dict.fromkeys(("glob", "iterdir"), _matched_below),
    **dict.fromkeys(("resolve", "absolute", "expanduser"), _same_path),
    **dict.fromkeys(("exists", "is_file", "is_dir"), _path_exists),
}

__all__ = ["EXTERNALS", "METHODS", "is_path", "lines_of", "path_attribute", "path_text", "read_text"]
