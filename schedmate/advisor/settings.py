"""What an operator sets of the advisor."""

from pathlib import Path

from pydantic import BaseModel, Field


class AdvisorSettings(BaseModel, frozen=True, extra="forbid"):
    """What estimates of submitted jobs rest on."""

    history: Path = Field(
        Path("/var/lib/schedmate/history.db"),
        description="File that holds the jobs that ended; made where there is none.",
    )
