import itertools
import math

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import schedmate_records as records
from schedmate_records import Position
from sinks import SinkRejected
from sinks.clickhouse.writer import ClickHouseWriter
from tests.metric_values import value
from tests.sinks.conftest import Embedded
from tests.sinks.made import T0, Row, cut, line, metric

_jobs = itertools.count()


def steps(embedded: Embedded, job: str) -> list[int]:
    rows = embedded.client.query("SELECT step FROM job_metrics WHERE job = {job:String} ORDER BY step", {"job": job})
    return [row[0] for row in rows.result_rows]


def rolled_up(embedded: Embedded, job: str) -> int:
    return embedded.one("SELECT sum(reports) FROM job_throughput_1m WHERE job = {job:String}", job=job)


def test_a_metric_stands_in_its_row_with_its_place(embedded: Embedded) -> None:
    place, record = metric(
        7, "one", offset=70, partition=3, rank=5, node="n1", attempt=2, since=T0, since_step=1, reports=6
    )
    ClickHouseWriter(embedded.connect).write([(place, record)])
    row = next(
        embedded.client.query(
            "SELECT *, toUnixTimestamp64Micro(time) AS at FROM job_metrics WHERE job = 'one'"
        ).named_results()
    )
    assert (row["src_topic"], row["src_partition"], row["src_offset"]) == ("job-metrics", 3, 70)
    assert row["at"] == round(record.time * 1e6)
    for field in (
        "id",
        "job",
        "attempt",
        "node",
        "rank",
        "step",
        "throughput_unit",
        "method",
        "reports",
        "since_step",
        "loss",
    ):
        assert row[field] == getattr(record, field)
    assert row["step_time_s"] == pytest.approx(record.step_time_s)
    assert (
        row["evidence"]
        == '[{"topic":"job-logs","partition":0,"offset":7,"line":7,"text":"loss 2.31","rank":0,"stream":"stdout"}]'
    )


