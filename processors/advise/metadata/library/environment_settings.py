"""pydantic's `BaseSettings`: fields that the environment sets (pydantic-settings' documentation, "Environment variable names")."""

from typing import Any

from ..values import Class, Instance, Term
from .parsing import scalar

Program = Any


def read_environment(program: Program, instance: Instance) -> None:
    """Set the fields of an object of `BaseSettings` that the job's environment names; the prefix is as its class says."""
    prefix = _prefix(instance.cls)
    environment = {key.lower(): value for key, value in program.environment.items()}
    for name in instance.names:
        value = environment.get(f"{prefix}{name}".lower())
        if isinstance(value, str):
            instance.names[name] = scalar(value)
    program.trace.settings.append(("command line", instance.names))


def is_settings(cls: Class) -> bool:
    """Whether a class reads its fields from the environment."""
    return any(base.endswith("BaseSettings") for base in cls.external_bases())


def _prefix(cls: Class) -> str:
    held = cls.find("model_config")
    given = held.keywords if isinstance(held, Term) else held if isinstance(held, dict) else {}
    inner = cls.find("Config")
    found = given.get("env_prefix", inner.names.get("env_prefix") if isinstance(inner, Class) else None)
    return found if isinstance(found, str) else ""


__all__ = ["is_settings", "read_environment"]
