"""The Helm chart: its values, what it renders, and what a real API server says of that."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from schedmate.cli import COMMANDS
from schedmate.settings.settings import load
from schedmate_records import Action
from tests.servers.kubernetes import BINARIES, Kubernetes

from .conftest import ROOT

CHART = ROOT / "packaging" / "helm" / "schedmate"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
RIGHTS = yaml.safe_load((CHART / "files" / "rights.yaml").read_text())
ASKS = {"bridge", "spot", "starts", "watcher", "collector"}
"""Programs that speak to the API server."""
EVERYTHING = {
    "settings": {
        "bridge": {"modes": {"restart": "act", "drain": "approve", "evict": "shadow"}, "evict_for": ["qos=urgent"]},
        "kafka": {"security": "SASL_SSL", "ssl_cafile": "/etc/schedmate/authorities/ca.crt", "session_timeout_s": 7.5},
        "service": {"log_level": "debug"},
    },
    "secrets": {name: {"name": f"of-{name.replace('_', '-')}"} for name in VALUES["secrets"]},
    "authorities": "authorities",
    "imagePullSecrets": [{"name": "registry"}],
    "spot": {"enabled": True},
    "starts": {"enabled": True, "every": 60},
    "modelWorker": {"enabled": True},
    "notifier": {"enabled": True},
    "worker": {"kafkaUser": "worker", "kafkaSecret": {"name": "of-worker"}, "podAnnotations": {"team": "ml"}},
    "watcher": {"namespace": "research", "claim": "told"},
    "advisor": {"claim": "history"},
    "web": {"names": ["jobs.example.org"], "sidecars": [{"name": "proxy", "image": "proxy:1"}]},
    "collector": {"kernelDevice": True},
}
CASES: Mapping[str, Mapping[str, Any]] = {"defaults": {}, "everything": EVERYTHING}


@pytest.fixture(scope="session")
def helm() -> str:
    found = shutil.which("helm") or shutil.which("helm", path=BINARIES)
    if found is None:
        pytest.skip(f"no helm on the path or in {BINARIES}: tests/servers/install-kubernetes.sh builds it (Go)")
    return found


def render(helm: str, directory: Path, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    file = directory / "values.yaml"
    file.write_text(yaml.safe_dump(dict(values)))
    options = ["--namespace", "ops", "--kube-version", "1.34.2", "--values", str(file)]
    done = subprocess.run([helm, "template", "site", CHART, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


@pytest.fixture(params=CASES)
def rendered(request: pytest.FixtureRequest, helm: str, tmp_path: Path) -> list[dict[str, Any]]:
    return render(helm, tmp_path, CASES[request.param])


def pods(objects: list[dict[str, Any]]) -> dict[str, Any]:
    """The pod of each program."""
    return {
        each["metadata"]["labels"]["app.kubernetes.io/component"]: each["spec"]["template"]["spec"]
        for each in objects
        if each["kind"] in ("Deployment", "DaemonSet", "Job")
    }


def rules(objects: list[dict[str, Any]], component: str) -> set[tuple[str, str]]:
    """What a program may do: resource and verb."""
    return {
        (resource, verb)
        for each in objects
        if each["kind"] == "ClusterRole" and each["metadata"]["name"].endswith(f"-{component}")
        for rule in each["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_the_readme_names_every_value() -> None:
    rows = re.findall(r"^\| (`.+?`) \|", (CHART / "README.md").read_text(), re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(VALUES)


def test_every_value_is_used_and_explained() -> None:
    text = "".join(file.read_text() for file in (CHART / "templates").iterdir())
    for name in VALUES:
        assert f".Values.{name}" in text or f'"{name}"' in text, name
    explained = (CHART / "values.yaml").read_text()
    programs = [name for name, value in VALUES.items() if isinstance(value, dict) and "resources" in value]
    for name in programs:
        assert re.search(rf"^# .*\n{name}:", explained, re.MULTILINE), name


def test_rights_are_of_actions_and_nothing_is_turned_on() -> None:
    actions = {name.partition("-")[2] for name in RIGHTS if name.startswith("bridge-")}
    assert actions == set(Action) - {Action.CANCEL_PACKING, Action.NOTIFY}
    assert VALUES["settings"]["bridge"]["modes"] == {}
    looks = {verb for name in ASKS for rule in RIGHTS[name] for verb in rule["verbs"]}
    assert looks == {"get", "list", "watch"}


def test_lint(helm: str) -> None:
    done = subprocess.run(
        [helm, "lint", "--strict", "--kube-version", "1.34.2", CHART], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_bridge_gets_the_rights_of_the_actions_that_are_turned_on(helm: str, tmp_path: Path) -> None:
    jobs = ("jobs", "jobsets", "pytorchjobs")
    looks = {(one, verb) for one in (*jobs, "nodes") for verb in ("get", "list")}
    looks |= {("pods", "list"), ("workloads", "list")}
    assert rules(render(helm, tmp_path, {}), "bridge") == looks
    acts = {(one, verb) for one in jobs for verb in ("create", "delete")} | {("nodes", "patch"), ("events", "create")}
    assert rules(render(helm, tmp_path, EVERYTHING), "bridge") == looks | acts


def test_who_reads_the_queue_may_look_at_what_the_bridge_looks_at(helm: str, tmp_path: Path) -> None:
    found = render(helm, tmp_path, EVERYTHING)
    looks = rules(render(helm, tmp_path, {}), "bridge")
    assert rules(found, "spot") == rules(found, "starts") == looks
    for component in ("bridge", "spot", "starts"):
        (container,) = pods(found)[component]["containers"]
        assert {"name": "SCHEDMATE_BRIDGE__SCHEDULER", "value": "kubernetes"} in container["env"]
    assert pods(found)["starts"]["containers"][0]["args"] == ["starts", "--every", "60"]


def test_settings_are_accepted(rendered: list[dict[str, Any]], tmp_path: Path) -> None:
    maps = [each for each in rendered if each["kind"] == "ConfigMap"]
    assert len({each["data"]["schedmate.toml"] for each in maps}) == 1
    file = tmp_path / "schedmate.toml"
    file.write_text(maps[0]["data"]["schedmate.toml"])
    assert load(file).settings.kafka.replication == VALUES["settings"]["kafka"]["replication"]


def test_every_program_is_a_command_with_its_own_account(rendered: list[dict[str, Any]]) -> None:
    accounts = {each["metadata"]["name"] for each in rendered if each["kind"] == "ServiceAccount"}
    found = pods(rendered)
    assert {pod["serviceAccountName"] for pod in found.values()} == accounts
    assert len(accounts) == len(found)
    for component, pod in found.items():
        assert pod["automountServiceAccountToken"] == (component in ASKS), component
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            if container["name"] != "proxy":
                assert container["args"][0] in COMMANDS
                assert container["securityContext"]["readOnlyRootFilesystem"]
        assert component in ("collector", "gpu-agent") or pod["securityContext"]["runAsNonRoot"], component


def test_options_exist(rendered: list[dict[str, Any]]) -> None:
    for pod in pods(rendered).values():
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            words = [word for word in container.get("args", ()) if not word.startswith("-")]
            named = [word for word in container.get("args", ()) if word.startswith("--")]
            source = (ROOT / "schedmate" / "cli" / f"{words[0].replace('-', '_')}.py").read_text() if words else ""
            if words[:1] == ["watch-scheduler"]:  # its options are fields of the scheduler's model
                source += (ROOT / "scheduler_bridge" / "schedulers" / words[1] / "scheduler.py").read_text()
            for option in named:
                name = option.removeprefix("--")
                assert f'"{option}"' in source or f"    {name.replace('-', '_')}: " in source, (words, option)


def test_passwords_are_files_of_secrets_of_the_operator(rendered: list[dict[str, Any]]) -> None:
    assert not [each for each in rendered if each["kind"] == "Secret"]
    for component, pod in pods(rendered).items():
        volumes = {each["name"]: each["secret"]["secretName"] for each in pod["volumes"] if "secret" in each}
        container = next(each for each in pod["containers"] if each["name"] == component or component == "setup")
        mounts = {each["mountPath"] for each in container["volumeMounts"] if each["name"] in volumes}
        files = {each["value"] for each in container["env"] if each["name"].endswith("_FILE")}
        assert {file.rpartition("/")[0] for file in files} == mounts, component
    found = pods(rendered)
    if "notifier" in found:
        names = {each["secret"]["secretName"] for each in found["worker"]["volumes"] if "secret" in each}
        assert names == {"of-worker"}
        assert "of-clickhouse" not in str(found["bridge"])
        page = {each["secret"]["secretName"] for each in found["web"]["volumes"] if "secret" in each}
        assert page == {"of-kafka", "of-clickhouse-reader", "of-web"}


@pytest.mark.kubernetes
@pytest.mark.slow
def test_a_real_api_server_takes_every_object(rendered: list[dict[str, Any]], kubernetes: Kubernetes) -> None:
    if kubernetes.api("GET", "/api/v1/namespaces/ops") is None:
        kubernetes.namespace("ops")
    for each in rendered:
        kubernetes.apply(each, dry_run=True)


def test_the_service_monitor_selects_the_metrics_of_all_programs(helm: str, tmp_path: Path) -> None:
    assert not [each for each in render(helm, tmp_path, {}) if each["kind"] in ("Service", "ServiceMonitor")]
    objects = render(helm, tmp_path, {"serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}}})
    (service,) = (each for each in objects if each["kind"] == "Service")
    (monitor,) = (each for each in objects if each["kind"] == "ServiceMonitor")
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitor["spec"]["endpoints"][0]["port"] == service["spec"]["ports"][0]["name"]
    programs = [each for each in objects if each["kind"] in ("Deployment", "DaemonSet")]
    assert programs
    for each in programs:
        assert service["spec"]["selector"].items() <= each["spec"]["template"]["metadata"]["labels"].items()
