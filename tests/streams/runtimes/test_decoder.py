"""What a message of another tool holds, as a worker reads it."""

from structlog.testing import capture_logs

from schedmate_records import LogChunk, Position
from streams.runtimes.decoder import Decoder
from streams.runtimes.metrics import EngineMetrics
from streams.transport import Message
from tests.metric_values import value


def test_fields_that_cannot_be_read_are_counted_and_the_first_is_logged() -> None:
    metrics = EngineMetrics()
    decoder = Decoder(None, metrics)
    with capture_logs() as logged:
        found = [
            decoder.decode(
                Message(Position("job-logs", 0, offset), b"7", b'{"log":"step 1","rank":"r%d"}' % offset, 1.0)
            )
            for offset in range(3)
        ]
    assert [each.record for each in found] == [LogChunk(job="7", lines=["step 1"], time=1.0)] * 3
    assert value(metrics.unreadable_fields) == 3
    (entry,) = logged
    assert entry["event"] == "field_unreadable"
    assert "got 'r0'" in entry["reason"]
