"""Matches all signatures against a line in one pass, once a template.

Patterns are matched against the template, whose digits are all 0, so the result does not depend on which of its lines comes first. They are
matched a second time without what launchers, loggers and collectors print before a message, so that a pattern may refer to its beginning.
A template without any word that a pattern needs is not matched: that costs a hundred times as much as a search for the words.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

import re2

from ..grammar.extractor import DIGITS, LONGEST, templates
from ..grammar.prefix import clean, strip_prefix
from ..grammar.prescan import Literals
from .catalogue import Signature, masked
from .json_lines import json_message, shorten

MAX_CHARACTERS = 2000
"""Characters of a line that are read."""
TEMPLATES = 50_000
"""Maximum number of templates remembered. When it is reached, all are forgotten."""
MEMORY = 64 << 20
"""Memory that RE2 may use for the automaton of all patterns, in bytes. It starts at a few hundred KB."""
_ONE_BY_ONE = 24
"""Maximum number of patterns that are tried one by one. More are tried together, where each new text makes the automaton grow."""
MILD = frozenset({"TRACE", "DEBUG", "INFO", "NOTICE"})
"""Levels of lines that report no trouble."""
_POD = re.compile(
    r"[A-Za-z][\w.-]{0,60} +\| |[a-z](?:[\w-]*+\.)*+\w*+-(?:[^\W\d]|-)*+\d[\w-]*+ [a-z][\w.-]{0,40} (?=\S)"
)
"""Possibly the name of a container, or of a pod and its container, before a message."""


class Matcher:
    """A set of patterns: the catalogue's, then others that the caller numbers."""

    def __init__(self, signatures: Sequence[Signature], others: Sequence[str] = ()) -> None:
        self.signatures = tuple(signatures)
        self._set, self._alone, self._words = _compile((*(one.pattern for one in signatures), *others))
        self._known: dict[str, tuple[int, ...]] = {}

    @property
    def remembered(self) -> int:
        """Templates that are remembered now."""
        return len(self._known)

    def find(self, lines: Sequence[str], masked: Sequence[str] | None = None) -> list[tuple[int, ...]]:
        """Return for each line the numbers of the patterns that match its template, lowest first, whatever numbers the line has.

        `masked` are the templates of `lines`, where they are known.
        """
        masked = templates(lines) if masked is None else masked
        known = self._known
        try:
            return list(map(known.__getitem__, masked))
        except KeyError:
            return [
                known[template] if template in known else self._learn(template, line)
                for template, line in zip(masked, lines, strict=True)
            ]

    def _learn(self, template: str, line: str) -> tuple[int, ...]:
        if len(template) == LONGEST:  # it is cut, and is not remembered: more of the line is read here
            template = shorten(line, MAX_CHARACTERS).translate(DIGITS)
            if template in self._known:
                return self._known[template]
        if len(self._known) >= TEMPLATES:
            self._known.clear()
        forms = {masked(form) for form in _forms(template[:MAX_CHARACTERS])}
        found = tuple(sorted({number for form in forms for number in self._match(form)}))
        if len(template) < MAX_CHARACTERS and len(template) != LONGEST:
            self._known[template] = found
        return found

    def _match(self, form: str) -> Iterable[int]:
        likely = self._words.likely(form)
        if not likely:
            return ()
        text = form.encode("utf-8", "replace")
        if len(likely) > _ONE_BY_ONE:
            return self._set.Match(text) or ()
        return [number for number in likely if self._alone[number].search(text)]

    def signature(self, found: Sequence[int], line: str, without: Collection[str] = ()) -> Signature | None:
        """Return the most confident signature of the patterns `found` that agrees with `line`, of no kind in `without`.

        The table of driver events goes before the words of a line.
        """
        line = clean(line) if "\x1b" in line else line
        known = (self.signatures[number] for number in found if number < len(self.signatures))
        agreeing = [one for one in known if one.kind not in without and one.selects(line[:MAX_CHARACTERS])]
        return max(agreeing, key=lambda one: (one.driver_event, one.confidence), default=None)


@lru_cache(maxsize=8)
def _compile(patterns: tuple[str, ...]) -> tuple[Any, list[Any], Literals]:
    """Return the patterns as one set, each alone, and the words that they need; compiled once, however many matchers use them."""
    options = re2.Options()
    options.max_mem = MEMORY
    together = re2.Set.SearchSet(options)
    for pattern in patterns:
        together.Add(pattern)
    together.Compile()
    alone = [re2.compile(pattern.encode(), options) for pattern in patterns]
    return together, alone, Literals(pattern.replace(r"\d", "0") for pattern in patterns)  # as templates have them


def _forms(template: str) -> list[str]:
    """Return `template`; unless its level is mild, also without what launchers, collectors and loggers print before it."""
    prefixed = strip_prefix(template)
    if prefixed.level in MILD:
        return [template]
    pod = _POD.match(template)
    with_level = f"{prefixed.level}: {prefixed.text}" if prefixed.level else ""
    forms = [template, prefixed.text, prefixed.body, with_level, json_message(template)]
    return [form for form in [*forms, template[pod.end() :] if pod else ""] if form]
