"""Nodes that a pod is kept away from, as node affinity says it.

Nodes are named by `metadata.name`, a field: the label `kubernetes.io/hostname` may differ from it, and nodes may share one.
"""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from .objects import FieldRequirement, NodeSelectorTerm, PodSpec

_NAME = "metadata.name"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


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
    required = changed.setdefault("nodeAffinity", {}).setdefault(_REQUIRED, {})
    terms = required.setdefault("nodeSelectorTerms", []) or [{}]
    required["nodeSelectorTerms"] = terms
    for term in terms:
        fields = term.setdefault("matchFields", [])
        there = {node for one in fields if one.get("operator") == "NotIn" for node in one.get("values", [])}
        # The API server takes one value a requirement.
        fields += [{"key": _NAME, "operator": "NotIn", "values": [node]} for node in nodes if node not in there]
    return changed


def _excluded(one: FieldRequirement) -> list[str]:
    return one.values if one.key == _NAME and one.operator == "NotIn" else []


def _wanted(term: NodeSelectorTerm) -> set[str]:
    return {node for one in term.match_fields if one.key == _NAME and one.operator == "In" for node in one.values}
