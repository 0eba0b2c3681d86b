"""Real schedulers to measure on, one after the other: what they share, and how each is asked."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from .kubernetes import kubernetes_site
from .site import Site
from .slurm import slurm_site

SITES: dict[str, Callable[[], AbstractContextManager[Any]]] = {"Slurm": slurm_site, "Kubernetes": kubernetes_site}

__all__ = ["SITES", "Site"]
