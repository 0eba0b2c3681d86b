"""The page: jobs, verdicts and decisions in a browser, read from ClickHouse. It reads and never writes."""

from .app import make_app

__all__ = ["make_app"]
