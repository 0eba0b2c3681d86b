"""What an operator sets of the advisor."""

from pathlib import Path
from typing import Annotated, Literal

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
        description="Directory of trained models; `current` in it is the one that answers where no past job is similar.",
    )
    embedder: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")] = Field(
        "none",
        description="Embedder of metadata records: onnx (ONNX Runtime on CPU), flag (FlagEmbedding on a GPU), or another one that is "
        "installed; none: their words alone.",
    )
    embedder_model: str = Field(
        "", description="Directory or name of the embedding model; empty: BGE-m3, for `flag` alone."
    )
    vectors: Literal["memory", "redis"] = Field(
        "memory",
        description="Where vectors of past jobs are kept: in each process, or in Redis (`redis.url`); its vector sets from Redis 8 on.",
    )
    train_hours: NonNegativeFloat = Field(
        24.0,
        description="Hours between two looks whether that model has drifted; where it has, or there is none, one is trained. 0: never.",
    )
