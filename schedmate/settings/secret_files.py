"""Keeps secrets from other users of the host: files that they can read, and passwords in addresses."""

import re
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


def without_password(text: str) -> str:
    """Return `text` with `***` for every password in an address (`//user:password@host`, `?password=`)."""
    return "".join(part if part.isspace() else _masked(part) for part in re.split(r"(\s+)", text))


def _masked(word: str) -> str:
    before, at, host = word.rpartition("@")
    scheme = before.find("://")
    colon = before.find(":", scheme + 3 if scheme >= 0 else 0)
    if at and colon >= 0:
        word = f"{before[: colon + 1]}***@{host}"
    address, question, query = word.partition("?")
    return address + question + "&".join(map(_masked_parameter, query.split("&")))


def _masked_parameter(parameter: str) -> str:
    name, equals, _ = parameter.partition("=")
    return f"{name}=***" if equals and name.lower().endswith(("password", "secret", "token")) else parameter
