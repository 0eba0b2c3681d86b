"""`schedmate advise serve`: estimates on a socket, for what submits jobs."""

from pathlib import Path
from typing import Annotated

import typer

from ..settings.settings import Loaded


def serve(
    context: typer.Context,
    socket: Annotated[
        Path, typer.Argument(help="Socket to listen on. The user and the group of this process may connect.")
    ],
) -> None:
    """Answer questions about jobs that are being submitted, each in milliseconds; for a submit plugin (`examples/slurm`).

    A question is a job as one line of JSON, the answer its estimate as one line. It reads `advisor.history`, which `schedmate advisor` or
    `schedmate import` fill, and the trained model in `advisor.models`; no server is needed. Jobs that end are seen within a second, jobs
    of the past that are imported once it starts again.

    Example: `schedmate advise serve /run/schedmate-estimates/socket`
    """
    from schedmate_records import UserError

    from ..advisor.answer_server import AnswerServer
    from ..advisor.answers import Answers
    from ..advisor.history_file import history_file
    from ..advisor.settings import CURRENT
    from ..advisor.similar_search import load_history
    from ..services.service import service

    loaded: Loaded = context.obj
    settings = loaded.settings.advisor
    with service(loaded.settings, "advise") as running, history_file(settings.history) as history:
        answers = Answers(history, settings.models / CURRENT, load_history(history, loaded.settings))
        answers.refresh()
        try:
            server = AnswerServer(socket, answers)
        except OSError as error:
            raise UserError(f"expected to listen at {socket}: {error}") from error
        with server:
            server.run(running.stop)
        socket.unlink(missing_ok=True)
