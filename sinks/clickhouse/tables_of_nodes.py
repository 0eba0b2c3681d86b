"""The tables of nodes and their GPUs, column by column."""

from functools import partial

import schedmate_records as records

from .columns import (
    derived,
    encoded,
    fitting,
    integer,
    maybe_integer,
    maybe_real,
    maybe_time,
    part,
    plain,
    real,
    text,
    texts,
    time,
)
from .table import Table

_ATTEMPT = (text("id"), text("job"), integer("attempt"), text("incarnation"))


def _gpus_in(state: records.GpuState, activity: records.GpuActivity) -> int:
    return sum(gpu.state is state for gpu in activity.gpus)


TABLES: tuple[Table, ...] = (
    Table(
        "gpu_activity",
        records.GpuActivity,
        (
            *_ATTEMPT,
            text("node"),
            time("time"),
            encoded("gpus"),
            *(derived(state.value, "Int64", partial(_gpus_in, state)) for state in records.GpuState),
            *(real(f"{state.value}_s") for state in records.GpuState),
        ),
        key="job",
    ),
    Table(
        "gpu_metrics",
        records.GpuSample,
        (
            text("id"),
            text("node"),
            integer("gpu"),
            text("uuid"),
            text("name"),
            time("time"),
            maybe_integer("utilisation"),
            maybe_integer("memory_utilisation"),
            maybe_integer("memory_used_bytes"),
            maybe_integer("memory_total_bytes"),
            maybe_real("power_watts"),
            maybe_integer("temperature_c"),
            maybe_integer("sm_clock_mhz"),
            maybe_integer("memory_clock_mhz"),
            derived("throttle_reasons", "Array(String)", lambda sample: sample.throttle_reasons or []),
            maybe_integer("ecc_corrected"),
            maybe_integer("ecc_uncorrected"),
            maybe_integer("rows_remapped"),
            maybe_integer("nvlink_errors"),
            maybe_integer("nvlink_active"),
            derived("xids", "Array(Int64)", lambda sample: fitting(sample.xids)),
            derived("recovery_action", "String", lambda sample: sample.recovery_action or ""),
            derived(
                "jobs",
                "Array(String)",
                lambda sample: sorted({process.job for process in sample.processes if process.job}),
            ),
            encoded("processes"),
            plain("recorded", "Bool"),
            text("error"),
        ),
        key="node",
    ),
    Table(
        "node_findings",
        records.NodeFinding,
        (
            *_ATTEMPT,
            text("node"),
            time("time"),
            maybe_time("since"),
            maybe_integer("gpu"),
            text("device"),
            text("event"),
            maybe_integer("link"),
            text("recommended_action"),
            derived("recovery_action", "String", lambda finding: finding.recovery_action or ""),
            plain("drain", "Bool"),
            text("signature"),
            text("kind"),
            text("severity"),
            text("error_type"),
            text("component"),
            plain("restartable", "Nullable(Bool)"),
            real("confidence"),
            derived("place_topic", "String", part("place", "topic", "")),
            maybe_integer("place_partition", part("place", "partition", None)),
            maybe_integer("place_offset", part("place", "offset", None)),
            maybe_integer("place_line", part("place", "line", None)),
            derived("text", "String", part("place", "text", "")),
            texts("jobs"),
            integer("times"),
        ),
        key="node",
    ),
)
