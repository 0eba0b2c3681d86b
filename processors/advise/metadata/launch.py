"""From the command of a job to the Python program that it starts.

Schedulers, launchers and wrappers are not known by name. The program is the first word behind them that names one in the tree.
"""

import itertools
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..source_tree import SourceTree
from .shell import ShellCommand, commands

DEEPEST = 6
"""Number of scripts that may start one another."""
MOST_COMMANDS = 200
"""Maximum number of commands read from one command line or script. A limit against scripts that expand without end."""
MOST_PROGRAMS = 3
"""Maximum number of programs of one job that are followed. More find programs started later, but share the same time."""
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*")
_SCRIPTS = (".sh", ".bash", ".sbatch", ".slurm", ".job", ".pbs")
_ENTRY_POINT = re.compile(r"""["'\s]([\w.-]+)["']?\s*=\s*["']?([\w.]+):(\w+)""")
"""A command that a tree installs: `train = "pkg.main:run"`."""


@dataclass(frozen=True, slots=True)
class Program:
    """A Python program that the job starts.

    Attributes:
        file: File, relative to the tree; empty for `code`, and for an installed command that is not in the tree.
        argv: Words of the command line, the program's own name first.
        directory: Working directory, relative to the tree.
        environment: Variables that the script sets.
        module: Whether it was started as a module (`python -m`).
        code: Source on the command line (`python -c`).
    """

    file: str
    argv: list[str]
    directory: str
    environment: dict[str, str]
    module: bool = False
    code: str = ""


def programs(tree: SourceTree, directory: str, command: str, environment: dict[str, str]) -> list[Program]:
    """Return the programs that a command starts, in their order; the command itself if none of them is in the tree."""
    started = list(itertools.islice(commands(command, directory, environment, []), MOST_COMMANDS))
    found = itertools.islice((each for one in started for each in _programs(tree, one, 0)), MOST_PROGRAMS)
    return list(found) or [Program("", *each) for each in started[-1:]]


def _programs(tree: SourceTree, command: ShellCommand, depth: int) -> Iterator[Program]:
    words, directory, environment = command
    for place, word in enumerate(words if depth < DEEPEST else []):
        rest, name = words[place:], tree.relative(word, directory)
        following = rest[1] if len(rest) > 1 else ""
        script = tree.read(name) if word.endswith(_SCRIPTS) else None
        text = word.partition("=")[2] or following if word in {"-c", "-lc"} or word.startswith("--wrap") else script
        if word == "-c" and any(_PYTHON.fullmatch(posixpath.basename(each)) for each in words[:place]):
            yield Program("", ["-c", *rest[2:]], directory, environment, code=following)
        elif text is not None and place + (text is script):
            inner = commands(text, directory, environment, rest[1:] if text is script else rest[2:], word)
            for each in itertools.islice(inner, MOST_COMMANDS):
                yield from _programs(tree, each, depth + 1)
        elif word in {"-m", "--module"} and (file := _module(tree, directory, following)):
            yield Program(file, rest[1:], directory, environment, module=True)
        elif word.endswith(".py") and name is not None and tree.is_file(name):
            yield Program(name, rest, directory, environment)
        else:
            variable, equals, value = word.partition("=")  # `env NAME=VALUE python …`
            environment |= {variable: value} if equals and variable.isidentifier() else {}
            continue
        return
    if words and (code := _entry_point(tree, posixpath.basename(words[0]))):
        yield Program("", words, directory, environment, code=code)


def _module(tree: SourceTree, directory: str, name: str) -> str | None:
    """Return the file of a module of the tree; null if there is none."""
    path = name.replace(".", "/")
    files = (
        tree.relative(f"{path}{ending}", base) for base in (directory, ".", "src") for ending in (".py", "/__main__.py")
    )
    return next((each for each in files if each is not None and tree.is_file(each)), None)


def _entry_point(tree: SourceTree, name: str) -> str:
    """Return a program that does what a command does which the tree installs; empty if it installs none of this name."""
    texts = (tree.read(file) or "" for file in ("pyproject.toml", "setup.cfg", "setup.py"))
    found = next((match for text in texts for match in _ENTRY_POINT.finditer(text) if match[1] == name), None)
    return f"from {found[2]} import {found[3]}\n{found[3]}()" if found else ""
