"""Which nodes a job's driver may be on: label selectors of Ray (2.50 or newer), by the label that every node has, its id."""

import re
from collections.abc import Collection, Mapping

NODE_ID = "ray.io/node-id"


def excluded_ids(selector: Mapping[str, str]) -> frozenset[str]:
    """Return the ids of the nodes that a selector forbids."""
    found = re.fullmatch(r"!(?:in\((?P<several>[^()]*)\)|(?P<one>[^()!]+))", selector.get(NODE_ID, ""), flags=re.ASCII)
    if found is None:
        return frozenset()
    return frozenset((found["several"] or found["one"] or "").split(",")) - {""}


def asks_for_nodes(selector: Mapping[str, str]) -> bool:
    """True where a selector asks for nodes by their ids."""
    return NODE_ID in selector and not selector[NODE_ID].startswith("!")


def with_excluded(selector: Mapping[str, str], ids: Collection[str]) -> dict[str, str]:
    """Return a selector that forbids these nodes, too."""
    if not ids:
        return dict(selector)
    return {**selector, NODE_ID: f"!in({','.join(sorted({*ids, *excluded_ids(selector)}))})"}
