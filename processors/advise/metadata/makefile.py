"""Makefiles as the command lines that a target runs (GNU Make's manual, 2 to 8): prerequisites, variables, conditionals, pattern rules.

Nothing is executed: `$(shell …)` and functions that are not known here are empty.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

MOST_LINES = 2_000
MOST_TARGETS = 100
DEEPEST = 20
LONGEST_VALUE = 8_000

_ASSIGNED = re.compile(r"(?:export\s+|override\s+)*([\w.-]+)\s*(::?:?=|\?=|\+=|=)\s*(.*)")
_EXPORT = re.compile(r"export\b\s*([\w\s.-]*)(?:$|::?:?=|\?=|\+=|=)")
_RULE = re.compile(r"([^:=#\t][^:=]*)::?(?!=)\s*(.*)")
_REFERENCE = re.compile(r"\$(?:\$|\(([^()$]*)\)|\{([^{}$]*)\}|([\w@<^*]))")
_CONDITION = re.compile(r"(ifeq|ifneq|ifdef|ifndef)\b\s*(.*)")


@dataclass(slots=True)
class _Rule:
    prerequisites: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    own: list[tuple[str, str, str]] = field(default_factory=list)
    """Variables of the target alone: name, operator, value."""


class Makefile:
    """What a makefile says.

    Args:
        text: The makefile, with what it includes in place.
        given: Variables of the command line, which go before those of the file.
        environment: Variables that the file may replace.
    """

    def __init__(self, text: str, given: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self._given = given
        sub = shlex.join(["make", *(f"{name}={value}" for name, value in given.items())])
        self._variables = {**environment, "MAKE": sub, **given}
        self._exported = set(given)
        self._exports_all = False
        self._rules: dict[str, _Rule] = {}
        self._default = ""
        self._read(text)

    def lines(self, targets: list[str]) -> list[str]:
        """Return the command lines of targets (the default one where there are none), those of prerequisites first."""
        found: list[str] = []
        done: set[str] = set()
        for each in targets or [self._default]:
            found += self._run(each, self._variables, done, 0)
        return found

    def environment(self) -> dict[str, str]:
        """Return the variables that the command lines see."""
        names = self._variables if self._exports_all else self._exported & set(self._variables)
        return {name: self._expanded(self._variables[name], self._variables) for name in names}

    def _read(self, text: str) -> None:
        current: list[_Rule] = []
        taken: list[
            bool | None
        ] = []  # of each open conditional: whether its branch counts; None where none does any more
        for line in _joined(text):
            word = line.strip()
            if self._is_conditional(word, taken) or not all(each is True for each in taken):
                continue
            if line.startswith("\t"):
                for rule in current:
                    rule.lines.append(word)
                continue
            if exported := _EXPORT.match(word):
                self._exports_all |= not exported[1].strip()
                self._exported |= set(exported[1].split())
            if assigned := _ASSIGNED.fullmatch(word):
                self._assign(self._variables, assigned[1], assigned[2], assigned[3])
            elif stated := _RULE.fullmatch(word):
                current = self._rule(stated[1], stated[2])

    def _is_conditional(self, word: str, taken: list[bool | None]) -> bool:
        """Whether a line opens, turns or ends a conditional; `taken` follows it."""
        if condition := _CONDITION.fullmatch(word):
            taken.append(self._holds(condition[1], condition[2]))
            return True
        if not taken or (word != "endif" and word.split()[:1] != ["else"]):
            return False
        before = taken.pop()
        if word != "endif":
            other = _CONDITION.fullmatch(word.removeprefix("else").strip())
            taken.append(None if before is not False else self._holds(other[1], other[2]) if other else True)
        return True

    def _rule(self, names: str, rest: str) -> list[_Rule]:
        targets = self._expanded(names, self._variables).split()
        rules = [self._rules.setdefault(each, _Rule()) for each in targets]
        if own := _ASSIGNED.fullmatch(rest):
            for rule in rules:
                rule.own.append((own[1], own[2], own[3]))
            return []
        needed, _, line = rest.partition(";")
        self._default = self._default or next((each for each in targets if each[:1] != "." and "%" not in each), "")
        for rule in rules:
            rule.prerequisites += self._expanded(needed, self._variables).replace("|", " ").split()
            rule.lines += [line.strip()] if line.strip() else []
        return rules

    def _assign(self, variables: dict[str, str], name: str, operator: str, value: str) -> None:
        value = value.partition(" #")[0].rstrip()[:LONGEST_VALUE]
        if name in self._given or (operator == "?=" and name in variables):
            return
        if operator.startswith(":"):
            value = self._expanded(value, variables)
        variables[name] = f"{variables[name]} {value}" if operator == "+=" and name in variables else value

    def _holds(self, kind: str, words: str) -> bool:
        if kind in {"ifdef", "ifndef"}:
            return bool(self._variables.get(words.strip())) is (kind == "ifdef")
        text = self._expanded(words, self._variables).strip()
        left, _, right = text[1:-1].partition(",") if text.startswith("(") else text.partition(" ")
        return (left.strip(" \"'") == right.strip(" \"'")) is (kind == "ifeq")

    def _run(self, target: str, variables: Mapping[str, str], done: set[str], depth: int) -> Iterator[str]:
        rule, part = self._found(target)
        if rule is None or target in done or depth > DEEPEST or len(done) > MOST_TARGETS:
            return
        done.add(target)
        inner = dict(variables)  # a target's own variables are its prerequisites', too
        for own in rule.own:
            self._assign(inner, *own)
        needed = [each.replace("%", part) for each in rule.prerequisites]
        for each in needed:
            yield from self._run(each, inner, done, depth + 1)
        automatic = {"@": target, "*": part, "<": needed[0] if needed else "", "^": " ".join(needed)}
        yield from (self._expanded(line.lstrip("@-+ "), {**inner, **automatic}) for line in rule.lines)

    def _found(self, target: str) -> tuple[_Rule | None, str]:
        """Return the rule of a target, and what `%` stands for in it."""
        if target in self._rules and (self._rules[target].lines or self._rules[target].prerequisites):
            return self._rules[target], ""
        for name, rule in self._rules.items():
            before, percent, after = name.partition("%")
            if percent and len(target) > len(before + after) and target.startswith(before) and target.endswith(after):
                return rule, target[len(before) : len(target) - len(after)]
        return None, ""

    def _expanded(self, text: str, variables: Mapping[str, str]) -> str:
        """Return `text` with its references replaced, the innermost first; `$$` is the shell's `$`."""
        for _ in range(DEEPEST):
            replaced = _REFERENCE.sub(lambda found: _replacement(found, variables), text)[:LONGEST_VALUE]
            if replaced == text:
                break
            text = replaced
        return text.replace("\0", "$")


