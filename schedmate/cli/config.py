"""`schedmate config`: the settings in force and where each came from."""

from typing import Annotated

import typer
from pydantic import SecretStr
from rich.table import Table

from schedmate.cli.console import console
from schedmate.settings import Loaded, Settings

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    changed: Annotated[bool, typer.Option("--changed", help="Only what differs from the defaults.")] = False,
) -> None:
    """Show every setting, its value and where it came from. Passwords are never shown.

    Example: `SCHEDMATE_KAFKA__BROKERS=k1:9092 schedmate config --changed`
    """
    loaded: Loaded = context.obj
    table = Table("setting", "value", "from", "what it does", box=None, pad_edge=False)
    for section in Settings.model_fields:
        values = getattr(loaded.settings, section)
        for name, field in type(values).model_fields.items():
            origin = loaded.origins.get((section, name), "default")
            if changed and origin == "default":
                continue
            table.add_row(f"{section}.{name}", _shown(getattr(values, name)), origin, field.description)
    console().print(table)


def _shown(value: object) -> str:
    if isinstance(value, SecretStr):
        return "(set)" if value.get_secret_value() else "(not set)"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "(none)"
    if isinstance(value, dict):
        return ", ".join(f"{name}={to}" for name, to in value.items()) or "(none)"
    return "(none)" if value in (None, "") else str(value)
