"""How long-running commands log: one structured entry a line, on standard error."""

import logging
import sys
from typing import Any

import structlog

from schedmate.settings import ServiceSettings


def configure(settings: ServiceSettings) -> None:
    """Set up structlog, and send the standard library's entries of other packages (warnings and worse) the same way."""
    level = getattr(logging, settings.log_level.upper())
    text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    renderer: Any = structlog.dev.ConsoleRenderer() if text else structlog.processors.JSONRenderer(default=str)
    explain = [] if text else [structlog.processors.format_exc_info]
    structlog.configure(
        processors=[*shared, *explain, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *explain, renderer],
        )
    )
    for chatty in ("kafka", "aiokafka"):  # they log every try while a broker is away; ours say so once
        logging.getLogger(chatty).setLevel(logging.ERROR)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(level, logging.WARNING))
