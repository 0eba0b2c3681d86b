"""Kinds of jobs on the real control plane: their definitions, which `tests/servers/install-kubernetes-kinds.sh` brings."""

import pytest
import yaml

from .kubernetes import BINARIES, Kubernetes

DEFINITIONS = BINARIES.parent / "kinds"


def define(cluster: Kubernetes, *kinds: tuple[str, str, str]) -> None:
    """Define kinds, each by its group, version and plural, and wait until they are served."""
    files = [DEFINITIONS / f"{group}_{plural}.yaml" for group, _, plural in kinds]
    if not all(file.exists() for file in files):
        pytest.skip(f"no definitions in {DEFINITIONS}: tests/servers/install-kubernetes-kinds.sh brings them (Go)")
    for file in files:
        cluster.apply(yaml.load(file.read_text(), yaml.CSafeLoader))
    paths = [f"/apis/{group}/{version}/{plural}" for group, version, plural in kinds]
    cluster.until(lambda: all(cluster.api("GET", one, check=False) for one in paths), "all kinds are served", 240)
