"""The transport on Apache Kafka, through kafka-python."""

from .admin import check_role, check_topics, create_topics, list_topics
from .connection import Connection
from .consumer import KafkaConsumer, read_back, read_one
from .producer import KafkaProducer

__all__ = [
    "Connection",
    "KafkaConsumer",
    "KafkaProducer",
    "check_role",
    "check_topics",
    "create_topics",
    "list_topics",
    "read_back",
    "read_one",
]
