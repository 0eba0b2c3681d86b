"""The page: jobs, verdicts and decisions in a browser, read from ClickHouse. It reads and never writes."""

from .app import opened_app

__all__ = ["opened_app"]
