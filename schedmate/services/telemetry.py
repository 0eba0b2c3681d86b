"""Metrics and health of long-running commands, over HTTP.

Each package declares its metrics as objects of the Prometheus client, a class of them for each component (`…Metrics`). They belong to no
registry until a command exports them here, so that components can be made any number of times in one process.
"""

import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import structlog
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Info,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.registry import Collector

import schedmate

log = structlog.get_logger(__name__)

REQUEST_S = 10.0
"""Seconds that a connection may take: Prometheus gives a scrape ten."""

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second time series for every counter, which Prometheus does not use


def metrics_of(group: object) -> list[Collector]:
    """Return the metrics of a group: an object whose attributes are all metrics, or collectors of some."""
    return list(vars(group).values())


class _Server(ThreadingHTTPServer):
    """Serves each connection in a thread, for `REQUEST_S` at most. Of too many connections, the oldest is cut off."""

    request_queue_size = 64

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._began: dict[socket.socket, float] = {}
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        # Each connection has a thread.
        if len(self._began) >= 64:
            self._cut(next(iter(self._began)))
        self._began[request] = time.monotonic()
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._began.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Cut off what takes too long; called twice a second."""
        until = time.monotonic() - REQUEST_S
        for request, began in list(self._began.items()):
            if began < until:
                self._cut(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print no traceback where the other side is gone."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def _cut(self, request: socket.socket) -> None:
        self._began.pop(request, None)
        with suppress(OSError):  # it has ended by itself
            request.shutdown(socket.SHUT_RDWR)


class Telemetry:
    """Serves `/metrics` and `/health`.

    Args:
        health: Returns what is wrong, a sentence each; empty when all is well.
    """

    def __init__(self, health: Callable[[], list[str]] = list) -> None:
        self.health = health
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        build = Info("schedmate_build", "The version that runs.", registry=self.registry)
        build.info({"version": schedmate.__version__})
        self._server: _Server | None = None

    def export(self, *groups: object) -> None:
        """Serve every metric of each group. One whose name is taken is logged and not served: a plugin may declare it."""
        for group in groups:
            for metric in metrics_of(group):
                try:
                    self.registry.register(metric)
                except (AttributeError, TypeError, ValueError) as error:
                    log.error("metric_refused", group=type(group).__name__, error=str(error))

    def serve(self, address: str, port: int) -> int:
        """Serve in the background and return the port (0 asked: one that is free)."""
        telemetry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/metrics":
                    self._answer(200, CONTENT_TYPE_LATEST, generate_latest(telemetry.registry))
                elif self.path == "/health":
                    problems = telemetry.health()
                    body = json.dumps({"healthy": not problems, "problems": problems}).encode()
                    self._answer(503 if problems else 200, "application/json", body)
                else:
                    self._answer(404, "text/plain", b"there are /metrics and /health\n")

            def _answer(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Requests are not logged."""

        self._server = _Server((address, port), Handler)
        threading.Thread(target=self._server.serve_forever, name="telemetry", daemon=True).start()
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Stop serving."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
