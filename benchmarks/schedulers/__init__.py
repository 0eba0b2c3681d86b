"""Real schedulers to measure on, one after the other: what they share, and how each is asked."""

from .kubernetes import kubernetes_site
from .site import Site
from .slurm import slurm_site

SITES = {"Slurm": slurm_site, "Kubernetes": kubernetes_site}

__all__ = ["SITES", "Site"]