EVERY_KIND: list[Row] = [
    (Position("job-metrics", 0, 1), records.JobMetric(id="k", job="kind", time=5.0)),
    (Position("failures", 0, 1), records.Failure(id="k", job="kind", time=5.0, message="m", error_type="unknown")),
    (Position("failures", 0, 2), records.Failure(id="l", job="kind", attempt=1, time=5.0, message="m", error_type="other",
        root=line(9, 8, "boom"), evidence=[line(9, 8, "boom")], restartable=True, exit_code=-9, signal=9)),
    (Position("slowdowns", 0, 1), records.Slowdown(id="k", job="kind", packed_job="p", time=5.0, before_s=1, after_s=2, ratio=0.5,
        threshold=0.65, steps_after=30)),
    (Position("alarms", 0, 1), records.Alarm(id="k", job="kind", kind="hang", raised=True, time=5.0, since=1.0, value=4.0,
        detail="no report")),
    (Position("alarms", 0, 2), records.Alarm(id="l", job="kind", kind="gpus_idle", raised=True, time=5.0, since=1.0, value=4.0,
        gpu_hours=0.5, activity=records.GpuState.IDLE, detail="held and idle")),
    (Position("gpu-activity", 0, 1), records.GpuActivity(id="k", job="kind", node="n1", time=5.0, idle_s=7.5,
        gpus=[records.GpuSpan(gpu=gpu, state=state, since=1.0) for gpu, state in enumerate(["idle", "idle", "working"])])),
    (Position("job-metrics", 0, 2), records.JobMetric(id="l", job="kind", time=6.0, loss_not_finite=True,
        over_ranks=records.OverRanks(ranks=8, step_time_s=0.5, spread=0.7, slowest=3, lag=1.6))),
    (Position("gpu-metrics", 0, 1), records.GpuSample(id="k", node="kind", gpu=0, time=5.0)),
    (Position("gpu-metrics", 0, 2), records.GpuSample(id="l", node="kind", gpu=1, time=5.0, utilisation=99, power_watts=650.5, xids=[79],
        throttle_reasons=["sw_power_cap"], processes=[records.GpuProcess(pid=1, job="kind", rank=0)])),
    (Position("node-findings", 0, 1), records.NodeFinding(id="k", node="kind", time=5.0, signature="xid", severity="fatal", gpu=3,
        error_type="infrastructure", component="gpu", place=line(9, 8, "Xid 79"), jobs=["7"])),
    (Position("node-findings", 0, 2), records.NodeFinding(id="l", job="kind", node="kind", time=5.0, since=1.0, signature="gpus_healthy",
        severity="info", error_type="none", place=line(9, 8, "calm"))),
    (Position("job-events", 0, 1), records.JobEvent(id="k", job="kind", kind="started", time=5.0, nodes=["n1", "n2"], gpus=8)),
    (Position("model-answers", 0, 1), records.ModelAnswer(id="k", job="kind", about="f", revision=2, time=5.0, model="m", prompt="1",
        failure=records.FailureAnswer(failed=True, error_type="other", root=line(9, 8, "boom"), summary="It went boom."),
        lines=[line(9, 8, "boom")])),
    (Position("formats", 0, 1), records.KnownFormat(id="k", fingerprint="kind", time=5.0, author="m", training=True, templates=[
        records.TemplateFormat("step {}", records.Reports.TRAINING, [records.ColumnMeaning(0, records.ColumnRole.STEP)], "step 7")])),
    (Position("formats", 0, 2), records.KnownFormat(id="l", fingerprint="kind", time=6.0, author="p", person=True, forgotten=True)),
    (Position("checkpoints", 0, 1), records.Checkpoint(id="k", job="kind", number=1, state="durable", durable_by="tracker", time=5.0,
        since=4.0, step=7, path="/run/7", duration_s=1.0)),
    (Position("checkpoints", 0, 2), records.Checkpoint(id="l", job="kind", number=2, state="started", time=6.0, since=6.0)),
    (Position("estimates", 0, 1), records.Estimate(id="k", job="kind", time=5.0, similar_jobs=["a"])),
    (Position("estimates", 0, 2), records.Estimate(id="l", job="kind", revision=1, time=6.0, remaining_s=9.0, done=0.5,
        evidence=[line(9, 8, "step 5/10")])),
    (Position("job-metrics", 0, 3), records.JobMetric(id="m", job="kind", time=7.0, step=5, step_name="step", step_total=10, epoch_total=3,
        left_s=4.0)),
    (Position("start-estimates", 0, 1), records.StartEstimate(id="k", job="kind", time=5.0, expected_s=9.0, low_s=4.0, chance=0.75,
        method="queue")),
    (Position("quotas", 0, 1), records.Quota(id="k", cluster="kind", time=300.0, until=600.0, quota=4.0, safety=1.0, guarantee=0.9,
        guaranteed_h=1, organisations=[records.OrganisationDemand(organisation="lab", in_use=3.0, peak=5.0, median=2.5),
            records.OrganisationDemand(organisation="o'1", upper=1.5)],
        beyond=[records.BeyondQuota(job="7", gpus=8.0, since=1.0)])),
    (Position("quotas", 0, 2), records.Quota(id="l", cluster="kind", time=600.0, until=900.0, safety=1.0, guarantee=0.9, guaranteed_h=1)),
    (Position("decisions", 0, 1), records.Decision(id="k", action="restart", job="kind", time=5.0, expires=9.0, policy="p", reason="r",
        exclude_nodes=["n1"])),
    (Position("decision-results", 0, 1), records.DecisionResult(id="k", decision_id="k", action="restart", job="kind", time=6.0,
        outcome="done", seen={"state": "RUNNING"})),
    (Position("dead-letters", 0, 1), records.DeadLetter(id="k", topic="kind", partition=0, offset=1, time=5.0, reason="", value=b"\xff\0")),
    (Position("dead-letters", 0, 2), records.DeadLetter(id="l", topic="kind", partition=0, offset=2, time=5.0, reason="r", key=b"\xfe")),
]  # fmt: skip


