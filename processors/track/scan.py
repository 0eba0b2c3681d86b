"""The reverse scan (SchedMate §3.2): lines from the newest backwards, until enough reports are found."""

import re

from .reports import Report

_EVALUATED = re.compile(r"(?i)\b(?:val|valid|validation|eval|test|dev)[_/ -]?(?:\w*_)?loss")


def is_bare_bar(line: str) -> bool:
    """Return whether `line` is a progress bar without a loss of the training: its step and speed may be those of an evaluation."""
    if not ("it/s" in line or "s/it" in line) or ("oss" in line and "oss" in _EVALUATED.sub("", line)):
        return False
    head = line[: max(line.find("%"), 0)]
    return "poch" not in head and "rain" not in head


def step_time_of_bar(bar: Report, step: int | None, epoch: float | None) -> float | None:
    """Return the seconds per step of a bar at `step`, or at the end of `epoch`; None for another bar.

    A bar that ended at the step itself may count anything: epochs, batches of an evaluation.
    """
    if not step or not bar.step or bar.total is None:
        return None
    ended, epochs = bar.step == bar.total, epoch or 0.0
    if not (epochs > 1 and step == epochs * bar.total if ended else step == bar.step):
        return None
    stated = (seconds for key, seconds in bar.times.items() if key.startswith("step:"))
    return 1 / bar.step_rate if bar.step_rate else next(stated, None)


class Scan:
    """Collects lines, newest first.

    Args:
        limit: Number of reports that is enough.
        named: A report has named its step before. Bare bars are left out from then on.

    Attributes:
        named: As above, the lines so far included.
        whole: No line was left out because there were enough.
    """

    def __init__(self, limit: int, named: bool) -> None:
        self.named = named
        self.whole = True
        self._limit = limit
        self._found: list[tuple[Report, bool, bool]] = []
        self._begun = 0
        self._step: int | None = None
        self._total: int | None = None

    @property
    def done(self) -> bool:
        """Whether no older line can change the result."""
        if self.named and self._begun > self._limit:
            self.whole = False
            return True
        return False

    def wants(self, bare: bool) -> bool:
        """Return whether a line must be read that is, or is not, a bare bar."""
        if not bare:
            return True
        if self._begun > self._limit and not self.named:
            self.whole = False
            return False
        return not self.named

    def add_report(self, report: Report | None, fragment: bool, bare: bool) -> None:
        """Take the report of a line, older than all so far."""
        if report is None:
            return
        report.bare = bare
        if not bare and report.step and not self.named:  # a step of 0 may be printed once, before training begins
            self.named = True
            kept = [entry for entry in self._found if not entry[2]]
            self._found, self._begun, self._step, self._total = [], 0, None, None
            for entry in kept:
                self._add(*entry)
        self._add(report, fragment, bare)

    def _add(self, report: Report, fragment: bool, bare: bool) -> None:
        """Count the reports that surely begin between the lines found, whatever came before them."""
        if report.step is not None:
            other_end = None not in (report.total, self._total) and report.total != self._total
            self._begun += self._step is not None and (report.step != self._step or other_end)
            self._step, self._total = report.step, report.total
        elif self._found:
            newer, is_fragment, _ = self._found[-1]
            repeats = bool(report.times or report.rates or report.loss_rank == 0)
            self._begun += newer.step is None and newer.shape == report.shape and not is_fragment and repeats
        self._found.append((report, fragment, bare))

    def lines(self) -> list[tuple[Report, bool]]:
        """Return the reports, oldest first, each with whether it is a fragment. The oldest may be the middle of a report."""
        kept = self._found if self.whole else self._found[:-1]
        return [(report, fragment) for report, fragment, _ in reversed(kept)]
