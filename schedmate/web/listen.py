"""The stream of events that an open page listens to."""

from collections.abc import AsyncGenerator

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from .changes import Changes, TooManyClients

LONGEST_NAME = 1024  # characters of a job in a request


async def listen(request: Request) -> Response:
    """Answer with events without an end: `changed`, with the topics that were written to, and `following`, with whether they are followed.

    Raises:
        HTTPException: Nothing is followed here, or too many listen.
    """
    changes: Changes | None = request.app.state.changes
    if changes is None:
        raise HTTPException(404, "No topics are followed, because no broker is configured.")
    stream = changes.stream(request.query_params.get("job", "")[:LONGEST_NAME])
    try:
        first = await anext(stream)
    except TooManyClients as error:
        raise HTTPException(503, "Too many pages are open already.") from error

    async def events() -> AsyncGenerator[str]:
        try:
            yield first
            async for each in stream:
                yield each
        finally:
            await stream.aclose()

    return StreamingResponse(events(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
