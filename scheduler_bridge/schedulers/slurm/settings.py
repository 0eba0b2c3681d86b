"""Settings of Slurm: the section `[slurm]`."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field
from pydantic_settings import NoDecode


def _listed(value: Any) -> Any:
    """Split what the environment or a flag gives as text."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


ClusterName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]


class SlurmSection(BaseModel, frozen=True, extra="forbid"):
    """Which clusters the bridge, the watchers and the producers know."""

    clusters: Annotated[tuple[ClusterName, ...], NoDecode, BeforeValidator(_listed)] = Field(
        (),
        description="Slurm clusters in addition to the local one, by their names in slurmdbd (`sacctmgr show "
        "clusters`). Their jobs have ids of the form `NAME/ID`.",
    )
