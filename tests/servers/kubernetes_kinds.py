"""Kinds of jobs on the real control plane: their definitions, and JobSet's and Kueue's own controllers where they are built.

`tests/servers/install-kubernetes-kinds.sh` brings all; what needs them skips, with the reason, where they are absent.
"""

import base64
import json
import os
import subprocess
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.servers import free_port, kill

from .certificates import Authority
from .kubernetes import BINARIES, Kubernetes

DEFINITIONS = BINARIES.parent / "kinds"
_SCRIPT = "tests/servers/install-kubernetes-kinds.sh"
_CONVERTED = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")
"""Kueue's kinds that its webhook converts (its config/components/crd/kustomization.yaml)."""
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
    settings = {"apiVersion": "config.jobset.x-k8s.io/v1alpha1", "kind": "Configuration"}
    with _controller(cluster, "jobset", settings, "--config") as (client, wait):
        for kind, operations in (("Mutating", ["CREATE"]), ("Validating", ["CREATE", "UPDATE"])):
            verb = {"Mutating": "mutate", "Validating": "validate"}[kind]
            rule = {
                "apiGroups": ["jobset.x-k8s.io"],
                "apiVersions": ["v1alpha2"],
                "operations": operations,
                "resources": ["jobsets"],
            }
            path = f"/{verb}-jobset-x-k8s-io-v1alpha2-jobset"
            hook = {"name": "jobset.kb.io", "admissionReviewVersions": ["v1"], "sideEffects": "None", "rules": [rule]}
            _apply_hooks(cluster, kind, "jobset", [{**hook, "clientConfig": client(path)}])
        wait()
        yield


@contextmanager
def kueue_controller(cluster: Kubernetes) -> Iterator[None]:
    """Run Kueue's controller for Jobs, with its own kinds, and the webhooks that convert, complete and check them and Jobs.

    It leaves its kinds behind, which nobody converts any more, so the control plane should be the test's own.
    """
    hooks = DEFINITIONS / "kueue-webhooks.yaml"
    if not hooks.exists():
        pytest.skip(f"no {hooks}: {_SCRIPT} brings it (Go)")
    settings = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "integrations": {"frameworks": ["batch/job"]},
    }
    options = ("--feature-gates=VisibilityOnDemand=false", "--config")
    kinds = [yaml.load(file.read_text(), yaml.CSafeLoader) for file in DEFINITIONS.glob("kueue.x-k8s.io_*.yaml")]
    for kind in kinds:
        cluster.apply(kind)
    paths = [f"/apis/kueue.x-k8s.io/v1beta2/{kind['spec']['names']['plural']}" for kind in kinds]
    cluster.until(lambda: all(cluster.api("GET", path, check=False) for path in paths), "Kueue's kinds are served", 240)
    with _controller(cluster, "kueue", settings, *options) as (client, wait):
        for kind in kinds:
            if kind["spec"]["names"]["plural"] in _CONVERTED:
                webhook = {"clientConfig": client("/convert"), "conversionReviewVersions": ["v1"]}
                path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{kind['metadata']['name']}"
                patch = {"spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}}}
                cluster.api("PATCH", path, patch, kind="application/merge-patch+json")
        for found in yaml.load_all(hooks.read_text(), yaml.CSafeLoader):
            ours = [
                {**hook, "clientConfig": client(hook["clientConfig"]["service"]["path"])}
                for hook in found["webhooks"]
                if any(
                    word in hook["clientConfig"]["service"]["path"] for word in ("-kueue-x-k8s-io-", "-batch-v1-job")
                )
            ]
            _apply_hooks(cluster, found["kind"].removesuffix("WebhookConfiguration"), "kueue", ours)
        wait()
        yield


@contextmanager
def _controller(
    cluster: Kubernetes, name: str, settings: Mapping[str, Any], *options: str
) -> Iterator[tuple[Callable[[str], dict[str, str]], Callable[[], None]]]:
    """Run a controller whose webhooks listen on loopback.

    Yields what says how a path of them is reached, and what waits until it is ready. The last option is the one that names its settings.
    """
    binary = BINARIES / name
    if not binary.exists():
        pytest.skip(f"no {binary}: {_SCRIPT} builds it (Go, minutes)")
    root = cluster.root / name
    authority = Authority(root)
    pair = authority.sign(name, host="127.0.0.1")
    (root / "tls.crt").write_bytes(pair.cert.read_bytes())
    (root / "tls.key").write_bytes(pair.key.read_bytes())
    hooks, health = free_port(), free_port()
    whole = {
        **settings,
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": "127.0.0.1", "port": hooks, "certDir": str(root)},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
    }
    (root / "settings.yaml").write_text(json.dumps(whole))
    output = root / "controller.log"
    with output.open("wb") as log:
        command = [str(binary), *options[:-1], f"{options[-1]}={root / 'settings.yaml'}"]
        environment = os.environ | {"KUBECONFIG": str(cluster.kubeconfig())}
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    bundle = base64.b64encode(authority.cert.read_bytes()).decode()
    try:
        yield (
            lambda path: {"url": f"https://127.0.0.1:{hooks}{path}", "caBundle": bundle},
            lambda: cluster.until(lambda: _ready(process, health, output), f"{name}'s controller is ready"),
        )
    finally:
        for kind in ("mutating", "validating"):  # without the controller none of its objects could be made
            cluster.delete(f"{_HOOKS}/{kind}webhookconfigurations/{name}")
        kill(process)


def _apply_hooks(cluster: Kubernetes, kind: str, name: str, hooks: Sequence[Mapping[str, Any]]) -> None:
    full = f"{kind}WebhookConfiguration"
    body = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": full, "metadata": {"name": name}}
    cluster.apply({**body, "webhooks": list(hooks)})


def _ready(process: "subprocess.Popen[bytes]", port: int, output: Path) -> bool:
    assert process.poll() is None, output.read_text(errors="replace")[-4000:]
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
