"""Who may do what on the page."""

from pydantic import BaseModel, Field

from ..settings.listed import Listed


class WebSettings(BaseModel, frozen=True, extra="forbid"):
    """What people may do on the page that `web` serves, and how it knows them."""

    act: bool = Field(False, description="Whether operators may approve, reject, stop and resume on the page.")
    user_header: str = Field(
        "",
        description="Header in which a proxy names the person, such as X-Forwarded-User; empty: no sign-in. "
        "The proxy proves itself by the password, in the header X-SchedMate-Proxy.",
    )
    operators: Listed = Field(
        (), description="People named by the proxy who may act, separated by commas; others may only read."
    )
