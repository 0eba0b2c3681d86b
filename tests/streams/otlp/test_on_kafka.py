"""A worker on a real broker: OpenTelemetry's logs in, traces out."""

from pathlib import Path

import pytest

from schedmate_records import Failure, JobMetric, decode
from streams.kafka import KafkaProducer
from streams.transport import Outgoing
from tests.servers.kafka import Kafka
from tests.servers.otlp import otlp_receiver
from tests.streams.runtimes.workers import command, until, wait_for

from .requests import as_json, as_protobuf


@pytest.mark.kafka
@pytest.mark.slow
def test_a_worker_reads_requests_and_traces_their_verdicts(own_kafka: Kafka, tmp_path: Path) -> None:
    steps = [({}, f"step {step} | loss {1 / step:.4f} | step_time 0.25 s", 100.0 + step) for step in range(1, 31)]
    crash = [({}, "torch.OutOfMemoryError: CUDA out of memory.", 131.0)]
    requests = [as_json([({"job": "7"}, steps)]), as_protobuf([({"job": "8"}, steps + crash)])]
    producer = KafkaProducer(own_kafka.connection)
    for value in requests:
        producer.send(Outgoing("job-logs", bytes(range(128, 144)), value)).result(30)
    producer.close()
    log = tmp_path / "worker.log"
    with (
        otlp_receiver() as receiver,
        command(own_kafka, "--set", f"service.traces_url={receiver.address}", "worker", log=log),
    ):
        found = wait_for(own_kafka, ["failures"], 1, log)
        failure = decode(Failure, found[0].value)
        metrics = {decode(JobMetric, each.value).job for each in wait_for(own_kafka, ["job-metrics"], 2, log)}
        until(lambda: len(receiver.named("verdict")) == 1, log)
        services = {service for service, _ in receiver.taken}
    assert metrics == {"7", "8"}
    assert (failure.job, failure.root is not None) == ("8", True)
    assert services == {"schedmate-worker"}
    (whole,) = receiver.named("verdict")
    assert whole.start_time_unix_nano == 131 * 10**9
    assert {span.trace_id for _, span in receiver.taken} == {whole.trace_id}
