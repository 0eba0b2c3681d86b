"""What the class of a line rests on, when it is seen alone."""

from enum import Enum


class Ground(Enum):
    """What says the class of a line.

    Attributes:
        SURE: A signature, a level, a shape, or fields of other work: numbers change nothing.
        WORDS: Single words, which lines of another class hold as well.
        ROW: It holds numbers alone; a header above may name them.
        REPORT: What its numbers are called: it is a report of the training.
        NOTHING: No signature; a model at most.
    """

    SURE = "sure"
    WORDS = "words"
    ROW = "row"
    REPORT = "report"
    NOTHING = "nothing"
