"""The servers of chaos: with three brokers, what was acknowledged outlives any one of them, and so does the work."""

from pathlib import Path

import pytest

from benchmarks.chaos.servers import running
from streams.kafka import KafkaProducer, read_back
from streams.transport import Outgoing


@pytest.mark.kafka
@pytest.mark.clickhouse
@pytest.mark.redis
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_each_of_three_brokers_may_go(tmp_path: Path) -> None:
    with running(tmp_path, brokers=3, partitions=4) as site:
        written: list[bytes | None] = []

        def write() -> None:
            producer = KafkaProducer(site.connection)
            for number in range(4):
                written.append(b"%d" % len(written))
                producer.send(Outgoing("job-logs", b"j", written[-1], number)).result(60)
            producer.close()

        for broker in [server for server in site.all if server.name.startswith("broker-")]:
            write()
            broker.kill()
            write()
            broker.start()
        held = {message.value for message in read_back(site.connection, ["job-logs"])}
        assert held == set(written), "a message that was sent again may be there twice, none may be missing"
