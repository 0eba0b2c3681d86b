"""Settings of the page."""

import string
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field

from ..settings.listed import Listed

_FIELDS = ("job", "attempt", "rank", "node", "line", "text", "from", "to")
"""Fields of a link template. `from` and `to` are milliseconds since 1970, ten minutes before and after the verdict."""


def _checked_template(template: str) -> str:
    """Return `template`; raise `ValueError` where it is no web address, or names other fields than `_FIELDS`."""
    if not template:
        return template
    if urlsplit(template).scheme not in ("http", "https"):
        raise ValueError("expected an address that begins with http:// or https://")
    unknown = sorted({name for _, name, _, _ in string.Formatter().parse(template) if name is not None} - set(_FIELDS))
    if unknown:
        raise ValueError(f"expected fields {', '.join(f'{{{name}}}' for name in _FIELDS)}, got {{{unknown[0]}}}")
    return template


class WebSettings(BaseModel, frozen=True, extra="forbid"):
    """Rights of users on the page that `web` serves, and their authentication."""

    act: bool = Field(False, description="Whether operators may approve, reject, stop and resume on the page.")
    user_header: str = Field(
        "",
        description="Header in which a proxy names the user, such as X-Forwarded-User; empty: no sign-in. The proxy "
        "sends the password in the header X-SchedMate-Proxy.",
    )
    operators: Listed = Field(
        (), description="Users, as named by the proxy, who may act, separated by commas. Others may only read."
    )
    log_link: Annotated[str, AfterValidator(_checked_template)] = Field(
        "",
        description="Address of a job's lines in another system, such as Loki, to which verdicts link. Its fields are "
        "{job}, {attempt}, {rank}, {node}, {line}, {text}, {from} and {to} (milliseconds). Empty: none.",
    )
