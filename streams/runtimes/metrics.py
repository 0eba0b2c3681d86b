"""Metrics of the runtimes."""

from prometheus_client import Counter, Gauge, Histogram

from schedmate_records import TOPICS

BATCH_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""A batch takes tens of milliseconds; 30 s is half of what makes a worker count as stuck."""
END_TO_END_S = (0.1, 0.25, 0.5, 0.75, 1, 2, 3, 5, 10, 30, 60, 300, 1800)
"""A chunk closes after half a second; a verdict is promised within one; some wait for a silence of seconds."""


class EngineMetrics:
    """What one engine has done; `subsystem` becomes a part of the names, for a worker runs two of them."""

    def __init__(self, subsystem: str = "worker") -> None:
        prefix = f"schedmate_{subsystem}"
        self.messages = Counter(f"{prefix}_messages", "Messages received, repeats included.", registry=None)
        self.repeated = Counter(
            f"{prefix}_repeated", "Messages skipped because the state already includes their position.", registry=None
        )
        self.replayed = Counter(
            f"{prefix}_replayed",
            "Messages read again after a start to restore the states.",
            registry=None,
        )
        self.kept = Counter(
            f"{prefix}_kept_partitions",
            "Partitions whose states stayed in memory during a rebalance because no other worker changed them.",
            registry=None,
        )
        self.dead_letters = Counter(
            f"{prefix}_dead_letters", "Messages that could not be read or processed.", registry=None
        )
        self.refused_keys = Counter(
            f"{prefix}_refused_keys",
            "Messages rejected because records of users named too many new keys. Each becomes a dead letter.",
            registry=None,
        )
        self.misplaced = Counter(
            f"{prefix}_misplaced",
            "Messages in a partition other than that of their key. Their producer's partitioner splits the state of a job or node.",
            registry=None,
        )
        self.unreadable_fields = Counter(
            f"{prefix}_unreadable_fields",
            "Fields of other tools' log objects, such as a rank, that could not be read: their lines have the default.",
            registry=None,
        )
        self.records = Counter(f"{prefix}_records", "Records written, by topic.", ["topic"], registry=None)
        for topic in TOPICS:
            self.records.labels(topic.name)
        self.input = Counter(f"{prefix}_input_bytes", "Size of the messages taken.", unit="bytes", registry=None)
        self.state_written = Counter(
            f"{prefix}_state_written_bytes", "Size of the states written.", unit="bytes", registry=None
        )
        self.states = Gauge(f"{prefix}_states", "States in memory: one for each job or node.", registry=None)
        self.forgotten = Counter(
            f"{prefix}_forgotten",
            "States deleted because their job or node ended or was silent for long.",
            registry=None,
        )
        self.trimmed = Gauge(
            f"{prefix}_trimmed_states",
            "States that were too large to be stored and were trimmed.",
            registry=None,
        )
        self.lag = Gauge(
            f"{prefix}_lag_messages", "Messages not yet processed, in all partitions of this worker.", registry=None
        )
        self.batch_duration = Histogram(
            f"{prefix}_batch_duration_seconds",
            "Time to process one batch and to write its results, including acknowledgements.",
            buckets=BATCH_S,
            unit="seconds",
            registry=None,
        )
        self.end_to_end = Histogram(
            f"{prefix}_end_to_end_seconds",
            "Time from the arrival of a chunk's last line to the acknowledgement of its results; of each batch, that of the chunk "
            "that waited longest.",
            buckets=END_TO_END_S,
            unit="seconds",
            registry=None,
        )
        self.verdict_latency = Histogram(
            f"{prefix}_verdict_latency_seconds",
            "From the arrival of the line that explains a failure to the acknowledgement of an attempt's first verdict.",
            buckets=END_TO_END_S,
            unit="seconds",
            registry=None,
        )


class PumpMetrics:
    """What one pump has done."""

    def __init__(self) -> None:
        self.messages = Counter("schedmate_pump_messages", "Messages read.", registry=None)
        self.dead_letters = Counter(
            "schedmate_pump_dead_letters",
            "Messages without a valid record of their topic.",
            registry=None,
        )
        self.lag = Gauge("schedmate_pump_lag_messages", "Messages not yet read, in all partitions.", registry=None)
        self.batch_duration = Histogram(
            "schedmate_pump_batch_duration_seconds",
            "Time to process one batch of messages, including waits for stores and schedulers.",
            buckets=(*BATCH_S, 60, 300),
            unit="seconds",
            registry=None,
        )
