"""Settings that are lists: in a file as such, in the environment or behind `--set` as text with commas."""

from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_settings import NoDecode


def split(value: Any) -> Any:
    """Return the parts of a text with commas; anything else as it is."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Listed = Annotated[tuple[str, ...], NoDecode, BeforeValidator(split)]
