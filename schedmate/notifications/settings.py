"""The receivers of notifications."""

from pathlib import Path

from pydantic import BaseModel, Field, PositiveFloat

from ..settings.listed import Listed
from .urgency import Urgency


class NotifySettings(BaseModel, frozen=True, extra="forbid"):
    """Receivers of `notify`'s messages about decisions, failures and alarms."""

    webhook: str = Field(
        "", description="Address that receives every message as JSON, with the whole record; empty: none."
    )
    webhook_token_file: Path | None = Field(None, description="A file with the bearer token of the webhook.")
    webhook_severity: Urgency = Field(Urgency.INFO, description="Minimum severity: info, warning, critical.")
    slack_file: Path | None = Field(
        None,
        description="A file with the address of a Slack-compatible webhook (the address is its secret); none: none.",
    )
    slack_severity: Urgency = Field(Urgency.WARNING, description="Minimum severity: info, warning, critical.")
    smtp: str = Field("", description="Mail server, host:port; empty: no e-mail.")
    smtp_tls: bool = Field(True, description="Whether the mail server must offer STARTTLS.")
    smtp_user: str = Field("", description="User name at the mail server; empty: no authentication.")
    email_from: str = Field("schedmate@localhost", description="Sender of e-mail.")
    email_to: Listed = Field((), description="Recipients of e-mail, separated by commas.")
    email_user_domain: str = Field(
        "",
        description="Domain of the owners of jobs, who get messages about their jobs at USER@DOMAIN; empty: owners get no e-mail.",
    )
    email_report_cards: Listed = Field(
        (),
        description="Users who get the report card of each of their jobs by e-mail when it ends, separated by commas; *: all users.",
    )
    email_severity: Urgency = Field(Urgency.CRITICAL, description="Minimum severity: info, warning, critical.")
    repeat_seconds: PositiveFloat = Field(3600.0, description="Minimum seconds between two identical messages.")
