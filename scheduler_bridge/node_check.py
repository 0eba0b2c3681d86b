"""The outcome of an operator's check of a node."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeCheck:
    """The outcome of a check.

    Attributes:
        passed: The command found the node healthy; None where it did not run, or did not end.
        detail: The outcome in one line.
        output: What the command printed, the last part.
    """

    passed: bool | None
    detail: str
    output: str = ""

    @classmethod
    def from_output(cls, exit_code: int | None, output: str) -> "NodeCheck":
        """Return the outcome of a command that ends with 0 where the node is well."""
        lines = [line for line in output.splitlines() if line.strip()]
        last = "".join(letter for letter in (lines[-1] if lines else "") if letter.isprintable())[:200]
        if exit_code is None:
            return cls(None, f"the node could not be checked: {(lines or ['no output'])[0][:200]}", output)
        outcome = "passed" if exit_code == 0 else f"failed (exit code {exit_code})"
        return cls(exit_code == 0, f"the check {outcome}" + (f": {last}" if last else ""), output)
