"""docker-compose.yml, as the compose tool reads it. No engine is needed, and none is used."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from schedmate.cli import COMMANDS
from schedmate.settings.settings import Settings, load
from streams.settings import STATE

from .conftest import ROOT, resolve

OURS = {"topics", "migrate", "worker", "model-worker", "sink", "bridge", "advisor"}
ONCE = {"topics", "migrate"}
THEIRS = {"kafka", "clickhouse", "redis", "vllm", "prometheus", "grafana"}

Stack = Mapping[str, Any]


def addresses(service: Mapping[str, Any]) -> set[str]:
    """The addresses on which a service is published; the two compose tools write them differently."""
    return {
        port.rsplit(":", 2)[0] if isinstance(port, str) else port.get("host_ip", "0.0.0.0")
        for port in service.get("ports", [])
    }


def settings_of(service: Mapping[str, Any], secrets: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """What a container of ours would have in force, with its secrets where they lie on this host."""
    for name in [name for name in os.environ if name.startswith("SCHEDMATE_")]:
        monkeypatch.delenv(name)
    for name, value in service["environment"].items():
        monkeypatch.setenv(name, str(value).replace("/run/secrets", str(secrets)))
    return load().settings


def test_all_services_are_there(stack: Stack) -> None:
    assert set(stack["services"]) == OURS | THEIRS


def test_the_tool_would_have_refused(secrets: Path, tmp_path: Path) -> None:
    broken = tmp_path / "docker-compose.yml"
    broken.write_text((ROOT / "docker-compose.yml").read_text().replace("healthcheck:", "healthchek:", 1))
    with pytest.raises(subprocess.CalledProcessError):
        resolve(secrets, broken)


def test_only_kafka_and_grafana_are_published_and_only_on_loopback(stack: Stack) -> None:
    published = {name: addresses(service) for name, service in stack["services"].items() if service.get("ports")}
    assert published == {"kafka": {"127.0.0.1"}, "grafana": {"127.0.0.1"}}


def test_one_variable_opens_kafka_to_others(secrets: Path) -> None:
    kafka = resolve(secrets, SCHEDMATE_BIND="10.0.0.5", SCHEDMATE_KAFKA_HOST="head.cluster")["services"]["kafka"]
    assert addresses(kafka) == {"10.0.0.5"}
    assert "HOST://head.cluster:9092" in kafka["environment"]["KAFKA_ADVERTISED_LISTENERS"]


def test_whoever_comes_through_the_published_port_needs_the_password(stack: Stack) -> None:
    kafka = stack["services"]["kafka"]["environment"]
    security = dict(pair.split(":") for pair in kafka["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"].split(","))
    listeners = dict(re.findall(r"(\w+)://[^,]*:(\d+)", kafka["KAFKA_LISTENERS"]))
    assert [name for name, port in listeners.items() if port == "9092"] == ["HOST"]
    assert security["HOST"] == "SASL_PLAINTEXT"


def test_databases_stand_on_the_inner_network_alone(stack: Stack) -> None:
    assert stack["networks"]["inside"]["internal"] is True
    for name in OURS | {"clickhouse", "redis", "prometheus"}:
        assert set(stack["services"][name]["networks"]) == {"inside"}, name


def test_images_are_pinned(stack: Stack) -> None:
    for name, service in stack["services"].items():
        assert re.search(r":v?\d+\.\d+\.\d+[\w.-]*$", service["image"]), f"{name}: {service['image']}"


def test_every_service_is_watched_or_ends(stack: Stack) -> None:
    for name, service in stack["services"].items():
        assert service["restart"] == ("no" if name in ONCE else "unless-stopped"), name
        assert service["stop_grace_period"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        if name in ONCE:
            assert service["healthcheck"].get("disable") or service["healthcheck"]["test"] == ["NONE"]
        elif name in THEIRS:
            assert service["healthcheck"]["test"], name
        else:
            assert "healthcheck" not in service, f"{name}: the image has one"


def test_services_wait_for_what_they_need(stack: Stack) -> None:
    waits = {
        name: {other: each["condition"] for other, each in service.get("depends_on", {}).items()}
        for name, service in stack["services"].items()
    }
    for name, needed in waits.items():
        for other, condition in needed.items():
            expected = "service_completed_successfully" if other in ONCE else "service_healthy"
            assert condition == expected, f"{name} waits for {other}"
    assert set(waits["sink"]) == {"topics", "migrate", "redis"}
    assert set(waits["worker"]) == set(waits["bridge"]) == set(waits["advisor"]) == {"topics"}
    assert set(waits["model-worker"]) == {"topics", "vllm"}
    assert (set(waits["topics"]), set(waits["migrate"])) == ({"kafka"}, {"clickhouse"})


def test_what_must_last_is_on_named_volumes(stack: Stack) -> None:
    for name in ("kafka", "clickhouse", "redis", "advisor", "prometheus", "grafana"):
        text = str(stack["services"][name]["volumes"])
        assert name in text, text
        assert name in stack["volumes"]


@pytest.mark.parametrize("name", sorted(OURS))
def test_ours_run_commands_that_exist_with_settings_that_exist(
    name: str, stack: Stack, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = stack["services"][name]
    assert service["command"][0] in COMMANDS
    settings = settings_of(service, secrets, monkeypatch)
    assert settings.clickhouse.secret() == (secrets / "clickhouse_password").read_text()
    assert settings.clickhouse.reader == "schedmate-reader"
    assert settings.clickhouse.reader_password_file == secrets / "clickhouse_reader_password"
    assert "clickhouse_reader_password" in str(service["secrets"])
    assert settings.redis.secret() == (secrets / "redis_password").read_text()
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]


def test_the_bridge_only_publishes(stack: Stack, secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings_of(stack["services"]["bridge"], secrets, monkeypatch).bridge.modes == {}


def test_the_advisor_keeps_its_history_and_models_on_its_volume(
    stack: Stack, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    advisor = stack["services"]["advisor"]
    settings = settings_of(advisor, secrets, monkeypatch).advisor
    image = (ROOT / "Dockerfile").read_text()
    assert "XDG_STATE_HOME=/var/lib " in image  # so `STATE` is /var/lib/schedmate there
    for place in (settings.history, settings.models):
        assert place.is_relative_to(STATE)
    assert "/var/lib/schedmate" in str(advisor["volumes"])
    assert "/var/lib/schedmate" not in str(advisor["tmpfs"])
    assert "advise" in image


def test_no_password_stands_in_the_file(stack: Stack, secrets: Path) -> None:
    for name in (file.name for file in secrets.iterdir() if file.name.endswith("_password")):
        assert (secrets / name).read_text() not in str(stack)
    for secret in stack["secrets"].values():
        assert Path(secret["file"]).is_file()


def test_the_gpu_profile_wires_itself(stack: Stack, secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    services = stack["services"]
    assert services["model-worker"]["profiles"] == ["gpu"]
    asked = settings_of(services["model-worker"], secrets, monkeypatch).language_model.servers
    port = next(part for part in services["vllm"]["command"] if part.startswith("--port=")).removeprefix("--port=")
    assert asked == (f"http://vllm:{port}/v1",)
    assert settings_of(services["worker"], secrets, monkeypatch).processors.ask_models
    assert not settings_of(services["sink"], secrets, monkeypatch).processors.ask_models


def test_one_more_file_gives_the_workers_an_embedder(secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = resolve(secrets, ROOT / "docker-compose.yml", ROOT / "docker-compose.gpu.yml")["services"]["worker"]
    settings = settings_of({"environment": dict(worker["environment"])}, secrets, monkeypatch)
    assert (settings.processors.embedder, settings.processors.ask_models) == ("flag", True)
    assert worker["build"]["args"]["EXTRAS"] == "[gpu]"
    assert worker["command"] == ["worker"]
    assert worker["environment"]["HF_HOME"] in str(worker["volumes"])
    assert "/models" in (ROOT / "Dockerfile").read_text(), "the image's user owns it"


def test_the_model_is_asked_for_by_name(stack: Stack, secrets: Path) -> None:
    assert stack["services"]["vllm"]["profiles"] == ["gpu"]
    other = resolve(secrets, SCHEDMATE_MODEL="/models/mine")["services"]["vllm"]
    assert other["entrypoint"] == ["vllm", "serve"]
    assert other["command"][0] == "/models/mine"


def test_the_dashboards_profile_wires_itself(stack: Stack) -> None:
    grafana = stack["services"]["grafana"]
    assert grafana["profiles"] == stack["services"]["prometheus"]["profiles"] == ["dashboards"]
    provisioned = (ROOT / "packaging" / "grafana" / "provisioning" / "datasources" / "schedmate.yml").read_text()
    for variable in re.findall(r"\$(SCHEDMATE_\w+)", provisioned):
        assert grafana["environment"][variable]
    for secret in re.findall(r"/run/secrets/(\w+)", provisioned + str(grafana["environment"])):
        assert secret in stack["secrets"]
        assert secret in str(grafana["secrets"])
    scraped = yaml.safe_load((ROOT / "packaging" / "prometheus" / "prometheus.yml").read_text())["scrape_configs"]
    names = {name for each in scraped for found in each["dns_sd_configs"] for name in found["names"]}
    assert names == OURS - ONCE
