"""Certificates made for one test: an authority, and what it signs."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.servers import require


@dataclass(frozen=True)
class Certificate:
    """One certificate and its key, PEM. `both` holds the two, as Kafka and a TLS front take them."""

    cert: Path
    key: Path
    both: Path


class Authority:
    """Signs certificates; `cert` is what clients have to trust."""

    def __init__(self, directory: Path, name: str = "test authority") -> None:
        require(shutil.which("openssl") is not None, "openssl", "Run tests/servers/install.sh.")
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self.cert, self._key = directory / "ca.pem", directory / "ca.key"
        _openssl(
            *("req", "-x509", *_NEW_KEY, "-days", "2", "-subj", f"/CN={name}"),
            *("-keyout", self._key, "-out", self.cert),
        )

    def sign(self, name: str, *, host: str = "") -> Certificate:
        """Return a new certificate for `CN=name`; for a server, `host` is the one name or address that it is valid for."""
        at = self._directory / name
        cert, key, both, request = (at.with_suffix(suffix) for suffix in (".pem", ".key", ".both", ".csr"))
        _openssl("req", "-new", *_NEW_KEY, "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        extensions = at.with_suffix(".ext")
        kind = "IP" if host[:1].isdigit() else "DNS"
        extensions.write_text(f"subjectAltName={kind}:{host}\n" if host else "basicConstraints=CA:FALSE\n")
        _openssl(
            *("x509", "-req", "-in", request, "-CA", self.cert, "-CAkey", self._key, "-CAcreateserial"),
            *("-days", "2", "-extfile", extensions, "-out", cert),
        )
        both.write_text(key.read_text() + cert.read_text())
        return Certificate(cert, key, both)


_NEW_KEY = ("-newkey", "rsa:2048", "-nodes", "-sha256")


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
