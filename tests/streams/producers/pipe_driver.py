"""Runs a pipe the way the command line does, over a broker that is a directory.

    python pipe_driver.py DIRECTORY MODE [-- COMMAND…]

`DIRECTORY/written` gets one JSON line a message, while `DIRECTORY/up` exists. MODE: `up`, `crash` (the shipping process dies at
once), `bug` (it raises what no client raises), `hang` (connecting never ends), `load` (it loads until `DIRECTORY/up` exists).
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from streams.producers import shipping_process
from streams.producers.child import Child, end_like
from streams.producers.environment import Identity
from streams.producers.pipe import filter_through, follow, fresh_name
from streams.producers.pipe_settings import PipeSettings, ShippingRun
from streams.transport import Outgoing, TransportError


class DirectoryBroker:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        if not (directory / "up").exists():
            raise TransportError("not up")

    def send(self, message: Outgoing) -> "Future[None]":
        done: Future[None] = Future()
        if (self.directory / "up").exists():
            with (self.directory / "written").open("ab") as out:
                # A newline on both sides: a row that a kill tore apart spoils no other.
                out.write(b"\n" + json.dumps([message.topic, (message.value or b"").decode()]).encode() + b"\n")
            done.set_result(None)
        else:
            done.set_exception(TransportError("not up"))
        return done

    def flush(self, timeout: float) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Nothing is held."""


class SlowLoading:
    """Holds up the import of what the shipping process loads."""

    def __init__(self, until: Path) -> None:
        self.until = until

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> None:
        while name == "streams.producers.pipe_shipping" and not self.until.exists():
            time.sleep(0.01)


def main() -> None:
    directory, mode = Path(sys.argv[1]), sys.argv[2]
    if mode == "load":
        sys.meta_path.insert(0, SlowLoading(directory / "up"))
    shipping_process.LOAD_SECONDS = float(os.environ.get("LOAD", shipping_process.LOAD_SECONDS))
    command = sys.argv[4:]
    settings = PipeSettings(
        identity=Identity("1", 0, "n1", 3),
        name=fresh_name("n1"),
        spool=str(directory / "spool"),
        spool_bytes=int(os.environ.get("BUDGET", str(1 << 30))),
        close_timeout=float(os.environ.get("CLOSE", "5")),
        hold=float(os.environ.get("HOLD", os.environ.get("CLOSE", "30"))),
        run=ShippingRun(time.time(), command) if "WHOLE" in os.environ else None,
        memory=int(os.environ.get("MEMORY", str(16 << 20))),
    )

    def connect() -> DirectoryBroker:
        if mode == "crash":
            os._exit(9)
        if mode == "bug":
            raise KeyError("nobody expects this")
        if mode == "hang":
            time.sleep(1000)
        return DirectoryBroker(directory)

    if command:
        end_like(follow(Child(command), settings, connect))
    end_like(filter_through(settings, connect))


if __name__ == "__main__":
    main()
