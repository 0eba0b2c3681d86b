"""What an operator sets of the interference monitor."""

from typing import Annotated

from pydantic import BaseModel, Field, NonNegativeInt


class InterferenceSettings(BaseModel, frozen=True, extra="forbid"):
    """When a job counts as slowed by another one."""

    slowdown_threshold: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.65, description="Throughput after over before, below which it is a slowdown."
    )
    warmup_steps: NonNegativeInt = Field(30, description="Steps after a packing that are not measured.")
