"""Ray through the REST API of its dashboard, without the package `ray`: time limits, errors, and the objects read.

The API is the same for every client, while `ray` itself connects only between equal versions of Ray and of Python, and brings 380 MB.
"""

from .client import RayClient
from .connection import RayConnection
from .errors import RayConflict, RayError, RayNotFound, RayRefused, RayUnavailable
from .lineage import ACTS, ATTEMPT, EXCLUDED, INTENT, LINEAGE, SubmissionName
from .objects import SUPERVISOR_PREFIX, RayActor, RayJob, RayNode, RayPlacementGroup, RayTask, Submission
from .placement import NODE_ID, asks_for_nodes, excluded_ids, with_excluded

__all__ = [
    "ACTS",
    "ATTEMPT",
    "EXCLUDED",
    "INTENT",
    "LINEAGE",
    "NODE_ID",
    "SUPERVISOR_PREFIX",
    "RayActor",
    "RayClient",
    "RayConflict",
    "RayConnection",
    "RayError",
    "RayJob",
    "RayNode",
    "RayNotFound",
    "RayPlacementGroup",
    "RayRefused",
    "RayTask",
    "RayUnavailable",
    "Submission",
    "SubmissionName",
    "asks_for_nodes",
    "excluded_ids",
    "with_excluded",
]
