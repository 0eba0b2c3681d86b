"""Metrics of the runtimes."""

from schedmate_records import TOPICS
from schedmate_records.metrics import MetricFactory

BATCH_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""A batch takes tens of milliseconds; 30 s is half of what makes a worker count as stuck."""
END_TO_END_S = (0.1, 0.25, 0.5, 0.75, 1, 2, 3, 5, 10, 30, 60, 300, 1800)
"""A chunk closes after half a second; a verdict is promised within one; some wait for a silence of seconds."""


class EngineMetrics:
    """Metrics of an engine. `subsystem` is part of the names, because a worker runs two engines."""

    def __init__(self, subsystem: str = "worker") -> None:
        prefix = f"schedmate_{subsystem}"
        make = MetricFactory(prefix)
        self.messages = make.counter("messages", "Messages received, repeats included.")
        self.repeated = make.counter("repeated", "Messages skipped because the state already includes their position.")
        self.replayed = make.counter("replayed", "Messages read again after a start to restore the states.")
        self.kept = make.counter(
            "kept_partitions",
            "Partitions whose states stayed in memory during a rebalance because no other worker changed them.",
        )
        self.dead_letters = make.counter("dead_letters", "Messages that could not be read or processed.")
        self.refused_keys = make.counter(
            "refused_keys",
            "Messages rejected because records of users named too many new keys. Each becomes a dead letter.",
        )
        self.misplaced = make.counter(
            "misplaced",
            "Messages in a partition other than that of their key. Their producer's partitioner splits the state of a job or node.",
        )
        self.unreadable_fields = make.counter(
            "unreadable_fields",
            "Fields of other tools' log objects, such as a rank, that could not be read: their lines have the default.",
        )
        self.records = make.counter("records", "Records written, by topic.", ["topic"])
        for topic in TOPICS:
            self.records.labels(topic.name)
        self.input = make.counter("input_bytes", "Size of the messages taken.", unit="bytes")
        self.state_written = make.counter("state_written_bytes", "Size of the states written.", unit="bytes")
        self.states = make.gauge("states", "States in memory: one for each job or node.")
        self.forgotten = make.counter(
            "forgotten", "States deleted because their job or node ended or was silent for long."
        )
        self.trimmed = make.gauge("trimmed_states", "States that were too large to be stored and were trimmed.")
        self.lag = make.gauge("lag_messages", "Messages not yet processed, in all partitions of this worker.")
        self.batch_duration = make.histogram(
            "batch_duration_seconds",
            "Time to process one batch and to write its results, including acknowledgements.",
            buckets=BATCH_S,
            unit="seconds",
        )
        self.end_to_end = make.histogram(
            "end_to_end_seconds",
            "Time from the arrival of a chunk's last line to the acknowledgement of its results; of each batch, that of the chunk "
            "that waited longest.",
            buckets=END_TO_END_S,
            unit="seconds",
        )
        self.verdict_latency = make.histogram(
            "verdict_latency_seconds",
            "From the arrival of the line that explains a failure to the acknowledgement of an attempt's first verdict.",
            buckets=END_TO_END_S,
            unit="seconds",
        )


class PumpMetrics:
    """Metrics of a pump."""

    def __init__(self) -> None:
        make = MetricFactory("schedmate_pump")
        self.messages = make.counter("messages", "Messages read.")
        self.dead_letters = make.counter("dead_letters", "Messages without a valid record of their topic.")
        self.lag = make.gauge("lag_messages", "Messages not yet read, in all partitions.")
        self.batch_duration = make.histogram(
            "batch_duration_seconds",
            "Time to process one batch of messages, including waits for stores and schedulers.",
            buckets=(*BATCH_S, 60, 300),
            unit="seconds",
        )
