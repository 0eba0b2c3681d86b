"""Takes this machine out of a log: its directories, host name, addresses, kernel and user."""

import platform
import re
import socket
import sys
from pathlib import Path

_LOCAL = re.compile(r"\|-- (\d+\.\d+\.\d+\.\d+)\n +/32 host LOCAL")


def scrub(text: str, workdir: Path, python: Path) -> str:
    """Return `text` without what belongs to this machine; `python` is the interpreter that the run used. Lines stay lines."""
    text = text.replace(str(workdir), "/home/user/project").replace(str(python.parent.parent), "/opt/venv")
    for prefix in {sys.base_prefix, str(python.resolve().parent.parent)} - {"/usr", "/usr/local"}:
        text = text.replace(prefix, "/opt/python")
    text = text.replace(str(Path(__file__).resolve().parents[3]), "/opt/project")
    text = re.sub(rf"(?<![\w.-]){re.escape(socket.gethostname())}(?![\w-])", "node1", text)
    text = text.replace(platform.release(), platform.release().partition("-")[0])
    for address in _addresses():
        text = text.replace(address, "10.0.0.1")
    return re.sub(r"\broot@", "user@", text)


def _addresses() -> set[str]:
    """Return this machine's own addresses, loopback apart."""
    try:
        table = Path("/proc/net/fib_trie").read_text()
    except OSError:
        return set()
    return {one for one in _LOCAL.findall(table) if not one.startswith("127.")}
