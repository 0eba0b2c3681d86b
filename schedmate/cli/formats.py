"""`schedmate formats`: what the lines of log formats mean."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from schedmate_records import KnownFormat, ModelQuestion, Reports, UserError, counted

from ..settings.settings import Loaded, Settings
from ..terminal import one_line
from .console import print_line, warn
from .listing import Csv, Json, print_rows

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

Fingerprint = Annotated[str, typer.Argument(help="The fingerprint that `list` shows, or its first characters.")]


@app.callback()
def formats() -> None:
    """Show, teach and exchange log formats. A language model or a person describes a format once, and every worker applies it.

    Example: `schedmate formats teach train.log`
    """


@app.command("list")
def list_(context: typer.Context, *, as_csv: Csv = False, as_json: Json = False) -> None:
    """List the known formats of the cluster.

    Example: `schedmate formats list`
    """
    from ..formats.stored import stored_formats

    loaded: Loaded = context.obj
    # Characters of a fingerprint in the table. So many distinguish formats, and leave room for the other columns.
    rows = [
        (each.fingerprint[:12], _utc(each.time), one_line(each.author), _kind(each), one_line(_sample(each)))
        for each in stored_formats(loaded.settings)
    ]
    print_rows(["fingerprint", "since", "author", "reports", "sample"], rows, as_csv=as_csv, as_json=as_json)


@app.command()
def show(context: typer.Context, fingerprint: Fingerprint) -> None:
    """Show the role of each number in the templates of a format.

    Example: `schedmate formats show 1f2e3d`
    """
    known = _find_format(context, fingerprint)
    print_line(f"{known.fingerprint}  {_kind(known)}, by {one_line(known.author)}, {_utc(known.time)}")
    for template in known.templates:
        if template.reports is Reports.NEITHER and not template.columns:
            continue
        print_line(f"{template.reports}: {one_line(template.sample)}")
        for column in template.columns:
            unit = f" in {column.unit}" if column.unit != "none" else ""
            print_line(
                f"  number {column.column + 1}: {column.role}{unit}{f', over {column.steps} steps' if column.steps > 1 else ''}"
            )


@app.command()
def forget(context: typer.Context, fingerprint: Fingerprint) -> None:
    """Remove a format. Workers no longer apply it, and a language model may be asked again.

    Example: `schedmate formats forget 1f2e3d`
    """
    from ..formats.stored import forgotten, store

    known = _find_format(context, fingerprint)
    store(context.obj.settings, [forgotten(known)])
    print_line(f"forgotten: {known.fingerprint}")


@app.command()
def export(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="File to write, one format per line.")],
) -> None:
    """Write all formats to a file. Another site can import it, or name it in `processors.formats`.

    The file contains sample lines of your logs. Example: `schedmate formats export formats.jsonl`
    """
    from ..formats.files import write_formats
    from ..formats.stored import stored_formats

    found = stored_formats(context.obj.settings)
    write_formats(file, found)
    print_line(f"wrote {file}: {counted(len(found), 'format')}")


@app.command("import")
def import_(context: typer.Context, file: Annotated[Path, typer.Argument(help="File that `export` wrote.")]) -> None:
    """Import the formats of a file into the cluster.

    Example: `schedmate formats import formats.jsonl`
    """
    from ..formats.files import read_formats
    from ..formats.stored import imported, store

    found = read_formats(file)
    store(context.obj.settings, [imported(each) for each in found])
    print_line(f"imported {counted(len(found), 'format')}")


@app.command()
def teach(
    context: typer.Context,
    log: Annotated[Path, typer.Argument(help="A log in this format; plain, gz or zst.")],
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Add the format to FILE, for `processors.formats`, and do not store it in the cluster.",
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Start from the answer file in DIR, as `schedmate analyze --questions DIR` does."
        ),
    ] = None,
) -> None:
    """Describe or correct a log format in a dialogue, and store it. From then on, every log of this format is read that way.

    The defaults come from the stored format, else from a configured language model, else from the rules. Press Enter to accept one.

    Examples: `schedmate formats teach train.log`, `schedmate formats teach train.log --output formats.jsonl`
    """
    from processors.formats.answer import to_record

    from ..approvals import person
    from ..formats.files import write_formats
    from ..formats.stored import store
    from ..formats.taught_log import first_answer, read_with, survey
    from ..formats.teaching import Dialogue, teach
    from ..report.report import report
    from .safe_console import SafeConsole

    settings = context.obj.settings
    asked = survey(log, settings.processors)
    if asked is None or asked.format is None:
        raise UserError(f"expected lines with numbers in {log}, found none that repeat")
    question = asked.format
    known = _format_of(settings, asked, questions, in_cluster=output is None)
    if known is not None:
        print_line(f"Starting from what {one_line(known.author) or 'a model'} stated.")
    answer = teach(question, first_answer(question, known), Dialogue(print_line, _choose))
    record = to_record(answer, question, author=person(), time=time.time(), person=True)
    SafeConsole(soft_wrap=True).print(report(read_with(log, settings.processors, record)))
    if _choose("Store this format?", ("yes", "no"), "yes") == "no":
        raise typer.Exit(1)
    if output:
        write_formats(output, [record], append=True)
        print_line(f"added to {output}; name it in processors.formats")
    else:
        store(settings, [record])
        print_line(f"stored: {record.fingerprint}")


def _format_of(
    settings: Settings, asked: ModelQuestion, questions: Path | None, *, in_cluster: bool
) -> KnownFormat | None:
    """Return the known format of a log: a configured or stored one, else the answer of a model; None where there is none."""
    from sinks import SinkUnavailable

    from ..formats.files import configured_formats
    from ..formats.stored import stored_formats
    from ..formats.taught_log import known_format
    from ..models.language_models import asked_at_once, language_model
    from ..models.question_files import QuestionFolder

    formats = configured_formats(settings.processors.formats)
    if in_cluster:
        try:
            formats += stored_formats(settings)
        except SinkUnavailable as error:
            warn(f"stored formats are not offered: {error}")
    if asked.format is not None and (found := known_format(asked.format, formats)):
        return found
    model = QuestionFolder(questions) if questions else language_model(settings.language_model)
    answer = asked_at_once(model)(asked, {}) if model else None
    return answer if isinstance(answer, KnownFormat) else None


def _choose(question: str, choices: Sequence[str], default: str) -> str:
    """Ask until one of `choices`, or the beginning of one, is entered; any text where there are no choices."""
    while True:
        shown = f" ({', '.join(choices)})" if choices else ""
        entered = str(typer.prompt(f"{question}{shown}", default=default))
        found = [each for each in choices if each == entered] or [each for each in choices if each.startswith(entered)]
        if not choices:
            return entered
        if len(found) == 1:
            return str(found[0])
        print_line(f"expected one of {', '.join(choices)}, got {one_line(entered)}")


def _find_format(context: typer.Context, fingerprint: str) -> KnownFormat:
    from ..formats.stored import stored_formats

    found = stored_formats(context.obj.settings, fingerprint)
    if len(found) != 1:
        raise UserError(
            f"expected the beginning of one fingerprint that `schedmate formats list` shows, got {fingerprint!r}, which "
            f"{counted(len(found), 'format')} have"
        )
    return found[0]


def _kind(known: KnownFormat) -> str:
    return "training" if known.training else "no training"


def _sample(known: KnownFormat) -> str:
    reports = [each.sample for each in known.templates if each.reports is Reports.TRAINING]
    return next(iter(reports or [each.sample for each in known.templates]), "")


def _utc(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))
