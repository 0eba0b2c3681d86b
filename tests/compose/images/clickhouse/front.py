"""Serve ClickHouse's engine on port 8123 of the container, to the users of `users.d`."""

import signal
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from tests.servers.clickhouse import serve


def read_users(directory: Path) -> dict[str, str]:
    """Return the SHA-256 digest of each user's password, by user name."""
    return {
        user.tag: user.findtext("password_sha256_hex", "")
        for file in directory.glob("*.xml")
        for user in ET.parse(file).iterfind("users/*")
        if user.get("remove") is None
    }


if __name__ == "__main__":
    # The first process of a container ignores SIGTERM unless it handles it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    users = read_users(Path("/etc/clickhouse-server/users.d"))
    serve(Path("/var/lib/clickhouse/engine"), 8123, host="0.0.0.0", users=users)
