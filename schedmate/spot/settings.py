"""Settings of the spot manager."""

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, BeforeValidator, Field, PositiveFloat, PositiveInt, field_validator
from pydantic_settings import NoDecode

from ..settings.listed import split


class SpotSettings(BaseModel, frozen=True, extra="forbid"):
    """Quota of spot jobs. `bridge.evictable` and `bridge.evict_for` define which jobs are spot jobs."""

    cluster: Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9._-]+$")] = Field(
        "cluster", description="Name of this cluster in quotas."
    )
    organisation: Literal["account", "partition", "qos", "user"] = Field(
        "account", description="Field of a job that names its organisation, whose demand is forecast."
    )
    update_seconds: PositiveFloat = Field(300.0, description="Seconds between two quotas.")
    look_seconds: PositiveFloat = Field(
        10.0, description="Maximum seconds between two queries of the queue; a job event causes one earlier."
    )
    guarantee: Annotated[float, Field(gt=0.5, lt=1)] = Field(
        0.9, description="Target probability that a spot job is not evicted within the guaranteed hours."
    )
    guaranteed_hours: Annotated[int, Field(ge=1, le=24)] = Field(1, description="Number of guaranteed hours.")
    history_days: Annotated[PositiveInt, Field(le=56)] = Field(
        28, description="Days of past demand that forecasts learn from. Boosted trees need at least two weeks."
    )
    time_zone: str = Field(
        "UTC", description="Time zone of the users, such as Asia/Shanghai. Daylight saving time is ignored."
    )
    holidays: Annotated[tuple[date, ...], NoDecode, BeforeValidator(split)] = Field(
        (),
        description="Past and future holidays, such as 2031-05-01. Forecasts learn their effect on demand.",
    )

    @field_validator("time_zone")
    @classmethod
    def _is_a_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(f"expected a time zone such as Asia/Shanghai, got {name!r}") from error
        return name

    def local_epoch(self) -> datetime:
        """Return the date and hour of second 0 (1970 in UTC) in the standard time of the zone."""
        now = datetime.now(ZoneInfo(self.time_zone))
        offset = (now.utcoffset() or timedelta()) - (now.dst() or timedelta())
        return (datetime.fromtimestamp(0, UTC) + offset).replace(tzinfo=None)
