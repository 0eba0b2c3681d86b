"""All signatures against a line in one pass, once a template.

The patterns are matched against the template, every digit of it a 0, so the answer is the same whichever line of it comes first, and the
cache changes nothing but the cost: a dictionary look-up a line, once warm. A template without any word that some pattern needs is
spared the pass: it costs a hundred times a scan for the words. They are matched a second time without what launchers, loggers
and collectors put in front, so that a pattern may say where a message begins.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

import re2

from ..grammar.extractor import DIGITS, LONGEST, templates
from ..grammar.prefix import clean, strip_prefix
from ..grammar.prescan import Literals
from .catalogue import Signature
from .traceback import excerpt, masked, spoken

MEMORY = 64 << 20
"""Bytes that RE2 may use for the automaton of all patterns; it starts at a few hundred KB and grows with what it meets."""

READ = 2000
"""Characters of a line that are looked at."""

FEW = 24
"""Patterns that are tried one by one; more are tried together. What is new to that automaton makes it grow, a hundred times as slowly."""

TEMPLATES = 50_000
"""Templates remembered; when full, the memory starts anew."""

_CARRIED = re.compile(
    r"[A-Za-z][\w.-]{0,60} +\| |[a-z](?:[\w-]*+\.)*+\w*+-(?:[^\W\d]|-)*+\d[\w-]*+ [a-z][\w.-]{0,40} (?=\S)"
)
"""What may be a container's name, or a pod's and a container's: only patterns that begin where a message does are matched behind it."""

MILD = frozenset({"TRACE", "DEBUG", "INFO", "NOTICE"})
"""Levels of lines that call themselves mere information."""


class Matcher:
    """A set of patterns: the catalogue's, then others that the caller numbers on."""

    def __init__(self, signatures: Sequence[Signature], others: Sequence[str] = ()) -> None:
        self.signatures = tuple(signatures)
        self._set, self._alone, self._words = _compiled((*(one.pattern for one in signatures), *others))
        self._known: dict[str, tuple[int, ...]] = {}

    @property
    def remembered(self) -> int:
        """Templates that are remembered now."""
        return len(self._known)

    def find(self, lines: Sequence[str], masked: Sequence[str] | None = None) -> list[tuple[int, ...]]:
        """Return for each line the numbers of the patterns that its template matches, lowest first, whatever numbers the line has.

        `masked` are the templates of `lines`, where they are known already.
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
        if len(template) == LONGEST:  # cut, and not to be remembered: more of the line is looked at here
            template = excerpt(line, READ).translate(DIGITS)
            if template in self._known:
                return self._known[template]
        if len(self._known) >= TEMPLATES:
            self._known.clear()
        forms = {masked(form) for form in _forms(template[:READ])}
        found = tuple(sorted({number for form in forms for number in self._matched(form)}))
        if len(template) < READ and len(template) != LONGEST:
            self._known[template] = found
        return found

    def _matched(self, form: str) -> Iterable[int]:
        likely = self._words.likely(form)
        if not likely:
            return ()
        text = form.encode("utf-8", "replace")
        if len(likely) > FEW:
            return self._set.Match(text) or ()
        return [number for number in likely if self._alone[number].search(text)]

    def signature(self, found: Sequence[int], line: str, without: Collection[str] = ()) -> Signature | None:
        """Return the most confident signature among the patterns `found` that agrees with what `line` states, of no kind in `without`.

        What the table of driver events states of a line comes before what its words are like.
        """
        best: Signature | None = None
        if "\x1b" in line:
            line = clean(line)
        for number in found:
            if number >= len(self.signatures):
                break
            one = self.signatures[number]
            if one.kind in without:
                continue
            rank = one.driver_event, one.confidence
            if (best is None or rank > (best.driver_event, best.confidence)) and one.selects(line[:READ]):
                best = one
        return best


@lru_cache(maxsize=8)
def _compiled(patterns: tuple[str, ...]) -> tuple[Any, list[Any], Literals]:
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
    """Return `template`, and unless it calls itself information also without what launchers, collectors and loggers put in front."""
    prefixed = strip_prefix(template)
    if prefixed.level in MILD:
        return [template]
    forms = [template, prefixed.text, prefixed.body, f"{prefixed.level}: {prefixed.text}" if prefixed.level else ""]
    carried = _CARRIED.match(template)
    forms += [spoken(template), template[carried.end() :] if carried else ""]
    return [form for form in forms if form]
