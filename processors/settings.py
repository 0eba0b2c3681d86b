"""The settings of the processors: a model for each part, and the section that they make up.

Every command reads them, so this module imports none of the parts.
"""

from typing import Annotated

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat, PositiveInt


class NoSettings(BaseModel, frozen=True, extra="forbid"):
    """No settings."""


class ClassifierSettings(BaseModel, frozen=True, extra="forbid"):
    """How lines are classified."""

    embedder: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")] = Field(
        "none",
        description="Embedder that helps to classify lines that no signature knows: onnx, flag, http, or another one that is installed; "
        "none: character n-grams alone.",
    )
    embedder_model: str = Field(
        "",
        description="Directory or name of the embedding model; empty: BGE-m3 for `flag`, the first that a server has for `http`.",
    )
    embedder_url: str = Field(
        "",
        description="Server of the embedding model for `http`, such as http://gpu1:8000/v1. Away, lines are classified without it.",
    )


class SignatureSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of the classification of lines."""

    signatures: str = Field("", description="Your own signatures: a TOML file, or a directory of them. Empty: none.")


class ActivitySettings(BaseModel, frozen=True, extra="forbid"):
    """When a job counts as hanging, and when its GPUs count as held for nothing."""

    hang_seconds: PositiveFloat = Field(300.0, description="A job that reports nothing for less than this never hangs.")
    hang_confirmed_seconds: PositiveFloat = Field(
        90.0, description="The same where its GPUs wait in a kernel, or are idle, for as long."
    )
    gpus_idle_seconds: PositiveFloat = Field(
        1800.0, description="GPUs that are held and idle for longer raise an alarm."
    )


class InterferenceSettings(BaseModel, frozen=True, extra="forbid"):
    """When a job counts as slowed by another one."""

    slowdown_threshold: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.65, description="Throughput after over before, below which it is a slowdown."
    )
    warmup_steps: NonNegativeInt = Field(30, description="Steps after a packing that are not measured.")


class TrackerSettings(BaseModel, frozen=True, extra="forbid"):
    """How progress is measured."""

    reports: PositiveInt = Field(20, description="Newest reports that the medians rest on.")


class QuestionSettings(BaseModel, frozen=True, extra="forbid"):
    """Whether language models are asked."""

    ask_models: bool = Field(
        False,
        description="Whether workers ask model workers why attempts failed, and about log formats that are not known.",
    )
    failure_table: str = Field(
        "",
        description="Who decides where rules and model disagree on a failure: a file that `schedmate models table` printed. "
        "Empty: the table that ships.",
    )


class FormatSettings(BaseModel, frozen=True, extra="forbid"):
    """Which log formats are known from the start."""

    formats: str = Field(
        "", description="Log formats of your own: a file that `schedmate formats export` or `teach` wrote. Empty: none."
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
    """How lines are understood."""
