"""Templates: everything is escaped, and what would act on or hide text is shown as an escape that can be seen."""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from ..log_link import STORE_LINES
from ..terminal import printable
from ..times import ago, local, span
from .jobs import sentence
from .lines import TOPICS as LOG_TOPICS
from .lines import Line
from .plot import number, sparkline


def render(request: Request, template: str, status: int = 200, **content: Any) -> HTMLResponse:
    """Return the page that `template` makes of `content`."""
    query = f"?{request.url.query}" if request.url.query else ""
    now = request.app.state.now
    known = {
        "away": now.away if now else "",
        "path": request.url.path,
        "query": query,
        "visitor": request.state.visitor,
        "followed": request.app.state.changes is not None,
    }
    page = environment().get_template(template).render(**known, **content)
    return HTMLResponse(page, status)


@cache
def environment() -> Environment:
    """Return what all templates share."""
    made = Environment(
        loader=PackageLoader("schedmate.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_displayed,
    )
    made.filters |= {
        "ago": _ago,
        "code": _with_code,
        "lasting": _lasting,
        "sentence": _sentence,
        "number": number,
        "spark": sparkline,
        "took": _took,
        "cell": _cell,
        "moment": _moment,
        "pointed_at": _pointed_at,
        "with_moments": _with_moments,
    }
    made.globals |= {
        "job_link": _job_link,
        "line_link": _line_link,
        "lines_link": _lines_link,
        "log_topics": LOG_TOPICS,
        "node_link": _node_link,
        "store_lines": STORE_LINES,
    }
    return made


def _displayed(value: Any) -> Any:
    """Return the markup of `value`: empty for null, and without invisible characters of a job's making."""
    if value is None:
        return ""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _ago(moment: datetime | None) -> Markup:
    if moment is None:
        return Markup()
    exact = moment.isoformat(sep=" ", timespec="seconds")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(moment.isoformat(), exact, ago(moment))


def _lasting(since: datetime) -> Markup:
    """Return for how long something lasts, with the moment at which it began."""
    exact = since.isoformat(sep=" ", timespec="seconds")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(since.isoformat(), exact, _took(since, None))


def _sentence(row: Mapping[str, Any]) -> str:
    return sentence(row, time.time())


def _with_code(text: str) -> Markup:
    """Return a text in which what backticks enclose is code."""
    parts = [escape(printable(part)) for part in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else part for place, part in enumerate(parts)
    )


def _took(since: datetime | None, until: datetime | None) -> str:
    if since is None:
        return ""
    return span(((until or datetime.now(since.tzinfo)) - since).total_seconds()) or "under a second"


def _moment(at: float, precision: str = "milliseconds") -> Markup:
    """Return a moment, in UTC; the page's script turns it into the reader's time."""
    moment = datetime.fromtimestamp(at, UTC)
    text = moment.isoformat(" ", precision).removesuffix("+00:00")
    return Markup('<time class="moment" datetime="{}">{}</time>').format(moment.isoformat(), text)


def _with_moments(text: str, moments: Sequence[datetime]) -> Markup:
    """Return a sentence in which `moments` are written as on the rest of the page, not in this host's time."""
    marked = Markup()
    for moment in moments:
        before, found, text = text.partition(local(moment))
        marked += escape(printable(before)) + (_moment(moment.timestamp(), "seconds") if found else "")
    return marked + escape(printable(text))


def _pointed_at(text: str, at: float) -> Markup:
    """Return the tooltip of a mark in a plot with its moment, in UTC; the page's script converts it to the reader's time."""
    moment, text = datetime.fromtimestamp(at, UTC), printable(text)
    shown = moment.strftime("%Y-%m-%d %H:%M:%S UTC")
    return Markup('<title data-moment="{}" data-text="{}">{}, {}</title>').format(moment.isoformat(), text, text, shown)


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return _ago(value)
    if isinstance(value, float):
        return number(value)
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _job_link(job: str, attempt: int | None = None) -> str:
    """Return the link to a job. A name is part of the query: it may hold slashes and dots, which paths do not keep."""
    return "/job?" + urlencode({"id": job} | ({} if attempt is None else {"attempt": attempt}))


def _line_link(place: Mapping[str, Any], job: str = "") -> str:
    """Return the link to the lines around the one at `place`; `job` is the one that printed it."""
    return _lines_at({name: place[name] for name in ("topic", "partition", "offset", "line")}, job)


def _lines_link(line: Line, job: str = "") -> str:
    """Return the link to the lines around one that is shown, which `job` printed."""
    place = line.place
    which = {"line": line.number} if line.index is None else {"index": line.index}
    return _lines_at({"topic": place.topic, "partition": place.partition, "offset": place.offset, **which}, job)


def _lines_at(place: Mapping[str, Any], job: str) -> str:
    return f"/lines?{urlencode({**place, **({'job': job} if job else {})})}#cited"


def _node_link(node: str) -> str:
    return "/node?" + urlencode({"id": node})
