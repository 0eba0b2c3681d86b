"""`schedmate feedback`: a person's word on why a job failed."""

from typing import Annotated

import typer

from schedmate_records import Component, ErrorType

from ..settings.settings import Loaded
from ..terminal import one_line
from .console import print_line

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    job: Annotated[str, typer.Argument(help="The job.")],
    *,
    cause: Annotated[str, typer.Option(help="What failed: a name of `signatures list`, or a new one.")],
    line: Annotated[str, typer.Option(help="The line that explains it, as it was printed.")],
    attempt: Annotated[
        int | None, typer.Option(min=0, help="The attempt.", show_default="the last that failed")
    ] = None,
    error_type: Annotated[ErrorType, typer.Option(help="Whose fault it was.")] = ErrorType.UNKNOWN,
    component: Annotated[Component, typer.Option(help="What was faulty.")] = Component.NONE,
    comment: Annotated[str, typer.Option(help="Anything else.")] = "",
) -> None:
    """Correct a verdict. Your correction is shown with it, and `schedmate signatures propose` makes a signature of it.

    Example: `schedmate feedback 4711 --cause pump_lost --line "coolant pump 7 lost" --error-type infrastructure --component node`
    """
    from ..feedback import correct, send

    loaded: Loaded = context.obj
    record = correct(
        loaded.settings,
        job,
        attempt,
        {"cause": cause, "line": line, "error_type": error_type, "component": component, "comment": comment},
    )
    send(loaded.settings, record)
    before = f"; the verdict was {one_line(record.verdict)}" if record.verdict else "; there was no verdict"
    print_line(f"noted for attempt {record.attempt} of job {one_line(job)}: {one_line(cause)}{before}")
