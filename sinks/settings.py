"""Settings of the databases."""

from pathlib import Path

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat, PositiveInt


class ClickHouseSettings(BaseModel, frozen=True, extra="forbid"):
    """ClickHouse: a server, or a directory of the embedded engine."""

    url: str = Field(
        "http://default@localhost:8123/schedmate",
        description="Address of a server, http://user@host:port/database; or chdb:///directory for the embedded engine.",
    )
    ssl_cafile: str = Field("", description="Certificate authority of https://, PEM; empty: the system's own.")
    reader: str = Field(
        "",
        description="User for queries and the page, such as schedmate-reader. It needs only SELECT. Empty: the user of url.",
    )
    reader_password_file: Path | None = Field(None, description="A file that holds the password of reader.")
    retention_days: PositiveInt = Field(90, description="Days for which rows are kept.")
    job_lines_days: NonNegativeInt = Field(
        0, description="Days for which lines of jobs are kept for `schedmate logs`; 0: lines are not stored."
    )
    job_lines_mb: PositiveFloat = Field(200.0, description="Maximum megabytes of lines stored per job and day (UTC).")
    batch_rows: PositiveInt = Field(20_000, description="Maximum messages in a batch.")
    batch_seconds: PositiveFloat = Field(0.5, description="Maximum seconds before a batch is written.")


class RedisSettings(BaseModel, frozen=True, extra="forbid"):
    """Redis, which holds the current state of every job."""

    url: str = Field("redis://localhost:6379/0", description="Address; rediss:// for TLS. Empty: Redis is not used.")
    ssl_cafile: str = Field("", description="Certificate authority of rediss://, PEM; empty: the system's own.")
    prefix: str = Field("schedmate:", description="Prefix of all keys.")
    expire_days: PositiveFloat = Field(7.0, description="Days after its last change at which a job's state expires.")
    job_series: NonNegativeInt = Field(
        0, description="Maximum number of running jobs with their own Prometheus series at the sink; 0: none."
    )
