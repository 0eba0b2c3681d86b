"""Lines to templates, a whole chunk at a time."""

from collections.abc import Sequence

from processors.grammar.extractor import DIGITS, LONGEST


def templates(lines: Sequence[str]) -> list[str]:
    """Return the templates of `lines`: what they have in common with lines that differ in digits only.

    A template keeps the first `LONGEST` characters; the class of a line follows from them.
    """
    masked = "\n".join(lines).translate(DIGITS).split("\n")
    if len(masked) != len(lines):  # a line feed within a line: the slow way keeps them apart
        masked = [line.translate(DIGITS) for line in lines]
    if max(map(len, masked), default=0) > LONGEST:
        return [template[:LONGEST] for template in masked]
    return masked
