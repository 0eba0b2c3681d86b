"""Job scripts: their commands, with variables replaced. Nothing is run. `shlex` splits the text.

Conditions are not evaluated: every command counts. A loop is read once with its first value.
"""

import posixpath
import re
import shlex
from collections.abc import Iterator

from .budget import step
from .registry import names

LONGEST = 100_000
"""Characters of a script, and of a word after its variables are replaced."""
_ARRAY = re.compile(r"^(\s*\w+\+?=)\(([^()]{0,20000})\)", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*")
_SUBSTITUTION = re.compile(r"\$\([^()]*\)|`[^`]*`")
_VARIABLE = re.compile(r"\$(?:\{(\w+|@)(?:\[[@*]\])?(?::(\d+)|:?[-=]([^{}]*))?\}|(\w+|@))")
_REDIRECTION = re.compile(r"(?<=\s)[0-9&]?>>?\s*&?\S+|(?<=\s)<\s*\S+")
_PLACE = re.compile(r"""\$\(dirname\s+(?:--\s+)?"?\$(?:0|\{?BASH_SOURCE(?:\[0\])?\}?)"?\)""")
"""The directory of the script itself."""
_ENTERED = re.compile(r"""\$\(cd\s([^"()&]*|\s*"[^"()&]*"\s*)&&\s*pwd\)""")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=(.*)", re.DOTALL)
_KEYWORDS = names("vocabulary", "shell_keywords")

ShellCommand = tuple[list[str], str, dict[str, str]]
"""The words of a command, its working directory relative to the tree, and the variables that are set."""


def commands(
    text: str, directory: str, environment: dict[str, str], words: list[str], script: str = "bash"
) -> Iterator[ShellCommand]:
    """Yield the commands of a script; `words` are those of the command line behind the script's name."""
    text = _PLACE.sub(lambda _: posixpath.dirname(script) or ".", text[:LONGEST])
    variables = {**environment, "@": shlex.join(words), **{str(place): each for place, each in enumerate(words, 1)}}
    for part in _parts(text):
        command = [each for word in part for each in _replaced(word, variables)]
        own: dict[str, str] = {}
        while command and (command[0] in _KEYWORDS or _ASSIGNMENT.fullmatch(command[0])):
            if assigned := _ASSIGNMENT.fullmatch(command.pop(0)):
                name, more, value = assigned.groups()
                own[name] = f"{variables.get(name, '')} {value}"[:LONGEST] if more else value
        if command[:1] == ["for"] and command[2:3] == ["in"] and len(command) > 3:
            variables[command[1]] = command[3]
        elif command[:1] == ["cd"] and len(command) > 1:
            directory = command[1] if command[1].startswith("/") else f"{directory}/{command[1]}"
        elif command:
            yield command, directory, {name: each for name, each in {**variables, **own}.items() if name.isidentifier()}
        variables |= {} if command else own


def _parts(text: str) -> Iterator[list[str]]:
    """Yield the words of each command of a text, up to a quotation without an end."""
    step(1 + len(text[:LONGEST]) // 10)
    text = _SUBSTITUTION.sub(
        "?", _ENTERED.sub(lambda each: each[1].strip(' \t"'), _COMMENT.sub("", text[:LONGEST].replace("\\\n", " ")))
    )
    text = _ARRAY.sub(lambda each: each[1] + shlex.quote(" ".join(each[2].split())), text)
    lexer = shlex.shlex(_REDIRECTION.sub("", text), posix=True, punctuation_chars=";&|\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    part: list[str] = []
    try:
        for word in lexer:
            if set(word) <= set(";&|\n"):
                yield part
                part = []
            else:
                part.append(word)
    except ValueError:
        return
    yield part


def _replaced(word: str, variables: dict[str, str]) -> list[str]:
    """Return a word with its variables replaced; several words if it is a variable alone. Unset variables stay as they are."""
    alone, before, left = _VARIABLE.fullmatch(word), word, LONGEST

    def value(match: re.Match[str]) -> str:
        nonlocal left
        name = match[1] or match[4]
        held = (
            shlex.join(shlex.split(variables["@"])[int(match[2]) - 1 :])
            if name == "@" and match[2]
            else variables.get(name)
        )
        found = held or (match[3] if match[3] is not None else match[0] if held is None else "")
        left -= len(found)
        return found if left >= 0 else ""

    for _ in range(3):  # the default of a variable may name another one
        word = _VARIABLE.sub(value, word)
    step(1 + len(word) // 50)
    try:
        return shlex.split(word) if alone and word != before else [word]
    except ValueError:
        return [word]