def _replacement(found: re.Match[str], variables: Mapping[str, str]) -> str:
    if found[0] == "$$":
        return "\0"
    name = next(each for each in found.groups() if each is not None)
    function, space, rest = name.partition(" ")
    if space:
        return _called(function, rest)
    plain, _, changed = name.partition(":")  # `$(NAME:.a=.b)`
    value = variables.get(plain, "")
    ending, equals, other = changed.partition("=")
    return " ".join(each.removesuffix(ending) + other for each in value.split()) if equals else value


def _called(function: str, rest: str) -> str:
    given = [each.strip() for each in rest.split(",")]
    found = {
        "or": next(filter(None, given), ""),
        "and": given[-1] if all(given) else "",
        "if": [*given, "", ""][1 if given[0] else 2],
        "strip": " ".join(rest.split()),
        "firstword": " ".join(rest.split()[:1]),
    }
    return found.get(function, "")


def _joined(text: str) -> Iterator[str]:
    """Yield lines without comments, continued ones as one."""
    waiting = ""
    for line in text.splitlines()[:MOST_LINES]:
        if line.endswith("\\"):
            waiting += line[:-1].rstrip() if not waiting else f" {line[:-1].strip()}"
            continue
        whole = f"{waiting} {line.strip()}" if waiting else line
        waiting = ""
        if whole.strip() and not whole.lstrip().startswith("#"):
            yield whole
