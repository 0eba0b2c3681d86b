"""Files with secrets that other users of the host can read."""

import stat
from collections.abc import Iterator
from pathlib import Path

from .settings import Settings

_NAMES = (
    "password_file",
    "reader_password_file",
    "signing_keys_file",
    "slack_file",
    "ssl_keyfile",
    "webhook_token_file",
)
"""Settings of any section that name a file with a secret."""
_MOUNTED = Path("/run/secrets")
"""Secrets of a container, which has no other users."""


def exposed_files(settings: Settings) -> Iterator[str]:
    """Yield a sentence for each file with a secret that others can read: the setting, the file, its mode and what to do."""
    for section in type(settings).model_fields:
        values = getattr(settings, section)
        for name in _NAMES:
            file = getattr(values, name, None)
            if file and (mode := _mode(Path(file))) & (stat.S_IROTH | stat.S_IWOTH):
                yield (
                    f"warning: {section}.{name}: expected a file that only its owner can read, got mode {mode:04o} of {file}; "
                    f"run chmod 600 {file}"
                )


def _mode(file: Path) -> int:
    """Return the permissions of a file; none where it is not there, which is reported when it is read."""
    try:
        return 0 if file.is_relative_to(_MOUNTED) else stat.S_IMODE(file.stat().st_mode)
    except OSError:
        return 0
