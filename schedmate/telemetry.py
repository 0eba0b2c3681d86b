"""Metrics and health of long-running commands, over HTTP.

The rooms count in plain dataclasses and know nothing of Prometheus. A field `lines` of the counters of `worker` becomes the metric
`schedmate_worker_lines`; what it means is read from the docstring below the field, here and in docs/metrics.md.
"""

import ast
import dataclasses
import inspect
import json
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

GAUGES = frozenset(
    {
        *(
            "behind",
            "states",
            "trimmed",
            "jobs",
            "spooled_bytes",
            "under_way",
            "broker_up",
            "waiting",
            "awaiting_approval",
            "stopped",
            "actions_hour",
            "files",
            "queued",
        ),
        *("gpus", "gpus_failing", "recording_failed", "last_round", "last_look"),
    }
)
"""Fields that go up and down; all others only grow."""


def described(counters: Any) -> dict[str, str]:
    """Return what each field of `counters`, a dataclass, means: the docstring below it."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(counters))).body
    assert isinstance(body, ast.ClassDef)
    found = {field.name: "" for field in dataclasses.fields(counters)}
    for field, below in pairwise(body.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            found[field.target.id] = " ".join(ast.literal_eval(below.value).split())
    return found


class _Counters(Collector):
    """Reads counters whenever Prometheus asks."""

    def __init__(self) -> None:
        self.components: list[tuple[str, Any]] = []

    def collect(self) -> Iterator[Metric]:
        for component, counters in self.components:
            for name, about in described(type(counters)).items():
                value = getattr(counters, name)
                kind = GaugeMetricFamily if name in GAUGES else CounterMetricFamily
                labelled = isinstance(value, Mapping)
                family = kind(f"schedmate_{component}_{name}", about, labels=["kind"] if labelled else [])
                for label, number in dict(value).items() if labelled else [(None, value)]:
                    family.add_metric([str(label)] if labelled else [], float(number))
                yield family


class Telemetry:
    """Serves `/metrics` and `/health`.

    Args:
        health: Returns what is wrong, a sentence each; empty when all is well.
    """

    def __init__(self, health: Callable[[], list[str]] = list) -> None:
        self.health = health
        self._counters = _Counters()
        self._registry = CollectorRegistry()
        self._registry.register(self._counters)
        self._server: ThreadingHTTPServer | None = None

    def watch(self, component: str, counters: object) -> None:
        """Serve every field of `counters` as `schedmate_COMPONENT_FIELD`."""
        self._counters.components.append((component, counters))

    def serve(self, address: str, port: int) -> int:
        """Serve in the background and return the port (0 asked: one that is free)."""
        telemetry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/metrics":
                    self._answer(200, "text/plain; version=0.0.4; charset=utf-8", generate_latest(telemetry._registry))
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

        self._server = ThreadingHTTPServer((address, port), Handler)
        threading.Thread(target=self._server.serve_forever, name="telemetry", daemon=True).start()
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Stop serving."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