def test_every_kind_of_record_is_stored_once(embedded: Embedded) -> None:
    batch = [(place, records.decode(type(record), records.encode(record))) for place, record in EVERY_KIND]
    writer = ClickHouseWriter(embedded.connect)
    writer.write(batch)
    writer.write(batch)
    ClickHouseWriter(embedded.connect).write(batch)
    assert (value(writer.metrics.rows), value(writer.metrics.repeats)) == (len(batch), len(batch))
    for topic, key in [("job_metrics", "job"), ("failures", "job"), ("slowdowns", "job"), ("gpu_metrics", "node"), ("job_events", "job"),
                       ("alarms", "job"), ("gpu_activity", "job"), ("checkpoints", "job"), ("estimates", "job"), ("node_findings", "node"),
                       ("start_estimates", "job"), ("quotas", "cluster"), ("decisions", "job"), ("decision_results", "job"),
                       ("dead_letters", "topic")]:  # fmt: skip
        rows = sum(records.BY_RECORD[type(record)].name.replace("-", "_") == topic for _, record in batch)
        assert embedded.one(f"SELECT count() FROM {topic} WHERE {key} = 'kind'") == rows, topic
    assert embedded.one("SELECT error_type || toString(root_line) FROM model_answers WHERE id = 'k'") == "other9"
    assert embedded.one("SELECT summary || certainty FROM model_answers WHERE id = 'k'") == "It went boom.low"
    assert (
        embedded.one("SELECT JSONExtractString(templates, 1, 'columns', 1, 'role') FROM formats WHERE id = 'k'")
        == "step"
    )
    assert embedded.one("SELECT count() FROM known_formats WHERE fingerprint = 'kind'") == 0, "a person withdrew it"
    assert embedded.one("SELECT (gpu, severity, text, since) FROM node_findings WHERE id = 'k'") == (
        3,
        "fatal",
        "Xid 79",
        None,
    )
    assert embedded.one("SELECT (quota, capacity, organisations != '[]') FROM quotas WHERE id = 'k'") == (
        4.0,
        None,
        True,
    )
    demand = embedded.client.query(
        "SELECT organisation, peak, median, upper FROM organisation_demand ORDER BY organisation"
    )
    assert list(demand.result_rows) == [("lab", 5.0, 2.5, None), ("o'1", 0.0, None, 1.5)]
    assert embedded.one("SELECT hex(value) FROM dead_letters WHERE id = 'k'") == "FF00"
    assert embedded.one("SELECT hex(key) FROM dead_letters WHERE id = 'l'") == "FE"
    assert embedded.one("SELECT root_line FROM failures WHERE id = 'l'") == 9
    assert embedded.one("SELECT root_line FROM failures WHERE id = 'k'") is None
    assert embedded.one("SELECT (kind, raised, value, usual) FROM alarms WHERE id = 'k'") == ("hang", True, 4.0, None)
    assert embedded.one("SELECT (activity, gpu_hours) FROM alarms WHERE id = 'l'") == ("idle", 0.5)
    assert embedded.one("SELECT (working, idle, vacant, idle_s) FROM gpu_activity WHERE job = 'kind'") == (1, 2, 0, 7.5)
    assert embedded.one(
        "SELECT (slowest_rank, ranks, loss_not_finite) FROM job_metrics WHERE id = 'l' AND job = 'kind'"
    ) == (3, 8, True)
    assert embedded.one("SELECT (slowest_rank, loss_not_finite) FROM job_metrics WHERE id = 'k' AND job = 'kind'") == (
        None,
        False,
    )
    assert embedded.one("SELECT jobs FROM gpu_metrics WHERE id = 'l'") == ["kind"]
    assert embedded.one("SELECT seen['state'] FROM decision_results WHERE id = 'k'") == "RUNNING"


def test_of_two_verdicts_of_one_revision_the_more_certain_one_is_in_force(embedded: Embedded) -> None:
    """A replay that reads topics in another order can make both; ids say nothing."""
    kinds = {"a": 0.5, "z": 0.95, "m": 0.6}
    ClickHouseWriter(embedded.connect).write(
        [
            (Position("failures", 0, place), records.Failure(
                id=f"tie/{name}", job="tie", revision=2, time=5.0, message="m", error_type="other", confidence=sure))
            for place, (name, sure) in enumerate(kinds.items())
        ]
    )  # fmt: skip
    assert embedded.one("SELECT id FROM verdicts WHERE job = 'tie'") == "tie/z"


def test_the_view_of_verdicts_says_how_far_the_training_came(embedded: Embedded) -> None:
    verdict = records.Failure(id="far", job="far", time=T0, message="m", error_type="other", step=2**70, epoch=1.5)
    ClickHouseWriter(embedded.connect).write([(Position("failures", 0, 1), verdict)])
    assert embedded.client.query("SELECT step, epoch FROM verdicts WHERE job = 'far'").result_rows == [(2**63 - 1, 1.5)]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_verdict_said_again_after_another_is_in_force_and_stored_once_each_time(
    embedded: Embedded, size: int
) -> None:
    job = f"again-{size}"
    said = {
        name: records.identified(
            records.Failure(id="", job=job, time=T0, message=name, error_type=records.ErrorType.OTHER, signature=name)
        )
        for name in ("one", "other")
    }
    rows: list[Row] = [
        (Position("failures", 0, revision), msgspec.structs.replace(said[name], revision=revision))
        for revision, name in enumerate(("one", "other", "one"), 1)
    ]
    for _ in range(2):
        for batch in cut(rows, size):
            ClickHouseWriter(embedded.connect).write(batch)
        ClickHouseWriter(embedded.connect).write(rows[:2])
    assert embedded.one("SELECT message FROM verdicts WHERE job = {job:String}", job=job) == "one"
    assert embedded.one("SELECT count() FROM failures WHERE job = {job:String}", job=job) == 3


