"""`schedmate signatures`: what failures are known by their lines."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..settings.settings import Loaded
from ..terminal import one_line
from .console import print_json, print_line, warn
from .listing import Csv, Json, print_rows

if TYPE_CHECKING:
    from processors.diagnose import Signature

app = typer.Typer(add_completion=False, rich_markup_mode="markdown", no_args_is_help=True)
"""Its commands: `list`, `show`, `test`, `propose`."""


@app.command("list")
def list_all(
    context: typer.Context,
    *,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """List all signatures, your own included (setting `processors.signatures`).

    Example: `schedmate signatures list --json | jq 'select(.component == "gpu").name'`
    """
    known = _load_signatures(context)
    if as_json:
        import msgspec

        for one in known:
            print_json(msgspec.json.encode(one))
        return
    columns = ("signature", "error type", "component", "restartable", "confidence", "an example")
    rows = [(one.name, one.error_type, one.component, one.restartable, one.confidence, one.example) for one in known]
    print_rows(columns, rows, as_csv=as_csv)


@app.command()
def show(context: typer.Context, name: Annotated[str, typer.Argument(help="A name that `list` shows.")]) -> None:
    """Show a signature: what it matches, what it means, what to do, and its source."""
    found = [one for one in _load_signatures(context) if one.name == name]
    if not found:
        import difflib

        near = difflib.get_close_matches(name, [one.name for one in _load_signatures(context)], n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "see `schedmate signatures list`"
        warn(f"no signature {name}; {hint}")
        raise typer.Exit(2)
    for one in found:
        again = {True: "yes", False: "no", None: "not known"}[one.restartable]
        numbers = f", with the number {' or '.join(map(str, one.numbers))}" if one.numbers else ""
        rows = {
            "signature": one.name,
            "means": f"{one.error_type} ({one.component}), confidence {one.confidence:g}",
            "restartable": again,
            "what to do": one.action,
            "source": one.source,
            "kind": one.kind,
            "pattern": f"{one.pattern}{numbers}",
            "matches": one.example,
            "but not": one.counter,
        }
        print_line("\n".join(f"{label:<12} {text}" for label, text in rows.items()))


@app.command()
def test(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A log, plain, gz or zst; - for standard input.")],
) -> None:
    """Show every line of FILE that matches a signature, with its name. The exit code is 1 if there is none.

    A matching line is not always the cause of a failure; `schedmate analyze` considers all of them.

    Example: `schedmate --set processors.signatures=mine.toml signatures test train.log`
    """
    from processors.diagnose.matcher import Matcher
    from streams.producers.stored import UnreadableLog, read_chunks

    known, matched = Matcher(_load_signatures(context)), 0
    try:
        for chunk in read_chunks(file):
            line = chunk.first_line
            for index, (text, numbers) in enumerate(zip(chunk.lines, known.find(chunk.lines), strict=True)):
                one = known.signature(numbers, text)
                if one is not None:
                    matched += 1
                    print_line(f"{line:>8}  {one.name}  {one_line(text[:300])}")
                line += not (text.endswith("\r") or index in chunk.cut)
    except UnreadableLog as error:
        warn(str(error))
        raise typer.Exit(2) from None
    if not matched:
        warn("no line matches a signature")
        raise typer.Exit(1)


@app.command()
def propose(
    context: typer.Context,
    job: Annotated[str, typer.Argument(help="Use only feedback on this job.", show_default="all")] = "",
    *,
    hours: Annotated[
        float, typer.Option(min=0, help="Number of hours of lines to search, as far back as Kafka keeps them.")
    ] = 24.0,
) -> None:
    """Make a signature from operators' feedback, and count how often it would have matched.

    It prints a catalogue file. Check it, and copy the correct entries to your own file, which `processors.signatures` names.

    Example: `schedmate signatures propose 4711 > mine.toml`
    """
    from processors.diagnose import InvalidSignature

    from ..analysis.proposal import NoProposal, as_toml, fire, pattern_of
    from ..analysis.proposal import propose as make
    from ..feedback import ends, feedback_on, history

    settings = context.obj.settings
    words = feedback_on(settings, job)
    if not words:
        warn("there is no feedback yet: see `schedmate feedback --help`")
        raise typer.Exit(1)
    ended_well = ends(settings)
    for one in words:
        try:
            fired = fire(pattern_of(one.line), history(settings, hours), ended_well)
            for line in as_toml(make(one, fired), fired):
                print_line(line)
        except (NoProposal, InvalidSignature) as error:
            warn(f"job {one_line(one.job)}, attempt {one.attempt}: {error}")


def _load_signatures(context: typer.Context) -> "list[Signature]":
    from ..assembly import signatures

    loaded: Loaded = context.obj
    return signatures(loaded.settings.processors)
