"""All targets: importing this file registers them. A new group is a new file and a name here."""

from tests.fuzz import files, models, producers, records, schedulers, sources

from .targets import TARGETS, Target

__all__ = ["TARGETS", "Target", "files", "models", "producers", "records", "schedulers", "sources"]
