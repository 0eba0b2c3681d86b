"""Which lines of a log a model is shown for a second look at a verdict: a window around the located line, stripped of repeats."""

import re
from collections.abc import Sequence

from processors.prompts.quoting import LONGEST, NumberedLine, harmless

LINES = 400
"""Lines of a window: 200 to 500."""
CHARACTERS = 24_000
"""Of a window; about 10,000 tokens. Fewer lines are shown where they are long."""
_DIGITS = re.compile(r"\d+")
_ALIKE = 3
"""Lines of one template in a row that are shown; the rest of them is left out."""


def window(
    lines: Sequence[NumberedLine], root: int, most: int = LINES, characters: int = CHARACTERS
) -> tuple[NumberedLine, ...]:
    """Return the lines around line number `root` that a model is shown, in order.

    Of lines alike in a row, the first few stay. More of what comes before the root is kept than of what follows, in the ratio 3 to 1.

    Args:
        lines: Consecutive lines, oldest first.
        root: Number of the located line; the last line is taken where it is not among them.
        most: Lines.
        characters: Characters of all lines as quoted.
    """
    kept = _without_repeats(lines, root)
    at = next((place for place, each in enumerate(kept) if each.number == root), len(kept) - 1)
    if not kept:
        return ()
    first = last = at
    room = characters - _cost(kept[at])
    while last - first + 1 < most:
        earlier = first > 0 and (at - first <= 3 * (last - at) or last + 1 == len(kept))
        place = first - 1 if earlier else last + 1
        if not 0 <= place < len(kept) or room < _cost(kept[place]):
            break
        room -= _cost(kept[place])
        first, last = min(first, place), max(last, place)
    return tuple(kept[first : last + 1])


def _without_repeats(lines: Sequence[NumberedLine], root: int) -> list[NumberedLine]:
    kept: list[NumberedLine] = []
    before, alike = "", 0
    for each in lines:
        template = _DIGITS.sub("0", each.text[:LONGEST])
        alike = alike + 1 if template == before else 1
        before = template
        if alike <= _ALIKE or each.number == root:
            kept.append(each)
    return kept


def _cost(line: NumberedLine) -> int:
    return len(str(line.number)) + 3 + len(harmless(line.text))
