"""All signatures against a line in one pass, once a template.

A line's template is the line with every digit replaced by 0. The patterns are matched against the template itself, so the answer is the
same whichever line of it comes first, and the cache changes nothing but the cost: about a dictionary look-up a line, once warm.
"""

from collections.abc import Sequence

import re2

from .catalogue import Signature

_ZEROS = bytes.maketrans(b"123456789", b"000000000")

MEMORY = 64 << 20
"""Bytes that RE2 may use for the automaton of all patterns; it starts at a few hundred KB and grows with what it meets."""

READ = 2000
"""Characters of a line that are looked at."""

TEMPLATES = 50_000
"""Templates remembered; when full, the memory starts anew."""


class Matcher:
    """A set of patterns: the catalogue's, then others that the caller numbers on."""

    def __init__(self, signatures: Sequence[Signature], others: Sequence[str] = ()) -> None:
        self.signatures = tuple(signatures)
        options = re2.Options()
        options.max_mem = MEMORY
        self._set = re2.Set.SearchSet(options)
        for pattern in (*(one.pattern for one in signatures), *others):
            self._set.Add(pattern)
        self._set.Compile()
        self._known: dict[bytes, tuple[int, ...]] = {}

    def find(self, lines: Sequence[str]) -> list[tuple[int, ...]]:
        """Return for each line the numbers of the patterns that its template matches, lowest first; `numbers` is not looked at."""
        known = self._known
        # Bytes, because translating them costs a tenth of translating text that is not all ASCII.
        templates = "\n".join(lines).encode("utf-8", "replace").translate(_ZEROS).split(b"\n")
        if len(templates) != len(lines):  # a line that holds a newline, which no producer sends
            templates = [line.encode("utf-8", "replace").translate(_ZEROS) for line in lines]
        return [known[one] if one in known else self._learn(one) for one in templates]

    def _learn(self, template: bytes) -> tuple[int, ...]:
        if len(self._known) >= TEMPLATES:
            self._known.clear()
        found = tuple(sorted(self._set.Match(template[:READ]) or ())) if template else ()
        # A giant line is not worth keeping as a key.
        if len(template) <= READ:
            self._known[template] = found
        return found

    def signature(self, found: Sequence[int], line: str) -> Signature | None:
        """Return the most confident signature among the patterns `found` in `line` that `line`'s numbers allow."""
        best: Signature | None = None
        for number in found:
            if number >= len(self.signatures):
                break
            one = self.signatures[number]
            if (best is None or one.confidence > best.confidence) and (not one.numbers or one.numbered(line[:READ])):
                best = one
        return best
