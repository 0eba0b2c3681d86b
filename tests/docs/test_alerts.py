"""The alerts that ship can be loaded, rest on metrics that exist, and lead to a heading that says what to do."""

import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from .metrics import METRICS
from .pages import ROOT, anchors

FILE = ROOT / "packaging" / "prometheus" / "schedmate.rules.yml"
RULES: list[dict[str, Any]] = [rule for group in yaml.safe_load(FILE.read_text())["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_is_whole(rule: dict[str, Any]) -> None:
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert rule["annotations"]["summary"]
    assert rule["annotations"]["docs"] in anchors(ROOT / "docs" / "operating.md")
    named = set(re.findall(r"\bschedmate_[a-z_]+\b", rule["expr"]))
    assert named <= METRICS
    assert named or rule["expr"].startswith("up")
    for counter in (name for name in named if name.endswith("_total")):
        assert f"increase({counter}[" in rule["expr"] or f"{counter} > 0" in rule["expr"], "a counter only grows"


def test_names_are_unique() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(names) == len(set(names))


def test_the_page_speaks_of_every_metric_with_an_alert() -> None:
    page = (ROOT / "docs" / "operating.md").read_text()
    missing = {name for rule in RULES for name in re.findall(r"\bschedmate_[a-z_]+\b", rule["expr"])} - set(
        re.findall(r"`(schedmate_[a-z_]+)`", page)
    )
    assert missing <= {"schedmate_collector_chunks_total", "schedmate_collector_files", "schedmate_gpu_agent_gpus"}, (
        "named only as a condition"
    )


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool, Prometheus's own checker, is not here")
def test_prometheus_takes_the_rules() -> None:
    done = subprocess.run(["promtool", "check", "rules", FILE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
