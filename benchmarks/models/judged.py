"""What a model changed of one thing that was asked about, and the tally of many."""

import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Change = Literal["better", "equal", "worse"]


def compared(before: Mapping[str, float], after: Mapping[str, float]) -> Change:
    """Return what became of the points of each field: worse where any fell, else better where any rose."""
    if any(after[name] < before[name] for name in before):
        return "worse"
    return "better" if any(after[name] > before[name] for name in before) else "equal"


def is_right(value: float) -> bool:
    """Return whether the points of a field are those of a right one."""
    return value > 0


def points(stated: object, right: bool) -> float:
    """Return what a field is worth: 1 where it is right, 0 where it states nothing, -1 where it is wrong."""
    return 1.0 if right else 0.0 if stated is None else -1.0


@dataclass
class Tally:
    """One row of the table: a kind of question, and what became of those of it.

    Attributes:
        kind: What was asked about.
        considered: How many there are, whether they raised a question or not.
        subjects: How many were asked about: verdicts, logs, jobs.
        asked: Questions, of which one subject may need several.
        answered: Answers inside the closed schema.
        effective: Subjects of which the checks let something of the answer through.
        changes: Judged things (a verdict, a log, a field) by what became of them.
        alone_right: Subjects of which the model's own word, before any check, was right; null where it is not judged.
        right_without: Judged fields that are right without a model.
        right_with: Judged fields that are right with it.
        fields: Judged fields.
        seconds: Time of each answer.
        tokens: Tokens of all prompts and of all answers, as the server counts them.
    """

    kind: str
    considered: int = 0
    subjects: int = 0
    asked: int = 0
    answered: int = 0
    effective: int = 0
    changes: Counter[Change] = field(default_factory=Counter)
    alone_right: int | None = None
    right_without: int = 0
    right_with: int = 0
    fields: int = 0
    seconds: list[float] = field(default_factory=list)
    tokens: tuple[int, int] = (0, 0)

    def judge(self, before: Mapping[str, float], after: Mapping[str, float]) -> None:
        """Count what became of the points of one thing's fields."""
        self.changes[compared(before, after)] += 1
        self.right_without += sum(map(is_right, before.values()))
        self.right_with += sum(map(is_right, after.values()))
        self.fields += len(before)

    @property
    def share_asked(self) -> float:
        """Questions for each thing that was considered."""
        return self.asked / self.considered if self.considered else 0.0

    def cells(self) -> tuple[str, ...]:
        """Return the row's text."""
        return (
            self.kind,
            str(self.subjects),
            f"{self.answered} of {self.asked}",
            f"{self.subjects - self.effective}",
            "-" if self.alone_right is None else str(self.alone_right),
            *(str(self.changes[change]) for change in ("better", "equal", "worse")),
            f"{self.right_without / self.fields:.1%}" if self.fields else "-",
            f"{self.right_with / self.fields:.1%}" if self.fields else "-",
            f"{statistics.median(self.seconds):.1f}" if self.seconds else "-",
            *(f"{each / self.answered:.0f}" if self.answered and each else "-" for each in self.tokens),
        )


HEADINGS = (
    "asked about",
    "of them",
    "answers in the schema",
    "without effect",
    "model alone right",
    "better",
    "equal",
    "worse",
    "right without",
    "right with",
    "s an answer",
    "tokens a prompt",
    "tokens an answer",
)
