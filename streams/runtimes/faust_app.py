"""A Faust application as we use it: membership, fetching and commits, nothing else of Faust's."""

import gc
import logging
import ssl
from typing import Any

import faust

from ..kafka import Connection
from .faust_transport import PatientApp

GARBAGE = (10_000, 10, 100)
"""Thresholds of Python's collector of cycles (`gc.set_threshold`).

A worker holds some hundred objects of each job, and none of them is garbage. By default, the collector looks at all of them whenever there
are a quarter more: with 2,000 jobs that took a tenth of a worker's time. What a worker drops is freed at once, but for a few cycles.
"""


def faust_app(connection: Connection, group: str, session_timeout_s: float) -> faust.App:
    """Return an application whose agents are members of `group`; a dead one keeps its partitions for `session_timeout_s` seconds."""
    return PatientApp(
        group,
        broker=[f"kafka://{broker}" for broker in connection.brokers],
        broker_credentials=_credentials(connection),
        broker_session_timeout=session_timeout_s,
        broker_heartbeat_interval=session_timeout_s / 4,
        broker_commit_interval=0.5,
        broker_max_poll_records=500,
        consumer_auto_offset_reset="earliest",
        # A broker that has just come back may let the group form before it knows its topics: look again soon, and rebalance.
        consumer_metadata_max_age_ms=5000,
        consumer_max_fetch_size=16 << 20,
        producer_compression_type="lz4",
        producer_linger=0.002,
        producer_max_request_size=16 << 20,
        producer_acks=-1,
        topic_allow_declare=False,
        topic_disable_leader=True,
        web_enabled=False,
        autodiscover=False,
        key_serializer="raw",
        value_serializer="raw",
    )


def run_app(app: faust.App) -> None:
    """Run until SIGINT or SIGTERM; ends the process."""
    logging.getLogger("faust").setLevel(logging.WARNING)
    gc.set_threshold(*GARBAGE)
    worker = faust.Worker(app, override_logging=False, quiet=True)
    worker.execute_from_commandline()


def _credentials(connection: Connection) -> Any:
    context: ssl.SSLContext | None = connection.ssl_context()
    if connection.sasl_mechanism:
        return faust.SASLCredentials(
            mechanism=connection.sasl_mechanism,
            username=connection.sasl_username,
            password=connection.sasl_password,
            ssl_context=context,
        )
    return faust.SSLCredentials(context) if context else None
