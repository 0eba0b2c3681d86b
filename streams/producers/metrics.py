"""What producers of logs count."""

from prometheus_client import Counter, Gauge


class ShippingMetrics:
    """Numbers of one producer since its start."""

    def __init__(self) -> None:
        self.pieces = Counter("schedmate_collector_pieces", "Pieces of text that were put into chunks.", registry=None)
        self.lines = Counter("schedmate_collector_lines", "Lines: pieces that ended with a newline.", registry=None)
        self.bytes = Counter("schedmate_collector_read_bytes", "Bytes read from files.", unit="bytes", registry=None)
        self.chunks = Counter("schedmate_collector_chunks", "Chunks handed over for shipping.", registry=None)
        self.acknowledged = Counter(
            "schedmate_collector_acknowledged", "Messages that the broker has acknowledged.", registry=None
        )
        self.spooled_chunks = Counter("schedmate_collector_spooled_chunks", "Chunks that went to disk.", registry=None)
        self.spooled_bytes = Gauge(
            "schedmate_collector_spooled_bytes", "Bytes in spool files now.", unit="bytes", registry=None
        )
        self.lost_lines = Counter(
            "schedmate_collector_lost_lines", "Lines given up because disk or memory was full.", registry=None
        )
        self.sends_failed = Counter(
            "schedmate_collector_sends_failed", "Sends, and attempts to connect, that failed.", registry=None
        )
        self.broker_up = Gauge(
            "schedmate_collector_broker_up", "1 while the broker acknowledges what is sent.", registry=None
        )
        self.files = Gauge("schedmate_collector_files", "Files followed now.", registry=None)
        self.files_refused = Counter(
            "schedmate_collector_files_refused",
            "Files that no job could be told for, or that could not be read.",
            registry=None,
        )
        self.files_untrusted = Counter(
            "schedmate_collector_files_untrusted",
            "Of these, files that may not speak for the job that their name tells, or that stand behind a link.",
            registry=None,
        )
