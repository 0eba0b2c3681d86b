"""A receiver of traces over OTLP/HTTP."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Receiver:
    """Attributes: address: Where spans go; taken: service and span of each, as they came."""

    address: str = ""
    taken: list[tuple[str, Span]] = field(default_factory=list)

    def named(self, name: str) -> Sequence[Span]:
        return [span for _, span in list(self.taken) if span.name == name]


@contextmanager
def otlp_receiver() -> Iterator[Receiver]:
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            request = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
            for each in request.resource_spans:
                (service,) = (one.value.string_value for one in each.resource.attributes if one.key == "service.name")
                found.taken += [(service, span) for scope in each.scope_spans for span in scope.spans]
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing is said of requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    found.address = f"http://127.0.0.1:{server.server_address[1]}/v1/traces"
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
