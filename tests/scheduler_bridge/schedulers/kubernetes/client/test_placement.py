"""Nodes that node affinity excludes, or asks for."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("kubernetes")

from scheduler_bridge.schedulers.kubernetes.client.objects import PodSpec
from scheduler_bridge.schedulers.kubernetes.client.placement import excluded_nodes, pinned_nodes, with_excluded

NAMES = st.sampled_from(["n1", "n2", "n3", "n4"])
KEY = "requiredDuringSchedulingIgnoredDuringExecution"
LABELLED = {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["a"]}]}


def spec(affinity: dict[str, Any], **more: Any) -> PodSpec:
    return msgspec.convert({"affinity": affinity, **more}, PodSpec)


@given(st.lists(st.lists(NAMES, max_size=3), max_size=3), st.lists(NAMES, max_size=4, unique=True))
def test_what_is_excluded_is_read_back(terms: list[list[str]], nodes: list[str]) -> None:
    alternatives = [LABELLED | {"matchFields": [field(name) for name in names]} for names in terms]
    before: dict[str, Any] = {"nodeAffinity": {KEY: {"nodeSelectorTerms": alternatives}}} if terms else {}
    after = with_excluded(before, nodes)
    assert set(nodes) <= set(excluded_nodes(spec(after)))
    assert with_excluded(after, nodes) == after


def field(name: str) -> dict[str, Any]:
    return {"key": "metadata.name", "operator": "NotIn", "values": [name]}


def test_every_alternative_excludes_and_keeps_what_it_said() -> None:
    before = {"nodeAffinity": {KEY: {"nodeSelectorTerms": [LABELLED, {"matchFields": [field("n1")]}]}}}
    after = with_excluded(before, ["n2"])
    assert after["nodeAffinity"][KEY]["nodeSelectorTerms"] == [
        LABELLED | {"matchFields": [field("n2")]},
        {"matchFields": [field("n1"), field("n2")]},
    ]
    assert excluded_nodes(spec(before)) == ()  # the first alternative is open to n1
    assert before["nodeAffinity"][KEY]["nodeSelectorTerms"][0] == LABELLED


def test_a_pod_may_ask_for_nodes_by_name() -> None:
    wants = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    assert pinned_nodes(spec({"nodeAffinity": {KEY: {"nodeSelectorTerms": [wants]}}})) == {"n1"}
    assert pinned_nodes(spec({"nodeAffinity": {KEY: {"nodeSelectorTerms": [wants, LABELLED]}}})) == frozenset()
    assert pinned_nodes(spec({}, nodeName="n2")) == {"n2"}
