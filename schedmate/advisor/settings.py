"""What an operator sets of the advisor."""

from pathlib import Path

from pydantic import BaseModel, Field, NonNegativeFloat

from streams.settings import STATE

CURRENT = "current"
"""In the directory of trained models, the link to the one in use."""


class AdvisorSettings(BaseModel, frozen=True, extra="forbid"):
    """What estimates of submitted jobs rest on."""

    history: Path = Field(
        STATE / "history.db",
        description="File that holds the jobs that ended; made where there is none.",
    )
    models: Path = Field(
        STATE / "advisor-models",
        description="Directory of trained models; `current` in it is the one that answers where no past job is alike.",
    )
    train_hours: NonNegativeFloat = Field(
        24.0,
        description="Hours between two looks whether that model has drifted; where it has, or there is none, one is trained. 0: never.",
    )
