"""`schedmate feedback`: an operator's account of why a job failed."""

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
    job: Annotated[str, typer.Argument(help="The job's id.")],
    *,
    cause: Annotated[str, typer.Option(help="Cause: a name that `signatures list` shows, or a new one.")],
    line: Annotated[str, typer.Option(help="The line that explains the failure, as it was printed.")],
    attempt: Annotated[int | None, typer.Option(min=0, help="Attempt.", show_default="the last that failed")] = None,
    error_type: Annotated[ErrorType, typer.Option(help="Error type.")] = ErrorType.UNKNOWN,
    component: Annotated[Component, typer.Option(help="Faulty component.")] = Component.NONE,
    comment: Annotated[str, typer.Option(help="Free text.")] = "",
) -> None:
    """Correct a verdict. The correction is shown with the verdict, and `schedmate signatures propose` makes a signature from it.

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
