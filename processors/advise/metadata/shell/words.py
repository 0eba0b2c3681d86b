"""Words of a script: quotes, variables and substitutions expanded as Bash does (its manual, "Shell Expansions")."""

import fnmatch
import posixpath
import re
import shlex
from collections.abc import Callable

from ..tree import ROOT
from .arithmetic import evaluate
from .state import LONGEST_VALUE, MOST_ITEMS, Shell

_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]+|[@*#?$!_-]")
_BRACED = re.compile(r"(!?)([A-Za-z_]\w*|[0-9]+|[@*#])(?:\[([^\]]{0,100})\])?(.*)", re.DOTALL)

Substitute = Callable[[Shell, str], str]
"""What `$(…)` prints: given the commands, returns the text."""


class Words:
    """Expands words in a shell's state.

    Args:
        shell: The state.
        substitute: Returns what a command substitution prints.
    """

    def __init__(self, shell: Shell, substitute: Substitute) -> None:
        self._shell, self._substitute = shell, substitute

    def fields(self, text: str) -> list[str]:  # noqa: C901  # a list of cases
        """Return the fields that a word becomes; none where it is empty and not quoted."""
        found: list[str] = []
        held: str | None = None
        for piece, quoted, separate in self._pieces(text):
            if not quoted and not separate:
                split = piece.split()
                if not split:
                    if piece and held is not None:
                        found.append(held)
                        held = None
                    continue
                if piece[0].isspace() and held is not None:
                    found.append(held)
                    held = None
                *whole, last = split
                if whole:
                    found += [(held or "") + whole[0], *whole[1:]]
                    held = None
                held = (held or "") + last
                if piece[-1].isspace():
                    found.append(held)
                    held = None
            elif separate:
                if held is not None:
                    found.append(held)
                held = piece
            else:
                held = (held or "") + piece
            if len(found) > MOST_ITEMS:
                break
        return [each[:LONGEST_VALUE] for each in (found if held is None else [*found, held])]

    def text(self, text: str) -> str:
        """Return a word as one text, not split."""
        return "".join(
            f" {piece}" if separate and place else piece
            for place, (piece, _, separate) in enumerate(self._pieces(text))
        )[:LONGEST_VALUE]

    def _pieces(self, text: str) -> list[tuple[str, bool, bool]]:
        """Return pieces of a word: its text, whether it is never split, whether it begins a field of its own."""
        found: list[tuple[str, bool, bool]] = []
        place = 0
        while place < len(text) and len(found) < MOST_ITEMS:
            each = text[place]
            if each == "\\":
                if text[place + 1 : place + 2] != "\n":
                    found.append((text[place + 1 : place + 2], True, False))
                place += 2
            elif each == "'" or text.startswith("$'", place):
                start = place + (2 if each == "$" else 1)
                end = text.find("'", start)
                end = len(text) if end < 0 else end
                found.append((text[start:end], True, False))
                place = end + 1
            elif each == '"' or text.startswith('$"', place):
                start = place + (2 if each == "$" else 1)
                end = _closing_quote(text, start)
                found += self._quoted(text[start:end])
                place = end + 1
            elif each in "$`":
                values, place, _ = self._expansion(text, place)
                joined = " ".join(values)
                found.append((joined, False, False))
            else:
                end = place + 1
                while end < len(text) and text[end] not in "\\'\"$`":
                    end += 1
                found.append((text[place:end], True, False))
                place = end
        return found

    def _quoted(self, text: str) -> list[tuple[str, bool, bool]]:
        """Return what stands between double quotes: one piece, but for `"$@"` and `"${array[@]}"`."""
        found: list[tuple[str, bool, bool]] = []
        held, place, listed = "", 0, False
        while place < len(text):
            each = text[place]
            if each == "\\" and text[place + 1 : place + 2] in {'"', "$", "`", "\\", "\n"}:
                held += text[place + 1].replace("\n", "")
                place += 2
            elif each in "$`":
                values, place, separate = self._expansion(text, place)
                if separate:
                    listed = True
                    for number, value in enumerate(values):
                        if number:
                            found.append((held, True, bool(found)))
                            held = ""
                        held += value
                else:
                    held += " ".join(values)
            else:
                held += each
                place += 1
        if held or not listed or found:
            found.append((held, True, bool(found)))
        return found

    def _expansion(self, text: str, place: int) -> tuple[list[str], int, bool]:  # noqa: PLR0911  # a list of cases
        """Return what stands at `$` or a backquote: values, the place behind it, whether they are fields of their own."""
        self._shell.steps += 1
        if text[place] == "`":
            end = text.find("`", place + 1)
            end = len(text) if end < 0 else end
            return [self._substitute(self._shell, text[place + 1 : end])], end + 1, False
        if text.startswith("$((", place):
            end = _closing(text, place + 3, "((", "))") if "))" in text[place:] else len(text)
            value = evaluate(self._shell, self.text(text[place + 3 : end]))
            return ["" if value is None else str(value)], end + 2, False
        if text.startswith("$(", place):
            end = _closing(text, place + 2, "(", ")")
            return [self._substitute(self._shell, text[place + 2 : end])], end + 1, False
        if text.startswith("${", place):
            end = _closing(text, place + 2, "{", "}")
            values, separate = self._braced(text[place + 2 : end])
            return values, end + 1, separate
        name = _NAME.match(text, place + 1)
        if name is None:
            return ["$"], place + 1, False
        if name[0] in {"@", "*"}:
            return list(self._shell.arguments), name.end(), name[0] == "@"
        if name[0].isdigit() and len(name[0]) > 1:  # `$12` is `$1` and a 2
            return [self._value(name[0][0])], place + 2, False
        return [self._value(name[0])], name.end(), False

    def _value(self, name: str) -> str:
        shell = self._shell
        if name == "#":
            return str(len(shell.arguments))
        if name in {"?", "$", "!", "-"}:
            return "0" if name == "?" else ""
        if name in {"0", "BASH_SOURCE"}:
            return shell.script
        if name.isdigit():
            return shell.arguments[int(name) - 1] if int(name) <= len(shell.arguments) else ""
        return shell.text(name)

    def _braced(self, inside: str) -> tuple[list[str], bool]:  # a list of cases
        """Return what `${inside}` is."""
        shell = self._shell
        counted = re.fullmatch(r"#(\w+|[@*])(?:\[[@*]\])?", inside)
        if counted:
            whole = "[" in inside or counted[1] in {"@", "*"}
            listed = shell.arguments if counted[1] in {"@", "*"} else shell.items(counted[1])
            return [str(len(listed) if whole else len(self._value(counted[1])))], False
        parsed = _BRACED.fullmatch(inside)
        if parsed is None:
            return [""], False
        indirect, name, index, rest = parsed.groups()
        if indirect:
            name = shell.text(name)
        whole = index in {"@", "*"} or (index is None and name in {"@", "*"})
        if whole:
            values = list(shell.arguments) if name in {"@", "*"} else list(shell.items(name))
            sliced = re.fullmatch(r":\s*(\w+)(?::(\w+))?", rest)
            if sliced:
                start = (evaluate(shell, sliced[1]) or 0) - (1 if name in {"@", "*"} else 0)
                count = evaluate(shell, sliced[2]) if sliced[2] else None
                start = max(start, 0)
                values = values[start:] if count is None else values[start : start + max(count, 0)]
            if rest[:1] in {":", "-"} and not sliced and not values:
                return [self.text(rest.lstrip(":")[1:])], False
            return values, "*" not in {index, name}
        value = self._value(name)
        if index is not None and name != "BASH_SOURCE":
            place = evaluate(shell, self.text(index))
            listed = shell.items(name)
            value = listed[place] if place is not None and -len(listed) <= place < len(listed) else ""
        return [self._operated(name, value, rest)], False

    def _operated(self, name: str, value: str, rest: str) -> str:  # noqa: PLR0911  # a list of cases
        """Return a value after the operator of its expansion: `:-default`, `##*/`, `/a/b`, `:0:2`, `,,`."""
        given = re.match(r":?([-=?+])(.*)", rest, re.DOTALL)
        if given:
            operator, word = given.groups()
            if operator == "+":
                return self.text(word) if value else ""
            if value:
                return value
            found = "" if operator == "?" else self.text(word)
            if operator == "=":
                self._shell.set(name, found)
            return found
        sliced = re.fullmatch(r":\s*(-?\w+)(?::\s*(-?\w+))?", rest)
        if sliced:
            start = evaluate(self._shell, sliced[1]) or 0
            count = evaluate(self._shell, sliced[2]) if sliced[2] else None
            return value[start:] if count is None else value[start : start + count if count >= 0 else count]
        for operator, ends in (("##", True), ("#", True), ("%%", False), ("%", False)):
            if rest.startswith(operator):
                return _trimmed(value, self.text(rest[len(operator) :]), ends, longest=len(operator) == 2)
        if rest.startswith("/"):
            everywhere = rest.startswith("//")
            old, _, new = rest[2 if everywhere else 1 :].partition("/")
            old = self.text(old)
            return value.replace(old, self.text(new), -1 if everywhere else 1) if old else value
        if rest.startswith(("^", ",")):
            changed = value.upper() if rest[0] == "^" else value.lower()
            return changed if len(rest) > 1 and rest[1] == rest[0] else changed[:1] + value[1:]
        return value


def _trimmed(value: str, pattern: str, from_start: bool, longest: bool) -> str:
    """Return `value` without the shortest or longest part at one end that matches a pattern."""
    if len(value) > 500 or len(pattern) > 100 or pattern.count("*") > 3:  # fnmatch backtracks
        return value
    sizes = range(len(value), -1, -1) if longest else range(len(value) + 1)
    for size in sizes:
        part = value[:size] if from_start else value[len(value) - size :]
        if fnmatch.fnmatchcase(part, pattern):
            return value[size:] if from_start else value[: len(value) - size]
    return value


def _closing_quote(text: str, place: int) -> int:
    """Return the place of the double quote that ends what begins at `place`; the end where there is none."""
    while place < len(text):
        if text[place] == "\\":
            place += 2
        elif text.startswith("$(", place):
            place = _closing(text, place + 2, "(", ")") + 1
        elif text.startswith("${", place):
            place = _closing(text, place + 2, "{", "}") + 1
        elif text[place] == '"':
            return place
        else:
            place += 1
    return len(text)


def _closing(text: str, place: int, opening: str, closing: str) -> int:
    """Return the place of the bracket that closes the one before `place`; the end where there is none."""
    depth = 1
    while place < len(text):
        if text[place] == "\\":
            place += 2
            continue
        if text[place] == "'" and "'" in text[place + 1 :] and opening != "((":
            place = text.index("'", place + 1) + 1
            continue
        if text.startswith(closing, place) and (len(closing) == 1 or depth == 1):
            depth -= 1
            if depth == 0:
                return place
        elif len(opening) == 2 and text[place] in "()":
            depth += 1 if text[place] == "(" else -1
        elif text.startswith(opening, place):
            depth += 1
        place += 1
    return len(text)


def printed(shell: Shell, words: list[str]) -> str:  # noqa: PLR0911  # a list of cases
    """Return what a command that only tells a path or repeats its words prints; empty where that is not known."""
    name, rest = words[0], [each for each in words[1:] if not (each.startswith("-") and len(each) <= 3)]
    if name == "echo":
        return " ".join(rest)
    if name == "pwd":
        return f"{ROOT}/{shell.directory}"
    if name == "dirname" and rest:
        return posixpath.dirname(rest[0]) or "."
    if name == "basename" and rest:
        last = posixpath.basename(rest[0].rstrip("/"))
        return last.removesuffix(rest[1]) if len(rest) > 1 else last
    if name in {"realpath", "readlink"} and rest:
        found = shell.tree.relative(rest[0], shell.directory)
        return f"{ROOT}/{found}" if found is not None else rest[0]
    if name == "printf" and rest:
        return (
            rest[0].replace("\\n", "") % tuple(rest[1:])
            if rest[0].count("%") == rest[0].count("%s") == len(rest) - 1
            else ""
        )
    if name == "expr":
        value = evaluate(shell, shlex.join(rest).replace("'", ""))
        return "" if value is None else str(value)
    return ""
