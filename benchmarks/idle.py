"""A Faust worker that decodes the chunks of `job-logs` and does nothing else: what ours is measured against.

python -m benchmarks.idle BROKER GROUP CHUNKS
"""

import logging
import os
import sys
import time
from typing import Any

import faust

from schedmate_records import LogChunk, decode


def main() -> None:
    """Print the seconds from the first chunk to the last, and end."""
    broker, group, chunks = sys.argv[1], sys.argv[2], int(sys.argv[3])
    logging.disable(logging.CRITICAL)
    app = faust.App(
        group,
        broker=f"kafka://{broker}",
        consumer_auto_offset_reset="earliest",
        consumer_max_fetch_size=16 << 20,
        broker_max_poll_records=500,
        topic_allow_declare=False,
        topic_disable_leader=True,
        web_enabled=False,
    )
    began = seen = 0.0

    @app.agent(app.topic("job-logs", key_serializer="raw", value_serializer="raw"))
    async def idle(stream: Any) -> None:
        nonlocal began, seen
        async for events in stream.noack_take(50, within=0.05):
            began = began or time.perf_counter()
            for event in events:
                decode(LogChunk, event.value)
                await stream.ack(event)
            seen += len(events)
            if seen >= chunks:
                sys.stdout.write(f"\n{time.perf_counter() - began}\n")
                sys.stdout.flush()
                os._exit(0)

    faust.Worker(app, override_logging=False, quiet=True).execute_from_commandline()


if __name__ == "__main__":
    main()
