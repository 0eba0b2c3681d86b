"""Events on an object that state what the bridge did to it: `kubectl describe` shows them."""

import structlog

from schedmate_records import Action

from ..client.client import KubernetesClient
from ..client.errors import KubernetesError
from ..client.objects import Node
from ..client.workloads.kind import WorkloadObject

log = structlog.get_logger(__name__)


def tell(client: KubernetesClient, about: WorkloadObject | Node, action: Action, key: str) -> None:
    """Write an Event. If that fails, the act remains done."""
    try:
        reason = "".join(word.capitalize() for word in action.value.split("_"))
        client.tell(about, f"SchedMate{reason}", f"The SchedMate bridge carried out {key}.")
    except KubernetesError as error:
        log.warning("event_not_written", name=about.metadata.name, error=str(error))
