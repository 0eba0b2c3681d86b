"""The settings of the processors: a model for each part, and the section that they make up.

Every command reads them, so this module imports none of the parts.
"""

from typing import Annotated

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat, PositiveInt


class NoSettings(BaseModel, frozen=True, extra="forbid"):
    """No settings."""


class ClassifierSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of the line classifier."""

    embedder: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")] = Field(
        "none",
        description="Embedder for classifying lines without a known signature: onnx, flag, http, or another installed "
        "one; none: only character n-grams.",
    )
    embedder_model: str = Field(
        "",
        description="Directory or name of the embedding model; empty: BGE-m3 for `flag`, the server's first model for `http`.",
    )
    embedder_url: str = Field(
        "",
        description="Server of the embedding model for `http`, such as http://gpu1:8000/v1. Without it, lines are still classified.",
    )


class SignatureSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of the classification of lines."""

    signatures: str = Field("", description="Your own signatures: a TOML file, or a directory of them. Empty: none.")


class ActivitySettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of the alarms for hangs and idle GPUs."""

    hang_seconds: PositiveFloat = Field(
        300.0, description="Minimum seconds without a report before a job counts as hung."
    )
    hang_confirmed_seconds: PositiveFloat = Field(
        90.0, description="The same, if the job's GPUs waited in a kernel or were idle all that time."
    )
    gpus_idle_seconds: PositiveFloat = Field(
        1800.0, description="Seconds for which allocated GPUs may be idle before an alarm is raised."
    )


class InterferenceSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of the interference monitor."""

    slowdown_threshold: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.65,
        description="Ratio of throughput after a packing to throughput before it, below which the packing is a slowdown.",
    )
    warmup_steps: NonNegativeInt = Field(30, description="Steps after a packing that are not measured.")


class TrackerSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of the metric tracker."""

    reports: PositiveInt = Field(20, description="Number of newest reports used for medians.")


class QuestionSettings(BaseModel, frozen=True, extra="forbid"):
    """Whether language models are asked."""

    ask_models: bool = Field(
        False,
        description="Whether workers ask model workers about failed attempts and unknown log formats.",
    )
    failure_table: str = Field(
        "",
        description="Table that decides when rules and model disagree on a failure: a file that `schedmate models "
        "table` printed. Empty: the shipped table.",
    )


class FormatSettings(BaseModel, frozen=True, extra="forbid"):
    """Which log formats are known from the start."""

    formats: str = Field(
        "", description="Your own log formats: a file that `schedmate formats export` or `teach` wrote. Empty: none."
    )


class ProcessorSettings(
    QuestionSettings,
    FormatSettings,
    ActivitySettings,
    InterferenceSettings,
    TrackerSettings,
    SignatureSettings,
    ClassifierSettings,
):
    """Settings of the processors."""
