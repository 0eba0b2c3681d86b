"""What a stream remembers of the numbers in its templates, until they tell a phase."""

import msgspec


class Watched(msgspec.Struct, array_like=True):
    """A template whose numbers are looked at.

    Attributes:
        text: A line of it, digits masked.
        key: Checksum of what its lines have in common.
        rows: Its first numbers; null for what is no number.
        places: Line of each row, rules and blank lines left out.
        count: Lines seen.
    """

    text: str
    key: int
    rows: list[list[float | None]] = []
    places: list[int] = []
    count: int = 0


class PhaseState(msgspec.Struct):
    """What is remembered of one stream.

    Attributes:
        watched: Templates that are not decided yet, the one that was printed last at the end.
        decided: Whether the lines of a template tell of the training, by its key.
        seen: Lines seen.
        reports: Lines that are reports by their words; counted until there are a few.
        evaluation: The last lines stand below the heading of an evaluation.
    """

    watched: list[Watched] = []
    decided: dict[int, bool] = {}
    seen: int = 0
    reports: int = 0
    evaluation: bool = False
