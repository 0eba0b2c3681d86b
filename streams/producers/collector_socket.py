"""The socket at which the collector of a node takes in what pipes hand over.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os

DEFAULT_SOCKET = "/run/schedmate/collector.sock"
"""Path of the collector's socket in its systemd unit and in the chart. Only root can create a file there."""
VARIABLE = "SCHEDMATE_SOCKET"


def choose_socket(named: str | None, *, broker_named: bool) -> str | None:
    """Return the socket that a pipe hands its lines to; None where it writes to Kafka itself.

    A pipe decides once, at its start: while the collector restarts, its lines must not go elsewhere.

    Args:
        named: What an option, the environment or the settings name. It is used whether it exists or not.
        broker_named: Whether the settings name a broker. Where they do not, `DEFAULT_SOCKET` is used if it exists.
    """
    if named:
        return named
    return DEFAULT_SOCKET if not broker_named and os.path.exists(DEFAULT_SOCKET) else None  # noqa: PTH110  not pathlib: it takes 5 ms
