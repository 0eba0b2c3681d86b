"""`schedmate analyze`: what a stored log holds."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from schedmate_records import UserError, counted, in_words

from ..settings.settings import Loaded
from .console import print_json, print_line, warn
from .listing import print_rows

if TYPE_CHECKING:
    from ..analysis.analysis import Analysis

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
"""Columns of CSV, by their path in the JSON object."""


SHORT = tuple(
    column
    for column in COLUMNS
    if column[1]
    in {
        "file",
        "last_step",
        "last_loss",
        "step_time_s",
        "throughput",
        "throughput_unit",
        "error_type",
        "signature",
        "root_line",
    }
)
"""Columns of the table."""


@app.command()
def command(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(help="Logs, plain, gz or zst; - for standard input.")],
    *,
    form: Annotated[
        Form | None,
        typer.Option(
            "--format",
            help="Output format: table, json (one object per line) and csv have one row per file; html is a page with curves, verdicts and "
            "quoted lines.",
            show_default="a text for a person",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write an HTML page to FILE, in addition to the printed output."),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show the candidates for step time, step and loss, their scores, and why they were rejected.",
        ),
    ] = False,
    questions: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write each question to a language model into a file in DIR and use the answer file next to it, if there is one. No "
            "server is asked.",
        ),
    ] = None,
) -> None:
    """Report the progress, speed and failure verdict of stored logs, with the lines that support the verdict. No server is needed.

    For a node's kernel or system log (dmesg, journal, syslog) it reports the findings about the node.

    If `language_model.servers` or `language_model.load` is set, a language model is asked about unknown formats and uncertain verdicts.

    Examples: `schedmate analyze train.log`, `zcat old.gz | schedmate analyze -`, `schedmate analyze --format csv logs/*.log > runs.csv`,
    `schedmate analyze --html runs.html logs/*.log`, `schedmate analyze --questions questions/ train.log`
    """
    from processors.diagnose.failure_question import TrackRecord
    from streams.producers.stored import UnreadableLog

    from ..analysis.analysis import analyze
    from ..analysis.read_log import LogReader
    from ..analysis.tail import find_tail
    from ..assembly import job_processor
    from ..models.language_models import asked_at_once, language_model
    from ..models.question_files import QuestionFolder
    from ..report.page import page
    from ..report.report import report
    from .safe_console import SafeConsole

    if as_json and form not in {None, "json"}:
        raise typer.BadParameter(f"--json and --format {form} exclude each other")
    form = "json" if as_json else form
    loaded: Loaded = context.obj
    model = QuestionFolder(questions) if questions else language_model(loaded.settings.language_model)
    asked = {"ask_models": model is not None}
    processor = job_processor(loaded.settings.processors.model_copy(update=asked), sections=loaded.plugins)
    # a person chooses the answers in files
    ask = asked_at_once(model, TrackRecord(tried=questions is not None)) if model else None
    console, failed = SafeConsole(soft_wrap=True), False
    prints = form is None and html is None
    results: list[Analysis] = []
    with LogReader(files, prints=len(files) > 1 and (prints or form == "json")) as reader:
        for file in reader.files():
            try:
                tail = find_tail(file, processor, loaded.settings.processors.reports)
                chunks = list(reader.chunks(file)) if ask and tail is None else reader.chunks(file)
                result = analyze(file, chunks, processor, tail, ask)
            except UnreadableLog as error:
                warn(str(error))
                failed = True
                continue
            if form == "json":
                print_json(json.dumps(result.contract(), ensure_ascii=False))
            elif prints:
                console.print(report(result, explain))
            if html or form in {"table", "csv", "html"}:
                results.append(result)
    _print_all(results, form, explain)
    if html:
        _write(html, page(results, explain))
        (warn if form else print_line)(f"wrote {html}: {counted(len(results), 'log')}")
    if failed:
        raise typer.Exit(2)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"expected to write {file}: {in_words(error)}") from error


def _print_all(results: Sequence["Analysis"], form: Form | None, explain: bool) -> None:
    """Print what takes all results; what concerns one file at a time has been printed by now."""
    from ..report.page import page

    if form == "html":
        print_line(page(results, explain))
    if form not in {"table", "csv"}:
        return
    columns = COLUMNS if form == "csv" else SHORT
    print_rows([name for _, name in columns], [_row(each, columns) for each in results], as_csv=form == "csv")


def _row(result: "Analysis", columns: Sequence[tuple[str, str]]) -> list[object]:
    contract = result.contract()
    return [(contract[part] or {}).get(name) if part else contract[name] for part, name in columns]
