"""Nodes that a pod is kept away from, as node affinity expresses it.

Nodes are named by `metadata.name`, a field: the label `kubernetes.io/hostname` may differ from it, and nodes may share one.
"""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from .objects import Node, NodeRequirement, NodeSelectorTerm, PodSpec, Taint, Toleration

_NAME = "metadata.name"


def excluded_nodes(spec: PodSpec) -> tuple[str, ...]:
    """Return the nodes that every alternative of the affinity excludes by name."""
    required = spec.affinity and spec.affinity.node_affinity and spec.affinity.node_affinity.required
    terms = required.node_selector_terms if required else []
    sets = [{node for one in term.match_fields for node in _excluded(one)} for term in terms]
    return tuple(sorted(set.intersection(*sets))) if sets else ()


def pinned_nodes(spec: PodSpec) -> frozenset[str]:
    """Return the nodes that the pods ask for by name; empty where they ask for none."""
    named = {spec.node_name, spec.node_selector.get("kubernetes.io/hostname", "")} - {""}
    required = spec.affinity and spec.affinity.node_affinity and spec.affinity.node_affinity.required
    terms = required.node_selector_terms if required else []
    wanted = [_wanted(term) for term in terms]
    if wanted and all(wanted):  # one alternative that names no node is open to all others
        named |= {node for names in wanted for node in names}
    return frozenset(named)


def with_excluded(affinity: Mapping[str, Any], nodes: Iterable[str]) -> dict[str, Any]:
    """Return an affinity (as the API server sends it) that excludes `nodes`, too, in each of its alternatives."""
    changed: dict[str, Any] = copy.deepcopy(dict(affinity))
    required = changed.setdefault("nodeAffinity", {}).setdefault("requiredDuringSchedulingIgnoredDuringExecution", {})
    terms = required.setdefault("nodeSelectorTerms", []) or [{}]
    required["nodeSelectorTerms"] = terms
    for term in terms:
        fields = term.setdefault("matchFields", [])
        there = {node for one in fields if one.get("operator") == "NotIn" for node in one.get("values", [])}
        # The API server takes one value a requirement.
        fields += [{"key": _NAME, "operator": "NotIn", "values": [node]} for node in nodes if node not in there]
    return changed


def admits(node: Node, spec: PodSpec) -> bool:
    """True where a node's labels, name and taints let a pod run there; what else it holds is another question."""
    labels = node.metadata.labels
    if spec.node_name not in ("", node.metadata.name):
        return False
    if any(labels.get(key) != value for key, value in spec.node_selector.items()):
        return False
    required = spec.affinity and spec.affinity.node_affinity and spec.affinity.node_affinity.required
    if required and not any(_holds(term, node) for term in required.node_selector_terms):
        return False
    hard = (taint for taint in node.spec.taints if taint.effect in ("NoSchedule", "NoExecute"))
    return all(any(_tolerates(one, taint) for one in spec.tolerations) for taint in hard)


def is_tied_to_pods(spec: PodSpec) -> bool:
    """True where a pod's place depends on other pods: affinity to them, or an even spread, is required."""
    affinity = spec.affinity
    rules = [affinity.pod_affinity, affinity.pod_anti_affinity] if affinity else []
    spread = any(one.when_unsatisfiable == "DoNotSchedule" for one in spec.topology_spread_constraints)
    return spread or any(rule and rule.required for rule in rules)


def _holds(term: NodeSelectorTerm, node: Node) -> bool:
    """True where all requirements of an alternative hold; an empty one holds nowhere (Kubernetes: NodeSelectorTerm)."""
    fields = {_NAME: node.metadata.name}
    asked = [(one, fields) for one in term.match_fields]
    asked += [(one, node.metadata.labels) for one in term.match_expressions]
    return bool(asked) and all(_meets(one, values) for one, values in asked)


def _meets(one: NodeRequirement, values: Mapping[str, str]) -> bool:
    value = values.get(one.key)
    if one.operator in ("In", "NotIn"):
        return (value in one.values) == (one.operator == "In")
    if one.operator in ("Exists", "DoesNotExist"):
        return (value is not None) == (one.operator == "Exists")
    numbers = [each for each in (value or "", *one.values[:1]) if each.lstrip("-").isdecimal()]
    if one.operator not in ("Gt", "Lt") or len(numbers) < 2:
        return False
    has, limit = map(int, numbers)
    return has > limit if one.operator == "Gt" else has < limit


def _tolerates(one: Toleration, taint: Taint) -> bool:
    key = one.key in ("", taint.key) and (bool(one.key) or one.operator == "Exists")
    value = one.operator == "Exists" or one.value == taint.value
    return key and value and one.effect in ("", taint.effect)


def _excluded(one: NodeRequirement) -> list[str]:
    return one.values if one.key == _NAME and one.operator == "NotIn" else []


def _wanted(term: NodeSelectorTerm) -> set[str]:
    return {node for one in term.match_fields if one.key == _NAME and one.operator == "In" for node in one.values}
