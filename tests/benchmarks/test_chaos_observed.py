"""What chaos reads back of the tables."""

import msgspec
import pytest

from benchmarks.chaos.observed import stored_ids
from benchmarks.chaos.replay import identity
from schedmate_records import ErrorType, Failure, Position, encode, identified
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded"]

pytestmark = pytest.mark.slow


def test_a_verdict_in_force_again_is_not_a_doubled_row(embedded: Embedded) -> None:
    one, other = (
        identified(Failure(id="", job="j", time=100.0, message=message, error_type=ErrorType.OTHER))
        for message in ("one", "other")
    )
    verdicts = [msgspec.structs.replace(each, revision=at) for at, each in enumerate((one, other, one, other), 1)]
    for _ in range(2):
        ClickHouseWriter(embedded.connect).write([(Position("failures", 0, each.revision), each) for each in verdicts])
    assert sorted(stored_ids(embedded.client, "failures")) == sorted(
        identity("failures", encode(each)) for each in verdicts
    )