def test_a_verdict_made_again_with_a_higher_revision_and_nothing_in_between_is_a_repeat(embedded: Embedded) -> None:
    verdict = records.Failure(id="", job="once", time=T0, message="m", error_type=records.ErrorType.OTHER)
    verdict = records.identified(verdict)
    for revision in (1, 2):
        again = msgspec.structs.replace(verdict, revision=revision)
        ClickHouseWriter(embedded.connect).write([(Position("failures", 0, revision), again)])
    assert embedded.one("SELECT count() FROM failures WHERE job = 'once'") == 1


def test_a_result_written_again_at_another_time_is_a_repeat(embedded: Embedded) -> None:
    def result(time: float, offset: int) -> Row:
        record = records.DecisionResult(
            id="d/done", decision_id="d", action="restart", job="later", time=time, outcome="done"
        )
        return Position("decision-results", 0, offset), record

    writer = ClickHouseWriter(embedded.connect)
    writer.write([result(5.0, 1)])
    writer.write([result(6.0, 2)])
    assert embedded.one("SELECT count() FROM decision_results WHERE job = 'later'") == 1


def test_repeats_made_upstream_are_dropped_wherever_they_stand(embedded: Embedded) -> None:
    """A worker that died sends its last records again: the same ids at later offsets, and this writer never failed."""
    writer = ClickHouseWriter(embedded.connect)
    writer.write([metric(step, "upstream") for step in range(200)])
    writer.write([metric(step, "upstream", offset=step + 50) for step in range(150, 260)])
    assert steps(embedded, "upstream") == list(range(260))
    assert rolled_up(embedded, "upstream") == 260


def test_records_of_one_moment_and_late_ones_are_all_kept(embedded: Embedded) -> None:
    writer = ClickHouseWriter(embedded.connect)
    writer.write([metric(step, "moment", time=T0 + 10) for step in range(5)])
    writer.write([metric(step, "moment", time=T0 + 10) for step in range(5, 9)])
    writer.write([metric(step, "moment", time=T0 + 3) for step in range(9, 12)])
    assert steps(embedded, "moment") == list(range(12))
    assert rolled_up(embedded, "moment") == 12


def test_a_topic_made_anew_with_the_same_offsets_is_not_a_repeat(embedded: Embedded) -> None:
    writer = ClickHouseWriter(embedded.connect)
    writer.write([metric(step, "anew", offset=step) for step in range(50)])
    writer.write([metric(step, "anew", offset=step - 50) for step in range(50, 100)])
    assert steps(embedded, "anew") == list(range(100))


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    moves=st.lists(
        st.tuples(st.integers(0, 60), st.integers(0, 40), st.booleans(), st.integers(1, 45)), min_size=1, max_size=5
    )
)
def test_any_replay_in_any_cut_leaves_exactly_the_stream(
    embedded: Embedded, moves: list[tuple[int, int, bool, int]]
) -> None:
    job = f"any-{next(_jobs)}"
    stream = [metric(step, job, rank=step % 3, time=T0 + step * 7 % 150) for step in range(100)]
    writer = ClickHouseWriter(embedded.connect)
    seen: set[int] = set()
    for start, length, restarted, size in moves:
        if restarted:
            writer.close()
            writer = ClickHouseWriter(embedded.connect)
        for batch in cut(stream[start : start + length], size):
            writer.write(batch)
        seen |= set(range(start, min(start + length, 100)))
    writer.close()
    assert steps(embedded, job) == sorted(seen)
    assert rolled_up(embedded, job) == len(seen)


def test_numbers_beyond_the_columns_do_not_stop_the_stream(embedded: Embedded) -> None:
    odd = {
        "step": 10**30,
        "rank": -(10**25),
        "time": 1e30,
        "loss": 1e300,
        "epoch": math.inf,
        "since": -5.0,
        "throughput": math.nan,
    }
    rows = [
        metric(1, "odd"),
        metric(2, "odd", rank=0),
        (Position("job-metrics", 0, 3), records.JobMetric(id="odd", job="odd", **odd)),
    ]
    writer = ClickHouseWriter(embedded.connect)
    writer.write(rows)
    writer.write(rows)
    row = next(
        embedded.client.query(
            "SELECT *, toUnixTimestamp64Micro(since) AS s FROM job_metrics WHERE id = 'odd'"
        ).named_results()
    )
    assert (row["step"], row["rank"], row["loss"], row["epoch"], row["s"]) == (
        2**63 - 1,
        -(2**63),
        math.inf,
        math.inf,
        0,
    )
    assert row["time"].year == 2299
    assert embedded.one("SELECT count() FROM job_metrics WHERE job = 'odd'") == 3


