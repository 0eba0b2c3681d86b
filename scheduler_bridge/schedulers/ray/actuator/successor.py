"""The submission that a restart makes: as the one before, elsewhere, and the next attempt of the same job."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ....checkpoint_note import CHECKPOINT_VARIABLE
from ...errors import ActuatorError
from ..client.lineage import ACTS, ATTEMPT, EXCLUDED, LINEAGE
from ..client.objects import RayActor, Submission
from .jobs import Attempt, with_key
from .nodes import Nodes

NODE_ID = "ray.io/node-id"


EXCLUDED_NODES = "SCHEDMATE_EXCLUDED_NODES"
"""Variable with the ids of nodes that the job's tasks and actors should avoid. In Ray only the job itself can place those."""
_NAMED = {"CPU": "entrypoint_num_cpus", "GPU": "entrypoint_num_gpus"}


def uploaded(runtime_env: Mapping[str, Any]) -> list[str]:
    """Return the URIs of the packages that came with a submission, and are kept by the head only as long as something uses them."""
    modules = runtime_env.get("py_modules")
    uris = [runtime_env.get("working_dir"), *(modules if isinstance(modules, list) else [])]
    return [uri for uri in uris if isinstance(uri, str) and uri.startswith("gcs://")]


def successor(
    attempt: Attempt, supervisor: RayActor, nodes: Nodes, exclude: Iterable[str], key: str, *, checkpoint: str = ""
) -> Submission:
    """Return the next attempt.

    Args:
        attempt: The submission that ended.
        supervisor: Its supervisor, which shows what its entrypoint asked for.
        nodes: The cluster's nodes.
        exclude: Names of nodes that it must not run on, besides those that it avoids already.
        key: The key of the act.
        checkpoint: Path from which it may go on; empty where none is known.

    Raises:
        ActuatorError: It cannot run elsewhere.
    """
    job, name = attempt.job, attempt.name.next()
    avoided = dict.fromkeys([*attempt.excluded, *exclude])
    ids = nodes.ids(avoided)
    env = job.runtime_env or {}
    # `schedmate pipe` reads the first two.
    variables = {"SCHEDMATE_JOB_ID": name.lineage, "SCHEDMATE_ATTEMPT": str(name.attempt)}
    variables |= {CHECKPOINT_VARIABLE: checkpoint} if checkpoint else {}
    variables |= {EXCLUDED_NODES: ",".join(sorted(ids))} if ids else {}
    kept = {variable: text for variable, text in env.get("env_vars", {}).items() if variable != EXCLUDED_NODES}
    metadata = {**job.noted, LINEAGE: name.lineage, ATTEMPT: str(name.attempt), ACTS: with_key(job.noted, key)}
    metadata |= {EXCLUDED: ",".join(avoided)} if avoided else {}
    needs = {kind: amount for kind, amount in (supervisor.required_resources or {}).items() if amount}
    amounts: dict[str, Any] = {field: needs.pop(kind) for kind, field in _NAMED.items() if kind in needs}
    amounts |= {"entrypoint_memory": int(needs.pop("memory"))} if "memory" in needs else {}
    return Submission(
        entrypoint=job.entrypoint,
        submission_id=str(name),
        metadata=metadata,
        runtime_env={**env, "env_vars": {**kept, **variables}},
        entrypoint_resources=needs,
        entrypoint_label_selector=_selector(attempt, supervisor, nodes, ids),
        **amounts,
    )


def _selector(attempt: Attempt, supervisor: RayActor, nodes: Nodes, ids: frozenset[str]) -> dict[str, str]:
    """Return the label selector of the driver. One that Ray itself chose, the head, is chosen anew unless the head is excluded."""
    selector = dict(supervisor.label_selector or {})
    if not supervisor.required_resources and list(selector) == [NODE_ID] and _asks_for_nodes(selector):
        if nodes.head not in ids:
            return {}
        del selector[NODE_ID]
    elif _asks_for_nodes(selector) and ids:
        came = f"{attempt.name.lineage} asks for nodes by id ({selector[NODE_ID][:200]})"
        raise ActuatorError("a job that can run elsewhere", came, "nothing was done; submit it again without")
    return with_excluded(selector, ids)


def excluded_ids(selector: Mapping[str, str]) -> frozenset[str]:
    """Return the ids of the nodes that a selector forbids."""
    found = re.fullmatch(r"!(?:in\((?P<several>[^()]*)\)|(?P<one>[^()!]+))", selector.get(NODE_ID, ""), flags=re.ASCII)
    if found is None:
        return frozenset()
    return frozenset((found["several"] or found["one"] or "").split(",")) - {""}


def _asks_for_nodes(selector: Mapping[str, str]) -> bool:
    """True where a selector asks for nodes by their ids."""
    return NODE_ID in selector and not selector[NODE_ID].startswith("!")


def with_excluded(selector: Mapping[str, str], ids: Collection[str]) -> dict[str, str]:
    """Return a selector that forbids these nodes, too."""
    if not ids:
        return dict(selector)
    return {**selector, NODE_ID: f"!in({','.join(sorted({*ids, *excluded_ids(selector)}))})"}
