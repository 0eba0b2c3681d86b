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
_ALL: list[dict[str, Any]] = [rule for group in yaml.safe_load(FILE.read_text())["groups"] for rule in group["rules"]]
RULES = [rule for rule in _ALL if "alert" in rule]
RECORDED = [rule for rule in _ALL if "record" in rule]


def named_in(expression: str) -> set[str]:
    """The metrics that an expression rests on; those of a recorded series by way of its rule."""
    for rule in RECORDED:
        expression = expression.replace(rule["record"], rule["expr"])
    return set(re.findall(r"\bschedmate_[a-z_]+\b", expression))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_is_whole(rule: dict[str, Any]) -> None:
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert rule["annotations"]["summary"]
    page, _, anchor = rule["annotations"]["runbook"].partition("#")
    assert page == "docs/operating.md"
    assert anchor in anchors(ROOT / "docs" / "operating.md")
    named = named_in(rule["expr"])
    assert named <= METRICS
    assert named or rule["expr"].startswith("up")
    for counter in (name for name in named if name.endswith("_total")):
        grows = re.search(rf"increase\({counter}({{[^}}]*}})?\[", rule["expr"])
        assert grows or f"{counter} > 0" in rule["expr"], "a counter only grows"


@pytest.mark.parametrize("rule", RECORDED, ids=lambda rule: rule["record"])
def test_a_recorded_series_rests_on_metrics(rule: dict[str, Any]) -> None:
    assert set(rule) == {"record", "expr"}
    assert re.fullmatch(r"instance:schedmate_[a-z_]+_seconds:p95_15m", rule["record"])
    assert named_in(rule["expr"])
    assert named_in(rule["expr"]) <= METRICS


def test_names_are_unique() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(names) == len(set(names))


def test_the_page_speaks_of_every_metric_with_an_alert() -> None:
    page = (ROOT / "docs" / "operating.md").read_text()
    alerted = {name.removesuffix("_bucket") for rule in RULES for name in named_in(rule["expr"])}
    missing = alerted - set(re.findall(r"`(schedmate_[a-z_]+)`", page))
    assert missing <= {
        "schedmate_collector_chunks_total",
        "schedmate_collector_files",
        "schedmate_gpu_agent_gpus",
    }, "named only as a condition"


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool, Prometheus's own checker, is not here")
def test_prometheus_takes_the_rules() -> None:
    done = subprocess.run(["promtool", "check", "rules", FILE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
