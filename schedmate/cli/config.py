"""`schedmate config`: the settings in force and where each came from."""

from typing import Annotated

import typer
from pydantic import BaseModel, SecretStr

from ..settings.settings import Loaded, Settings
from .console import print_line
from .listing import Csv, Json, print_rows

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    *,
    changed: Annotated[
        bool, typer.Option("--changed", help="Show only settings that differ from their defaults.")
    ] = False,
    as_example: Annotated[
        bool, typer.Option("--example", help="Print a settings file with every setting, its default and what it does.")
    ] = False,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Show every setting with its value and source. Passwords are never shown.

    Examples: `SCHEDMATE_KAFKA__BROKERS=k1:9092 schedmate config --changed`, `schedmate config --example > schedmate.toml`
    """
    if as_example:
        from ..settings.example import example

        print_line(example())
        return
    from ..plugins.loading import plugins_named
    from ..plugins.schedulers import chosen_scheduler, section_of

    loaded: Loaded = context.obj
    sections: dict[str, BaseModel] = {section: getattr(loaded.settings, section) for section in Settings.model_fields}
    chosen = chosen_scheduler(loaded)
    sections[chosen.name] = section_of(loaded, chosen)
    for name in sorted(loaded.plugins.values):
        for plugin in plugins_named(name):
            sections[name] = loaded.plugins.read(name, plugin.settings)
    rows = []
    for section, values in sections.items():
        for name, field in type(values).model_fields.items():
            origin = loaded.origins.get((section, name), "default")
            if not changed or origin != "default":
                rows.append((f"{section}.{name}", _as_text(getattr(values, name)), origin, field.description))
    columns = ("setting", "value", "from", "what it does")
    print_rows(columns, rows, as_json=as_json, as_csv=as_csv, empty="every setting has its default")


def _as_text(value: object) -> str:
    if isinstance(value, SecretStr):
        return "(set)" if value.get_secret_value() else "(not set)"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "(none)"
    if isinstance(value, dict):
        return ", ".join(f"{name}={to}" for name, to in value.items()) or "(none)"
    return "(none)" if value in (None, "") else str(value)
