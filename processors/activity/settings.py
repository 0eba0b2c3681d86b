"""What an operator sets of hangs and of GPUs that are held and idle."""

from pydantic import BaseModel, Field, PositiveFloat


class ActivitySettings(BaseModel, frozen=True, extra="forbid"):
    """When a job counts as hanging, and when its GPUs count as held for nothing."""

    hang_seconds: PositiveFloat = Field(300.0, description="A job that reports nothing for less than this never hangs.")
    hang_confirmed_seconds: PositiveFloat = Field(
        90.0, description="The same where its GPUs wait in a kernel, or are idle, for as long."
    )
    gpus_idle_seconds: PositiveFloat = Field(
        1800.0, description="GPUs that are held and idle for longer raise an alarm."
    )
