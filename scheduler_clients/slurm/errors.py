"""What can go wrong with Slurm, by name."""

from records import UserError


class SlurmError(UserError):
    """Slurm did not do, or did not tell, what was asked; the text says what was expected, what came, and what to do."""

    def __init__(self, expected: str, came: str, remedy: str) -> None:
        super().__init__(f"expected {expected}; came: {came}; {remedy}")
        self.expected = expected
        self.came = came
        self.remedy = remedy


class SlurmUnavailable(SlurmError):
    """The controller does not answer, or Slurm's commands are not installed: nothing is known."""


class UnknownSlurmJob(SlurmError):
    """Slurm does not know the job, or does not know it any more (MinJobAge)."""


class SlurmRefused(SlurmError):
    """Slurm answered, and refused."""
