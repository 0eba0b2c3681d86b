"""Kinds of jobs on the real control plane: their definitions, and JobSet's own controller where it is built.

`tests/servers/install-kubernetes-kinds.sh` brings both; what needs them skips, with the reason, where they are absent.
"""

import base64
import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from . import free_port, kill
from .certificates import Authority
from .kubernetes import BINARIES, Kubernetes

DEFINITIONS = BINARIES.parent / "kinds"
JOBSET = BINARIES / "jobset"
_SCRIPT = "tests/servers/install-kubernetes-kinds.sh"
_HOOKS = "/apis/admissionregistration.k8s.io/v1"


def define(cluster: Kubernetes, *kinds: tuple[str, str, str]) -> None:
    """Define kinds, each by its group, version and plural, and wait until they are served. What is defined already stays."""
    files = {kind: DEFINITIONS / f"{kind[0]}_{kind[2]}.yaml" for kind in kinds}
    if not all(file.exists() for file in files.values()):
        pytest.skip(f"no definitions in {DEFINITIONS}: {_SCRIPT} brings them (Go)")
    paths = [f"/apis/{group}/{version}/{plural}" for group, version, plural in kinds]
    for path, file in zip(paths, files.values(), strict=True):
        if not cluster.api("GET", path, check=False):
            cluster.apply(yaml.load(file.read_text(), yaml.CSafeLoader))
    cluster.until(lambda: all(cluster.api("GET", one, check=False) for one in paths), "all kinds are served", 240)


@contextmanager
def jobset_controller(cluster: Kubernetes) -> Iterator[None]:
    """Run JobSet's controller, with the webhooks that complete and check each JobSet."""
    if not JOBSET.exists():
        pytest.skip(f"no {JOBSET}: {_SCRIPT} builds it (Go, minutes)")
    root = cluster.root / "jobset"
    authority = Authority(root)
    pair = authority.sign("jobset", host="127.0.0.1")
    (root / "tls.crt").write_bytes(pair.cert.read_bytes())
    (root / "tls.key").write_bytes(pair.key.read_bytes())
    hooks, health = free_port(), free_port()
    settings = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": "127.0.0.1", "port": hooks, "certDir": str(root)},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
    }
    (root / "settings.yaml").write_text(json.dumps(settings))
    environment = os.environ | {"KUBECONFIG": str(cluster.kubeconfig())}
    output = root / "controller.log"
    with output.open("wb") as log:
        command = [str(JOBSET), f"--config={root / 'settings.yaml'}"]
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    names = [_hook(cluster, kind, hooks, authority.cert) for kind in ("Mutating", "Validating")]
    try:
        cluster.until(lambda: _ready(process, health, output), "JobSet's controller is ready")
        yield
    finally:
        for name in names:  # without the controller no JobSet could be made
            cluster.delete(name)
        kill(process)


def _hook(cluster: Kubernetes, kind: str, port: int, authority: Path) -> str:
    verb = {"Mutating": "mutate", "Validating": "validate"}[kind]
    operations = ["CREATE"] if kind == "Mutating" else ["CREATE", "UPDATE"]
    hook: dict[str, Any] = {
        "name": "jobset.kb.io",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {
            "url": f"https://127.0.0.1:{port}/{verb}-jobset-x-k8s-io-v1alpha2-jobset",
            "caBundle": base64.b64encode(authority.read_bytes()).decode(),
        },
        "rules": [
            {
                "apiGroups": ["jobset.x-k8s.io"],
                "apiVersions": ["v1alpha2"],
                "operations": operations,
                "resources": ["jobsets"],
            }
        ],
    }
    full = f"{kind}WebhookConfiguration"
    body = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": full, "metadata": {"name": "jobset"}}
    cluster.apply({**body, "webhooks": [hook]})
    return f"{_HOOKS}/{full.lower()}s/jobset"


def _ready(process: "subprocess.Popen[bytes]", port: int, output: Path) -> bool:
    assert process.poll() is None, output.read_text(errors="replace")[-4000:]
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
