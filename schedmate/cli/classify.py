"""`schedmate classify`: the class of every line."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ..settings.settings import Loaded
from .console import print_json, print_line, warn

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(help="Logs, plain, gz or zst; - for standard input.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per file, with one letter per line.")
    ] = False,
) -> None:
    """Print the class of every line: e error, w warning, p progress, o other.

    Examples: `schedmate classify train.log | grep ^e`, `schedmate classify --json logs/*.log`
    """
    from streams.producers.stored import UnreadableLog

    from ..analysis.classes import classes
    from ..analysis.read_log import LogReader
    from ..assembly import line_classifier

    loaded: Loaded = context.obj
    classifier, failed = line_classifier(loaded.settings.processors), False
    with LogReader(files, prints=not as_json or len(files) > 1) as reader:
        for file in reader.files():
            try:
                if as_json:
                    letters = "".join(letter for letter, _ in classes(reader.chunks(file), classifier))
                    print_json(json.dumps({"file": str(file), "classes": letters}))
                else:
                    for letter, text in classes(reader.chunks(file), classifier):
                        print_line(f"{letter} {text}")
            except UnreadableLog as error:
                warn(str(error))
                failed = True
    if failed:
        raise typer.Exit(2)
