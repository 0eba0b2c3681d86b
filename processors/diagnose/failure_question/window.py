"""The lines of an attempt that a language model is shown: those with the most information about a failure, in their order."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from ...prompts.quoting import LONGEST, NumberedLine, harmless
from .words import ERROR

LINES = 320
"""Maximum number of lines of a prompt."""
CHARACTERS = 24_000
"""Maximum number of characters of the quoted lines; about 10,000 tokens."""
END = 60
"""Lines at the end of the stream that are shown before anything else is added."""
FIRST_ROOT = (40, 12)
"""Lines before and after the likeliest candidate; a traceback precedes its last line."""
OTHER_ROOT = (8, 4)
"""Lines before and after each other candidate."""
FIRST_ERROR = (4, 8)
"""Lines before and after the first line that calls itself an error."""
SIMILAR = 2
"""First lines of a run of similar lines that are shown, with the last one."""
_DIGITS = re.compile(r"\d+")


def select(
    lines: Sequence[NumberedLine], roots: Sequence[int], most: int = LINES, characters: int = CHARACTERS
) -> tuple[NumberedLine, ...]:
    """Return the lines of one stream that a model is shown, in order.

    Lines are chosen in this order, as long as there is room: the candidates of the rules, the last lines, the surroundings of the
    candidates, the first error, then lines from the end backwards. Of similar lines in a row, the first two and the last stay.

    Args:
        lines: Lines of the stream, oldest first.
        roots: Numbers of the candidates' lines, the likeliest first.
        most: Maximum number of lines.
        characters: Maximum number of characters of all lines as quoted.
    """
    kept = _without_repeats(lines, roots)
    places = {each.number: place for place, each in enumerate(kept)}
    known = [places[number] for number in roots if number in places]
    chosen: set[int] = set()
    room = characters
    for place in _by_information(kept, known):
        if len(chosen) >= most:
            break
        if place in chosen or not 0 <= place < len(kept):
            continue
        cost = len(str(kept[place].number)) + 3 + len(harmless(kept[place].text))
        if cost > room:
            continue
        room -= cost
        chosen.add(place)
    return tuple(kept[place] for place in sorted(chosen))


def _by_information(kept: Sequence[NumberedLine], known: Sequence[int]) -> Iterator[int]:
    """Yield places of lines, those with the most information first; some may repeat or lie outside."""
    last = len(kept) - 1
    yield from known
    yield from range(last, last - END, -1)
    for order, place in enumerate(known):
        before, after = OTHER_ROOT if order else FIRST_ROOT
        yield from range(place - 1, place - before - 1, -1)
        yield from range(place + 1, place + after + 1)
    first = next((place for place, each in enumerate(kept) if ERROR.search(each.text)), None)
    if first is not None:
        yield from range(first - FIRST_ERROR[0], first + FIRST_ERROR[1] + 1)
    yield from range(last - END, -1, -1)


def _without_repeats(lines: Sequence[NumberedLine], roots: Collection[int]) -> list[NumberedLine]:
    """Return the lines; of similar lines in a row the first ones and the last one, and the candidates."""
    kept: list[NumberedLine] = []
    for _, group in groupby(lines, key=lambda each: _DIGITS.sub("0", each.text[:LONGEST])):
        similar = list(group)
        kept += [
            each
            for place, each in enumerate(similar)
            if place < SIMILAR or place == len(similar) - 1 or each.number in roots
        ]
    return kept
