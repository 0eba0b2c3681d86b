"""The transport on Apache Kafka, through kafka-python."""

from .admin import check_role, check_topics, create_topics, list_topics
from .changes import KafkaChanges
from .connection import Connection
from .consumer import COMMIT_MS, MEMBERSHIP_ERRORS, KafkaConsumer, read_back, read_newest, read_one, read_span
from .follower import KafkaFollower
from .producer import KafkaProducer
from .reader import KafkaReader

__all__ = [
    "COMMIT_MS",
    "MEMBERSHIP_ERRORS",
    "Connection",
    "KafkaChanges",
    "KafkaConsumer",
    "KafkaFollower",
    "KafkaProducer",
    "KafkaReader",
    "check_role",
    "check_topics",
    "create_topics",
    "list_topics",
    "read_back",
    "read_newest",
    "read_one",
    "read_span",
]
