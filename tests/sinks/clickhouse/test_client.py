import subprocess
import sys
from pathlib import Path

import pytest

from sinks import SinkRejected, SinkUnavailable
from sinks.clickhouse.client import open_client
from sinks.clickhouse.writer import ClickHouseWriter
from tests.metric_values import value
from tests.servers import free_port
from tests.servers.clickhouse import ClickHouseServer
from tests.sinks.made import metric


@pytest.mark.parametrize("url", ["localhost:8123", "ftp://host/db", "http:///db", "chdb://", "chdb:///"])
def test_an_address_of_another_form_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        open_client(url)


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ValueError, match="without a password") as error:
        open_client("http://user:hunter2@localhost:8123/x")
    assert "hunter2" not in str(error.value)


def test_a_server_that_is_away_is_waited_for() -> None:
    writer = ClickHouseWriter(lambda: open_client(f"http://127.0.0.1:{free_port()}/x", connect_timeout_s=1))
    with pytest.raises(SinkUnavailable, match="nothing listens at"):
        writer.write([metric(1)])
    assert (value(writer.metrics.failures), value(writer.metrics.rows)) == (1, 0)


@pytest.mark.clickhouse
def test_a_server_without_our_database_says_what_to_do(clickhouse: ClickHouseServer) -> None:
    writer = ClickHouseWriter(lambda: open_client(clickhouse.url))
    with pytest.raises(SinkRejected, match="schedmate migrate"):
        writer.write([metric(1)])


def test_opening_the_engine_leaves_signals_alone(tmp_path: Path) -> None:
    program = (
        "import signal, sys; from sinks.clickhouse.client import open_client; client = open_client('chdb://' + sys.argv[1]); "
        "client.query('SELECT 1'); print(signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "set()", "a job started beside it would not die of a closed pipe"
