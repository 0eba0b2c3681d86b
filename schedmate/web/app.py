"""Puts the views together: routes, headers, errors."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.resources import as_file, files

from clickhouse_connect.driver.client import Client
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from processors.diagnose import Signature
from sinks import RecordRejected, SinkRejected, SinkUnavailable
from streams.changes import Change, ChangeSource
from streams.transport import TransportError

from ..goodput import read_month, this_month
from ..terminal import printable
from .access import Access, Linked, Looking, Visitor
from .acts import Acts, Write
from .changes import OVERVIEW, Changes, TooManyClients
from .cluster import GOODPUT_S, SHOWN, overview
from .database import Database
from .formats import Formats, Teach
from .job_lines import ReadNewest
from .lines import ReadSpan
from .nodes import read_nodes
from .now import Now, ReadStates
from .pages import Pages, View
from .refreshed import Refreshed
from .render import render
from .report_pages import ReportPages
from .twins import Form

LOOPBACK = ("localhost", "127.0.0.1")
"""Names of this host that a browser may use. Any other name that leads here is somebody's attempt to read the page through it."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # stricter, and browsers no longer send the page of a form
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Nothing runs but our own files: were a job's text ever not escaped, it would still do nothing."""


@contextmanager
def opened_app(
    connect: Callable[[], Client],
    signatures: Mapping[str, Signature],
    *,
    embedded: bool,
    hosts: Sequence[str] = LOOPBACK,
    access: Access | None = None,
    write: Write | None = None,
    read: ReadSpan | None = None,
    newest: ReadNewest | None = None,
    teach: Teach | None = None,
    follow: ChangeSource | None = None,
    states: ReadStates | None = None,
    log_link: str = "",
) -> Iterator[Starlette]:
    """Yield the page as an ASGI application, and let go of the database afterwards.

    Args:
        connect: Opens a client of what it shows.
        signatures: Of verdicts, by name.
        embedded: The client is of the embedded engine, which answers one question at a time.
        hosts: Names by which browsers may call it.
        access: Identifies visitors; None: all get read-only access.
        write: Takes operators' commands; None: read-only for all.
        read: Reads lines of logs; None: they are not shown.
        newest: Reads the newest lines of a job; None: only stored lines are read.
        teach: Takes formats that operators state; None: read-only for all.
        follow: Reports changes; None: pages poll.
        states: Reads the states of jobs from Redis; None: they are those of the database.
        log_link: Template of links from verdicts to another system; empty: none.
    """
    # Two clients, so that a page of one job does not wait for the overview of all.
    database, behind = Database(connect, embedded=embedded), Database(connect, embedded=embedded)
    changes = Changes(follow) if follow else None
    refreshed = Refreshed(
        lambda: overview(behind), renewed=partial(changes.publish, [Change(OVERVIEW)]) if changes else _nobody
    )
    known_nodes = Refreshed(lambda: read_nodes(behind))
    goodput = Refreshed(lambda: behind.use(lambda client: read_month(client, this_month(), SHOWN)), least_s=GOODPUT_S)
    if changes:
        changes.start(refreshed.soon)
    try:
        now = Now(states) if states else None
        pages = Pages(database, refreshed, known_nodes, goodput, signatures, read=read, now=now, log_link=log_link)
        formats = Formats(behind, newest, teach)
        reports = ReportPages(database)
        app = _app(
            pages,
            reports,
            formats,
            hosts=hosts,
            access=access or Looking(),
            acts=Acts(database, write) if write else None,
        )
        app.state.changes, app.state.now = changes, now
        yield app
    finally:
        if changes:
            changes.close()
        refreshed.close()
        known_nodes.close()
        goodput.close()
        database.close()
        behind.close()


def _nobody() -> None:
    """No page listens."""


def _app(
    pages: Pages, reports: ReportPages, formats: Formats, *, hosts: Sequence[str], access: Access, acts: Acts | None
) -> Starlette:
    with as_file(files(__package__).joinpath("static")) as static:
        routes = [
            Route("/", pages.start),
            Route("/cluster.json", partial(pages.start, form="json")),
            Route("/cluster.csv", partial(pages.start, form="csv")),
            *_with_twins("/jobs", pages.jobs),
            *_with_twins("/job", pages.job),
            *_with_twins("/compare", pages.compare),
            *_with_twins("/nodes", pages.nodes),
            *_with_twins("/node", pages.node),
            *_with_twins("/shadow", reports.shadow),
            *_with_twins("/decisions", pages.decisions),
            *_with_twins("/goodput", reports.goodput),
            *_with_twins("/spot", reports.spot),
            *_with_twins("/lines", pages.lines),
            *_with_twins("/log", pages.log),
            *_with_twins("/questions", reports.questions),
            *_with_twins("/questions/{name}", reports.question),
            Route("/format", formats.view),
            Route("/format", formats.save, methods=["POST"]),
            Route("/changes", _listen),
            Route("/health", pages.health),
            Mount("/static", StaticFiles(directory=static)),
        ]
    if acts:
        routes.append(Route("/act", acts.act, methods=["POST"]))
    if isinstance(access, Linked):
        routes.append(Route("/login", access.login))
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(BaseHTTPMiddleware, dispatch=_with_headers),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
            Middleware(BaseHTTPMiddleware, dispatch=partial(_with_visitor, access)),
        ],
        exception_handlers={
            HTTPException: _refused,
            SinkUnavailable: _away,
            TransportError: _no_broker,
            SinkRejected: _rejected,
            RecordRejected: _rejected,
        },
    )


def _with_twins(path: str, view: View) -> list[Route]:
    # Twins first: a name in a path would take their ending for a part of it.
    forms: tuple[Form, ...] = ("json", "csv")
    return [*(Route(f"{path}.{form}", partial(view, form=form)) for form in forms), Route(path, view)]


async def _with_headers(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
    answer = await call(request)
    for name, value in HEADERS.items():
        answer.headers[name] = value
    return answer


async def _with_visitor(access: Access, request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
    request.state.visitor = Visitor()
    if request.url.path == "/health" or request.url.path.startswith("/static/"):
        return await call(request)
    try:
        request.state.visitor = access.visitor(request)
    except HTTPException as error:
        return _refused(request, error)
    return await call(request)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _failed(request, error.status_code, error.detail)


def _away(request: Request, error: Exception) -> Response:
    return _failed(request, 503, f"The database does not answer in time; try again. {error}")


def _no_broker(request: Request, error: Exception) -> Response:
    return _failed(request, 503, f"Kafka does not answer: {error}")


def _rejected(request: Request, error: Exception) -> Response:
    return _failed(request, 400, str(error))


def _failed(request: Request, status: int, message: str) -> Response:
    if request.url.path.endswith((".json", ".csv")) or request.url.path == "/health":
        return PlainTextResponse(f"{printable(message)}\n", status)
    return render(request, "error.html", status, message=message, code=status)


async def _listen(request: Request) -> Response:
    """Answer with events without an end: `changed`, with the topics that were written to, and `following`, with whether they are followed.

    Raises:
        HTTPException: Nothing is followed here, or too many listen.
    """
    changes: Changes | None = request.app.state.changes
    if changes is None:
        raise HTTPException(404, "No topics are followed, because no broker is configured.")
    stream = changes.stream(request.query_params.get("job", "")[:1024])
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
