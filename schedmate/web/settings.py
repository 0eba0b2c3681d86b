"""Who may do what on the page."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from ..settings.listed import Listed
from ..settings.log_template import checked_template


class WebSettings(BaseModel, frozen=True, extra="forbid"):
    """What people may do on the page that `web` serves, and how it knows them."""

    act: bool = Field(False, description="Whether operators may approve, reject, stop and resume on the page.")
    user_header: str = Field(
        "",
        description="Header in which a proxy names the user, such as X-Forwarded-User; empty: no sign-in. The proxy "
        "sends the password in the header X-SchedMate-Proxy.",
    )
    operators: Listed = Field(
        (), description="Users, as named by the proxy, who may act, separated by commas. Others may only read."
    )
    log_link: Annotated[str, AfterValidator(checked_template)] = Field(
        "",
        description="Address of a job's lines in another system, such as Loki, to which verdicts link. Its fields are "
        "{job}, {attempt}, {rank}, {node}, {line}, {text}, {from} and {to} (milliseconds). Empty: none.",
    )