def test_text_is_data(embedded: Embedded) -> None:
    job = "it's; DROP TABLE job_metrics -- {x:String} \\' \x00 ü"
    writer = ClickHouseWriter(embedded.connect)
    writer.write([metric(1, job)])
    ClickHouseWriter(embedded.connect).write([metric(1, job), metric(2, job)])
    assert steps(embedded, job) == [1, 2]


def test_many_jobs_at_once_are_asked_for_in_parts(embedded: Embedded) -> None:
    rows = [metric(step, f"part-{step:05d}-{'x' * 40}", offset=step) for step in range(3000)]
    ClickHouseWriter(embedded.connect).write(rows[:2000])
    again = ClickHouseWriter(embedded.connect)
    again.write(rows)
    assert (value(again.metrics.rows), value(again.metrics.repeats)) == (1000, 2000)


@pytest.mark.parametrize("minutes_apart", [60, 11, 0.01], ids=["hours apart", "just apart", "close"])
@pytest.mark.parametrize("rows", [5, 60], ids=["few", "many"])
def test_repeats_are_found_however_far_apart_their_times_are(
    embedded: Embedded, minutes_apart: float, rows: int
) -> None:
    job = f"apart-{minutes_apart}-{rows}"
    stream = [metric(step, job, time=T0 + step * minutes_apart * 60) for step in range(rows)]
    ClickHouseWriter(embedded.connect).write(stream[: rows // 2])
    again = ClickHouseWriter(embedded.connect)
    again.write(stream)
    assert (value(again.metrics.rows), value(again.metrics.repeats)) == (rows - rows // 2, rows // 2)
    assert rolled_up(embedded, job) == rows


def test_a_partition_that_another_sink_had_in_between_is_not_written_twice(embedded: Embedded) -> None:
    """A group gave the partition away and took it back; the other sink wrote without committing and died."""
    rows = [metric(step, "given-away") for step in range(90)]
    ours, theirs = ClickHouseWriter(embedded.connect), ClickHouseWriter(embedded.connect)
    ours.write(rows[:30])
    theirs.write(rows[30:60])
    ours.write(rows[30:90])
    assert steps(embedded, "given-away") == list(range(90))
    assert rolled_up(embedded, "given-away") == 90


def test_corrections_that_look_alike_are_all_made(embedded: Embedded) -> None:
    """Twice the same minute loses a share of its roll-up of the same size."""
    rows = [metric(step, "alike", time=T0, throughput=1.0, step_time_s=1.0) for step in range(3)]
    for _ in range(2):
        ClickHouseWriter(embedded.connect).write(rows)
        embedded.client.command("ALTER TABLE job_throughput_1m DELETE WHERE job = 'alike' SETTINGS mutations_sync = 1")
        ClickHouseWriter(embedded.connect).write(rows)
        assert rolled_up(embedded, "alike") == 3


def test_a_record_without_a_table_is_refused(embedded: Embedded) -> None:
    chunk = records.LogChunk(job="j", lines=["x"], time=1.0)
    with pytest.raises(SinkRejected, match="LogChunk"):
        ClickHouseWriter(embedded.connect).write([(Position("job-logs", 0, 1), chunk)])


def test_nothing_is_nothing(embedded: Embedded) -> None:
    writer = ClickHouseWriter(embedded.connect)
    writer.write([])
    assert value(writer.metrics.write_duration) == 0


def test_the_time_from_a_line_to_its_row_is_measured(embedded: Embedded) -> None:
    writer = ClickHouseWriter(embedded.connect, clock=lambda: T0 + 4.0)
    writer.write([metric(1, f"lag{next(_jobs)}", time=T0 + 0.5)])
    (family,) = writer.metrics.end_to_end.collect()
    assert {sample.name: sample.value for sample in family.samples if "le" not in sample.labels} == {
        "schedmate_clickhouse_end_to_end_seconds_count": 1,
        "schedmate_clickhouse_end_to_end_seconds_sum": pytest.approx(3.5),
    } | {sample.name: sample.value for sample in family.samples if sample.name.endswith("_created")}
