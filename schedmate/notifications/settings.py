"""The receivers of notifications."""

from pathlib import Path

from pydantic import BaseModel, Field, PositiveFloat

from ..settings.listed import Listed
from .urgency import Urgency


class NotifySettings(BaseModel, frozen=True, extra="forbid"):
    """Receivers of `notify`'s messages about decisions, failures and alarms."""

    webhook: str = Field("", description="Address that gets every message as JSON, with the whole record; empty: none.")
    webhook_token_file: Path | None = Field(None, description="A file with the bearer token for it.")
    webhook_severity: Urgency = Field(Urgency.INFO, description="Least severity: info, warning, critical.")
    slack_file: Path | None = Field(
        None,
        description="A file with the address of a Slack-compatible webhook (the address is its secret); none: none.",
    )
    slack_severity: Urgency = Field(Urgency.WARNING, description="Least severity: info, warning, critical.")
    smtp: str = Field("", description="Mail server, host:port; empty: no e-mail.")
    smtp_tls: bool = Field(True, description="Whether the mail server must offer STARTTLS.")
    smtp_user: str = Field("", description="User name at the mail server; empty: no authentication.")
    email_from: str = Field("schedmate@localhost", description="Sender of e-mail.")
    email_to: Listed = Field((), description="Who gets e-mail, separated by commas.")
    email_user_domain: str = Field(
        "", description="The owner of a job gets what concerns it at USER@DOMAIN; empty: owners get no e-mail."
    )
    email_report_cards: Listed = Field(
        (),
        description="Users who get the report card of each of their jobs at its end, at USER@DOMAIN, separated by commas; *: all users.",
    )
    email_severity: Urgency = Field(Urgency.CRITICAL, description="Least severity: info, warning, critical.")
    repeat_seconds: PositiveFloat = Field(3600.0, description="Within which the same message goes once.")
