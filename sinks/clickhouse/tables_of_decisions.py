"""What is decided, approved and done: the columns of its tables."""

import records

from .columns import encoded, integer, maybe_time, plain, real, text, texts, time
from .table import Table

TABLES: tuple[Table, ...] = (
    Table(
        "decisions",
        records.Decision,
        (
            text("id"),
            text("action"),
            text("job"),
            text("node"),
            integer("attempt"),
            time("time"),
            time("expires"),
            text("mode"),
            text("policy"),
            text("reason"),
            text("cause"),
            text("cause_id"),
            texts("exclude_nodes"),
            plain("node_evidence", "Bool"),
            real("grace_s"),
            text("checkpoint"),
            text("beneficiary"),
            encoded("evidence"),
            text("signature"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "decision_results",
        records.DecisionResult,
        (
            text("id"),
            text("decision_id"),
            text("action"),
            text("job"),
            integer("attempt"),
            text("cause"),
            text("node"),
            text("user"),
            time("time"),
            text("outcome"),
            text("detail"),
            plain("seen", "Map(String, String)"),
            text("actuator"),
        ),
        key="job",
        timed=False,
    ),
    Table(
        "approvals",
        records.OperatorCommand,
        (
            text("id"),
            text("command"),
            text("about"),
            text("job"),
            text("user"),
            text("principal"),
            text("host"),
            time("time"),
            maybe_time("expires"),
            text("reason"),
        ),
        key="job",
        timed=False,
    ),
)
