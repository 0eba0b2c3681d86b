"""Settings of the advisor."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, NonNegativeFloat

from streams.settings import STATE

CURRENT = "current"
"""In the directory of trained models, the link to the one in use."""


class AdvisorSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of estimates for submitted jobs."""

    history: Path = Field(
        STATE / "history.db",
        description="File with the ended jobs; created if it does not exist.",
    )
    models: Path = Field(
        STATE / "advisor-models",
        description="Directory of trained models. The link `current` names the one used if no past job is similar.",
    )
    embedder: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")] = Field(
        "none",
        description="Embedder of metadata records: onnx (ONNX Runtime on CPU), flag (FlagEmbedding on a GPU), or "
        "another installed one; none: only their words.",
    )
    embedder_model: str = Field(
        "", description="Directory or name of the embedding model; empty: BGE-m3, only for `flag`."
    )
    vectors: Literal["memory", "redis"] = Field(
        "memory",
        description="Store of the vectors of past jobs: memory (in each process) or redis (`redis.url`; vector sets from Redis 8).",
    )
    train_hours: NonNegativeFloat = Field(
        24.0,
        description="Hours between two checks of the model. It is trained if it has drifted or does not exist. 0: never.",
    )
