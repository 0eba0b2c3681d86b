"""Shell scripts, read as far as a launch needs: variables, defaults, continuation lines, loops (their first round), `cd`.

Nothing is run. What a substitution `$(…)` would print is unknown and stays empty, but for the directory of a file or of the script.
"""

import posixpath
import re
import shlex
from dataclasses import dataclass, field

from .tree import ROOT, SourceTree

MOST_LINES = 2_000
MOST_COMMANDS = 100
DEEPEST = 6
LONGEST_VALUE = 4_000

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_VARIABLE = re.compile(r"\$(?:\{([^{}]{1,200})\}|([A-Za-z_][A-Za-z0-9_]*|[0-9@*#]))")
_DEFAULTED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*|[0-9@*#])(?::?[-=](.*))?", re.DOTALL)
_REST = re.compile(r"@:([0-9]{1,3})")
_DIRECTORY = re.compile(r"\$\(\s*dirname\s+(?:--\s+)?[\"']?([^()\"'\s]{1,200})[\"']?\s*\)")
_ENTERED = re.compile(r"\$\(\s*cd\s+[\"']?([^()\"'\s]{1,200})[\"']?\s[^()]{0,60}pwd(?:\s+-P)?\s*\)")
_OPERATORS = {"&&", "||", ";", "|", "&", "(", ")", "|&", ";;"}
_KEYWORDS = {"then", "do", "else", "{", "!", "time"}
_PLAIN = {"set", "echo", "mkdir", "rm", "ls", "sleep", "module", "ulimit", "shift", "printf", "cat", "unset"}
_ENDS = {"fi", "done", "esac", "}", "elif", "if", "case", "while", "until", "function"}


@dataclass(slots=True)
class ShellCommand:
    """One command of a script.

    Attributes:
        words: Its words, expanded.
        directory: Working directory, relative to the tree.
        environment: Variables that are set.
    """

    words: list[str]
    directory: str
    environment: dict[str, str]


@dataclass(slots=True)
class _Shell:
    tree: SourceTree
    directory: str
    variables: dict[str, str]
    arguments: list[str] = field(default_factory=list)
    script: str = ""
    found: list[ShellCommand] = field(default_factory=list)


def commands(  # noqa: PLR0917  # a list of cases
    text: str,
    tree: SourceTree,
    directory: str,
    environment: dict[str, str],
    arguments: list[str],
    script: str = "",
) -> list[ShellCommand]:
    """Return the commands of a script in their order.

    Args:
        text: The script.
        tree: Tree that it is part of.
        directory: Working directory, relative to the tree.
        environment: Variables that are known.
        arguments: What `$1`, `$2`, … are.
        script: What `$0` is.
    """
    shell = _Shell(tree, directory, dict(environment), arguments, script)
    lines = _joined_lines(text)[:MOST_LINES]
    skipping = 0
    for line in lines:
        words = _words(_with_directories(shell, line))
        if not words:
            continue
        if words[0] == "else" and skipping == 0:
            skipping = 1  # the first branch of a condition stands for it
            continue
        if skipping:
            skipping += words[0] == "if"
            skipping -= words[0] == "fi"
            continue
        if words[0] == "elif":
            skipping = 1
            continue
        _line(shell, words)
        if len(shell.found) >= MOST_COMMANDS:
            break
    return shell.found


def _joined_lines(text: str) -> list[str]:
    """Return logical lines: continued ones joined, open quotes joined, here-documents left out."""
    found: list[str] = []
    held, ending = "", ""
    for raw in text.splitlines():
        if ending:
            ending = "" if raw.strip() == ending else ending
            continue
        line = raw.rstrip()
        marker = re.search(r"<<-?\s*['\"]?(\w+)['\"]?\s*$", line)
        ending = marker[1] if marker else ""
        if not held and line.lstrip().startswith("#"):
            continue
        if held and line.lstrip().startswith("#"):  # a comment inside a continued command ends nothing for a reader
            continue
        if line.endswith("\\"):
            held += line[:-1] + " "
            continue
        held += line
        if _open_quote(held) and len(held) < 20_000:
            held += "\n"
            continue
        found.append(held.strip())
        held = ""
    return [*found, held.strip()] if held.strip() else found


def _open_quote(line: str) -> bool:
    quote = ""
    escaped = False
    for place, each in enumerate(line):
        if escaped:
            escaped = False
        elif each == "\\" and quote != "'":
            escaped = True
        elif quote:
            quote = "" if each == quote else quote
        elif each in "'\"":
            quote = each
        elif each == "#" and (place == 0 or line[place - 1].isspace()):
            return False
    return bool(quote)


def _with_directories(shell: _Shell, line: str) -> str:
    """Return a line with `$(dirname FILE)` and `$(cd DIRECTORY && pwd)` replaced by what they print."""

    def directory(match: re.Match[str]) -> str:
        expanded = "".join(_expand(shell, match[1])[:1])
        return posixpath.dirname(expanded) or "." if expanded else ""

    def entered(match: re.Match[str]) -> str:
        name = shell.tree.relative("".join(_expand(shell, match[1])[:1]), shell.directory)
        return f"{ROOT}/{name}" if name is not None else ""

    return _ENTERED.sub(entered, _DIRECTORY.sub(directory, line))


def _words(line: str) -> list[str]:
    """Return the words and operators of a line, quotes kept."""
    line = re.sub(r"\$\([^()]{0,300}\)|`[^`]{0,300}`", "", line)
    lexer = shlex.shlex(line, posix=False, punctuation_chars=";&|()")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    try:
        return list(lexer)
    except ValueError:
        return line.split()


def _line(shell: _Shell, words: list[str]) -> None:
    command: list[str] = []
    for word in [*words, ";"]:
        if word in _OPERATORS or set(word) <= set(";&|()"):
            if command:
                _command(shell, command)
            command = []
        else:
            command.append(word)


def _command(shell: _Shell, raw: list[str]) -> None:  # noqa: C901  # a list of cases
    while raw and raw[0] in _KEYWORDS:
        raw = raw[1:]
    if not raw or raw[0] in _ENDS:
        return
    if raw[0] == "for" and len(raw) > 3 and raw[2] == "in":
        items = [part for each in raw[3:] for part in _expand(shell, each)]
        shell.variables[raw[1]] = items[0] if items else ""
        return
    local = dict(shell.variables)
    while raw and (_ASSIGNMENT.match(raw[0]) or raw[0] in {"export", "declare", "local", "readonly"}):
        if _ASSIGNMENT.match(raw[0]):
            name, _, value = raw[0].partition("=")
            array = value == "" and len(raw) == 1
            local[name.rstrip("+")] = (local.get(name[:-1], "") if name.endswith("+") else "") + (
                "" if array else " ".join(_expand(shell, value))
            )[:LONGEST_VALUE]
        raw = raw[1:]
    if not raw:
        shell.variables = local
        return
    words = [part for each in raw for part in _expand(shell, each)]
    words = _without_redirections(words)
    if not words:
        return
    if words[0] in {"cd", "pushd"} and len(words) > 1:
        shell.directory = shell.tree.relative(words[1], shell.directory) or shell.directory
    elif words[0] in {"source", "."} and len(words) > 1:
        script = shell.tree.read(shell.tree.relative(words[1], shell.directory))
        if script is not None and len(shell.arguments) < 50:
            inner = commands(script, shell.tree, shell.directory, shell.variables, [*shell.arguments, *[""] * 20])
            shell.variables.update(inner[-1].environment if inner else {})
    elif words[0] not in _PLAIN:
        shell.found.append(ShellCommand(words, shell.directory, local))


def _expand(shell: _Shell, word: str) -> list[str]:  # noqa: C901  # a list of cases
    """Return a word with its variables replaced and its quotes taken off; split where it is not quoted."""
    quoted = word[:1] in {"'", '"'} or '"' in word
    if word in {'"$@"', "$@", '"${@}"', '"${@:1}"'}:
        return list(shell.arguments)
    if word.startswith("'") and word.endswith("'") and len(word) > 1:
        return [word[1:-1]]

    def value(match: re.Match[str]) -> str:
        rest = _REST.fullmatch(match[1] or "")
        if rest is not None:
            return " ".join(shell.arguments[max(0, int(rest[1]) - 1) :])
        parsed = _DEFAULTED.match(match[1] or match[2])
        if parsed is None:
            return ""
        name, otherwise = parsed[1].removesuffix("[@]"), parsed[2]
        if name in {"@", "*"}:
            return " ".join(shell.arguments)
        if name == "#":
            return str(len(shell.arguments))
        if name == "0" or name.startswith("BASH_SOURCE"):
            found = shell.script
        elif name.isdigit():
            found = shell.arguments[int(name) - 1] if 0 < int(name) <= len(shell.arguments) else ""
        else:
            found = shell.variables.get(name, "")
        return found or (_VARIABLE.sub("", otherwise).strip("\"'") if otherwise else "")

    try:
        expanded = _VARIABLE.sub(value, word)[:LONGEST_VALUE]
        if not quoted:
            return shlex.split(expanded) if expanded else []
        pieces = shlex.split(expanded)
        return [" ".join(pieces)] if len(pieces) <= 1 or word[0] in "'\"" else pieces
    except ValueError:
        return [expanded]


def _without_redirections(words: list[str]) -> list[str]:
    found: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif re.match(r"[0-9&]?>{1,2}", word) or word.startswith("<"):
            skip = word.rstrip("><&0123456789") == "" and not re.search(r">&\d$", word)
        else:
            found.append(word)
    return found


def is_script(name: str) -> bool:
    """Whether a file is a shell script by its name."""
    return posixpath.splitext(name)[1] in {".sh", ".bash", ".slurm", ".sbatch", ".job", ".zsh"}
