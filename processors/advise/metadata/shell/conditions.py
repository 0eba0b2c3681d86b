"""Conditions of a script: `[ … ]`, `[[ … ]]`, `test`, `(( … ))`."""

import fnmatch
from collections.abc import Callable, Mapping

from .state import Shell

_NUMBERS: Mapping[str, Callable[[int, int], bool]] = {
    "-eq": lambda left, right: left == right,
    "-ne": lambda left, right: left != right,
    "-gt": lambda left, right: left > right,
    "-ge": lambda left, right: left >= right,
    "-lt": lambda left, right: left < right,
    "-le": lambda left, right: left <= right,
}


def holds(shell: Shell, words: list[str]) -> bool | None:  # a list of cases
    """Return whether a test holds; null where that is not known.

    Args:
        shell: The state.
        words: The words between the brackets, expanded; operators as they stand.
    """
    if "||" in words or "-o" in words[1:-1]:
        place = next(place for place, each in enumerate(words) if each == "||" or (each == "-o" and place))
        either = [holds(shell, words[:place]), holds(shell, words[place + 1 :])]
        return True if True in either else None if None in either else False
    if "&&" in words or "-a" in words[1:-1]:
        place = next(place for place, each in enumerate(words) if each == "&&" or (each == "-a" and place))
        both = [holds(shell, words[:place]), holds(shell, words[place + 1 :])]
        return False if False in both else None if None in both else True
    if words[:1] == ["!"]:
        inner = holds(shell, words[1:])
        return None if inner is None else not inner
    if len(words) == 3:
        return _compared(words[0], words[1], words[2])
    if len(words) == 2:
        return _of_one(shell, words[0], words[1])
    return bool(words and words[0])


def _of_one(shell: Shell, operator: str, value: str) -> bool | None:
    if operator == "-n":
        return bool(value)
    if operator == "-z":
        return not value
    if operator == "-v":
        return value in shell.variables
    if operator in {"-f", "-d", "-e", "-s", "-r", "-x"}:
        name = shell.tree.relative(value, shell.directory) if value else None
        known = shell.tree.is_directory(name) if operator == "-d" else shell.tree.is_file(name)
        known = known or (operator == "-e" and shell.tree.is_directory(name))
        return True if known else None if value else False
    return None


def _compared(left: str, operator: str, right: str) -> bool | None:
    if operator in {"=", "=="}:
        return left == right or (right.count("*") <= 3 and len(left) < 500 and fnmatch.fnmatchcase(left, right))
    if operator == "!=":
        return left != right and not (right.count("*") <= 3 and len(left) < 500 and fnmatch.fnmatchcase(left, right))
    if operator in _NUMBERS:
        numbers = [int(each) for each in (left or "0", right or "0") if each.lstrip("-").isdigit()]
        return _NUMBERS[operator](*numbers) if len(numbers) == 2 else None
    return None
