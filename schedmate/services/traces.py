"""Traces: spans go to an OTLP/HTTP collector. Nothing of OpenTelemetry is loaded where that is not configured."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

import schedmate
from streams.spans import Span, Spans, span_id, trace_id

from ..settings.settings import ServiceSettings

END_S = 3.0
"""Seconds in which spans that are still held are sent at the end; by itself the library tries for half a minute."""


@contextmanager
def exported(settings: ServiceSettings, command: str) -> Iterator[Spans | None]:
    """Yield what takes the spans of `command`; None where `service.traces_url` is empty.

    They are sent in the background, in batches. Where the receiver is away, or slower than they come, they are dropped: the pipeline never
    waits for it. What is still held at the end is sent then, within `END_S`.
    """
    if not settings.traces_url:
        yield None
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import SpanContext, TraceFlags

    resource = Resource.create({"service.name": f"schedmate-{command}", "service.version": schedmate.__version__})
    exporter = OTLPSpanExporter(endpoint=settings.traces_url)
    sender = BatchSpanProcessor(exporter)

    def context(about: str, name: str, of: str = "") -> SpanContext:
        return SpanContext(trace_id(about), span_id(about, name, of), False, TraceFlags(TraceFlags.SAMPLED))

    def send(span: Span) -> None:
        sender.on_end(
            ReadableSpan(
                span.name,
                context(span.about, span.name, span.of),
                parent=context(span.about, span.within) if span.within else None,
                resource=resource,
                attributes={f"schedmate.{name}": value for name, value in span.attributes.items()},
                start_time=int(span.start * 1e9),
                end_time=int(max(span.start, span.end) * 1e9),
            )
        )

    try:
        yield send
    finally:
        giving_up = Timer(END_S, exporter.shutdown)
        giving_up.start()
        sender.shutdown()  # type: ignore[no-untyped-call]  # the library has no type here
        giving_up.cancel()
