"""What an operator sets of the spot manager."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, PositiveFloat, PositiveInt


class SpotSettings(BaseModel, frozen=True, extra="forbid"):
    """How many GPUs spot jobs may have. Which jobs are spot jobs is what `bridge.evictable` and `bridge.evict_for` say."""

    cluster: Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9._-]+$")] = Field(
        "cluster", description="What quotas call this cluster."
    )
    organisation: Literal["account", "partition", "qos", "user"] = Field(
        "account", description="What tells organisations apart, whose demand is forecast."
    )
    update_seconds: PositiveFloat = Field(300.0, description="Time between two quotas.")
    look_seconds: PositiveFloat = Field(
        10.0, description="Time between two looks at the queue at most; what happens to a job brings one sooner."
    )
    guarantee: Annotated[float, Field(gt=0.5, lt=1)] = Field(
        0.9, description="Probability with which a spot job shall not be evicted within the guaranteed hours."
    )
    guaranteed_hours: Annotated[int, Field(ge=1, le=24)] = Field(1, description="Hours that are guaranteed.")
    history_days: Annotated[PositiveInt, Field(le=56)] = Field(
        28, description="Days of past demand that forecasts are learnt from; two weeks at least for OrgLinear."
    )
