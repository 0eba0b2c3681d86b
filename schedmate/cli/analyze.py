"""`schedmate analyze`: what a stored log holds."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from schedmate.cli.console import say, say_json, warn
from schedmate.cli.listing import print_rows
from schedmate.settings import Loaded

if TYPE_CHECKING:
    from schedmate.analysis import Analysis

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

Form = Literal["table", "json", "csv", "html"]

COLUMNS = (
    *(("", name) for name in ("file", "lines")),
    *(
        ("progress", name)
        for name in ("last_step", "epoch", "last_loss", "step_time_s", "throughput", "throughput_unit")
    ),
    *(("progress", name) for name in ("method", "confidence")),
    *(
        ("failure", name)
        for name in ("error_type", "faulty_component", "signature", "restartable", "root_line", "message")
    ),
)
"""What a row of CSV holds, by its place in the JSON object."""


SHORT = tuple(
    column
    for column in COLUMNS
    if column[1] in {"file", "last_step", "last_loss", "step_time_s", "error_type", "signature", "root_line"}
)
"""What a row of the table holds, for a person."""


@app.command()
def command(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(help="Logs, plain, gz or zst; - for standard input.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a file, a line each.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV with a header: a row a file.")] = False,
    as_table: Annotated[bool, typer.Option("--table", help="A table: a row a file.")] = False,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a page of HTML with curves, verdicts and quoted lines; it needs nothing else."
        ),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option(
            "--format",
            help="The same by name, all to standard output; left out, a text for a person.",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show every reading of the step time that was weighed, and why it lost.")
    ] = False,
) -> None:
    """Say what stored logs hold: progress, speed, the verdict on a failure, and the lines it rests on. No server is needed.

    Of a node's kernel or system log (dmesg, journal, syslog) it says what that tells of the node.

    Where `language_model.servers` names servers, or `language_model.load` a model, these are asked about what stays open, and about the
    verdict.

    Examples: `schedmate analyze train.log`, `zcat old.gz | schedmate analyze -`, `schedmate analyze --csv logs/*.log > runs.csv`,
    `schedmate analyze --html runs.html logs/*.log`, `schedmate analyze --format json train.log`
    """
    from schedmate import logging
    from schedmate.analysis import analyze
    from schedmate.assembly import job_processor
    from schedmate.language_models import asked_at_once, language_model
    from schedmate.read_log import LogReader
    from schedmate.report import report
    from schedmate.report_page import page
    from schedmate.safe_console import SafeConsole
    from schedmate.tail import find_tail
    from streams.producers.stored import UnreadableLog

    form = _form(form, html, as_json=as_json, as_csv=as_csv, as_table=as_table)
    loaded: Loaded = context.obj
    model = language_model(loaded.settings.language_model)
    asked = {"ask_models": model is not None}
    processor = job_processor(loaded.settings.processors.model_copy(update=asked))
    ask = asked_at_once(model) if model else None
    if model:
        logging.configure(loaded.settings.service)  # what a server does wrong is said on standard error
    console, failed = SafeConsole(soft_wrap=True), False
    whole = form in {"table", "csv", "html"}
    results: list[Analysis] = []
    with LogReader(files, speaks=not whole and len(files) > 1) as reader:
        for file in reader.files():
            try:
                tail = find_tail(file, processor, loaded.settings.processors.reports)
                result = analyze(file, reader.chunks(file), processor, tail, ask)
            except UnreadableLog as error:
                warn(str(error))
                failed = True
                continue
            if whole:
                results.append(result)
            elif form == "json":
                say_json(json.dumps(result.contract(), ensure_ascii=False))
            else:
                console.print(report(result, explain))
    if form == "html":
        _write_page(page(results, explain), html, len(results))
    elif whole:
        columns = COLUMNS if form == "csv" else SHORT
        print_rows([name for _, name in columns], [_row(each, columns) for each in results], as_csv=form == "csv")
    if failed:
        raise typer.Exit(2)


def _form(form: Form | None, html: Path | None, *, as_json: bool, as_csv: bool, as_table: bool) -> Form | None:
    """Return the one form that was asked for; None: a text for a person."""
    short: dict[Form, bool] = {"json": as_json, "csv": as_csv, "table": as_table, "html": html is not None}
    asked: list[Form] = [name for name, wanted in short.items() if wanted] + ([form] if form else [])
    if len(asked) > 1:
        raise typer.BadParameter("--json, --csv, --table, --html and --format exclude each other")
    return asked[0] if asked else None


def _write_page(text: str, file: Path | None, logs: int) -> None:
    if file is None:
        say(text)
        return
    file.write_text(text, encoding="utf-8")
    say(f"wrote {file}: {logs} log{'' if logs == 1 else 's'}")


def _row(result: "Analysis", columns: Sequence[tuple[str, str]]) -> list[object]:
    contract = result.contract()
    return [(contract[part] or {}).get(name) if part else contract[name] for part, name in columns]
