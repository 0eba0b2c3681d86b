"""The page: jobs, verdicts and decisions in a browser, read from ClickHouse. It reads and never writes."""

from .app import make_app
from .database import Database

__all__ = ["Database", "make_app"]
