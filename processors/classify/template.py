"""Lines to templates, a whole chunk at a time."""

from collections.abc import Sequence

DIGITS = str.maketrans("023456789", "111111111")
"""Turns every digit into 1 (not 0: `"step": 000` would be no JSON). One pass over a chunk costs less than an expression a line."""

LONGEST = 1000
"""Characters of a line that its template keeps; its class follows from them."""


def templates(lines: Sequence[str]) -> list[str]:
    """Return the templates of `lines`: what they have in common with lines that differ in digits only."""
    masked = "\n".join(lines).translate(DIGITS).split("\n")
    if len(masked) != len(lines):  # a line feed within a line: the slow way keeps them apart
        masked = [line.translate(DIGITS) for line in lines]
    if max(map(len, masked), default=0) > LONGEST:
        return [template[:LONGEST] for template in masked]
    return masked
