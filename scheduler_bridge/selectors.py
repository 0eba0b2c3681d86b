"""Classes of jobs that an operator names: by partition, account, quality of service, user and priority."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from schedmate_records import UserError

from .schedulers import JobView, NodeView

_FIELDS = ("partition", "account", "qos", "user")
_TERM = re.compile(rf"\s*({'|'.join(_FIELDS)})\s*=\s*([A-Za-z0-9@._/-]+)\s*|\s*priority\s*>=\s*([0-9]+)\s*", re.ASCII)


class SelectorError(UserError):
    """A text that names no class of jobs."""


@dataclass(frozen=True, slots=True)
class Selector:
    """A class of jobs: those of which all terms hold.

    Attributes:
        terms: Field and value, such as `("partition", "spot")`.
        priority: Least priority, in the scheduler's own numbers; None: any.
    """

    terms: tuple[tuple[str, str], ...] = ()
    priority: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Selector":
        """Read `partition=spot`, or several terms that must all hold: `qos=urgent&account=lab`, `partition=p&priority>=1000`; `*` is all.

        Raises:
            SelectorError: It names no class.
        """
        terms: list[tuple[str, str]] = []
        priority: int | None = None
        if text.strip() == "*":
            return cls()
        for part in text.split("&"):
            found = _TERM.fullmatch(part)
            if found is None:
                terms_of = ", ".join(f"{name}=NAME" for name in _FIELDS)
                expected = f"terms such as {terms_of} or priority>=NUMBER, joined by &, or *"
                raise SelectorError(f"expected {expected}; got {part[:60]!r}")
            if found[1]:
                terms.append((found[1], found[2]))
            else:
                priority = int(found[3])
        return cls(tuple(terms), priority)

    def matches(self, job: JobView) -> bool:
        """True for a job of the class. A job of several partitions is of each."""
        if self.priority is not None and (job.priority is None or job.priority < self.priority):
            return False
        return all(value in getattr(job, name).split(",") for name, value in self.terms)

    def covers(self, node: NodeView) -> bool:
        """True for a node of the class: a node has partitions, and none of the other things."""
        return self.priority is None and all(name == "partition" and value in node.pools for name, value in self.terms)

    def __str__(self) -> str:
        terms = [f"{name}={value}" for name, value in self.terms]
        return "&".join([*terms, *([f"priority>={self.priority}"] if self.priority is not None else [])]) or "*"


def matches_any(selectors: Iterable[Selector], job: JobView) -> bool:
    """True where a job is of one of the classes."""
    return any(selector.matches(job) for selector in selectors)
