"""What an operator sets of the processors: a structure for each part, declared by it, and the section that they make up."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat, PositiveInt


class ClassifierSettings(BaseModel, frozen=True, extra="forbid"):
    """How lines are classified."""

    embedder: Literal["none", "onnx", "flag", "http"] = Field(
        "none", description="What helps to classify lines that no signature knows; character n-grams alone without one."
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
    """Which lines tell of failures."""

    signatures: str = Field("", description="Your own signatures: a TOML file, or a directory of them. Empty: none.")


class TrackerSettings(BaseModel, frozen=True, extra="forbid"):
    """How progress is measured."""

    reports: PositiveInt = Field(20, description="Newest reports that the medians rest on.")


class InterferenceSettings(BaseModel, frozen=True, extra="forbid"):
    """When a job counts as slowed by another one."""

    slowdown_threshold: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.65, description="Throughput after over before, below which it is a slowdown."
    )
    warmup_steps: NonNegativeInt = Field(30, description="Steps after a packing that are not measured.")


class AlarmSettings(BaseModel, frozen=True, extra="forbid"):
    """When a job counts as hanging, and when its GPUs count as held for nothing."""

    hang_seconds: PositiveFloat = Field(300.0, description="A job that reports nothing for less than this never hangs.")
    hang_confirmed_seconds: PositiveFloat = Field(
        90.0, description="The same where its GPUs wait in a kernel, or are idle, for as long."
    )
    gpus_idle_seconds: PositiveFloat = Field(
        1800.0, description="GPUs that are held and idle for longer raise an alarm."
    )


class QuestionSettings(BaseModel, frozen=True, extra="forbid"):
    """Whether language models are asked."""

    ask_models: bool = Field(
        False, description="Whether workers ask model workers about verdicts, and about reports that tell no speed."
    )


class ProcessorSettings(
    QuestionSettings, AlarmSettings, InterferenceSettings, TrackerSettings, SignatureSettings, ClassifierSettings
):
    """How lines are understood."""
