"""Checks of nodes on Slurm: of one in service, and of a drained one before it returns."""

from contextlib import suppress

import structlog

from ....node_check import NodeCheck
from ...errors import ActuatorError
from ..client import SlurmClient, SlurmRefused
from ..client.node_check import SlurmNodeCheck

log = structlog.get_logger(__name__)


class NodeChecks:
    """Runs the operator's command on nodes."""

    def __init__(self, client: SlurmClient, command: SlurmNodeCheck) -> None:
        self._client = client
        self._command = command

    def check(self, node: str) -> NodeCheck:
        """Check a node as it is. One whose CPUs are taken, or that is drained, cannot be checked so."""
        return self._result(node, reserved=False)

    def check_in_reservation(self, node: str, reason: str) -> None:
        """Check a drained node while a reservation keeps everybody else's jobs away: nothing starts on a drained one.

        It is in service afterwards, and the reservation is still there. Should the bridge be killed here, it stays: no job gets on a node
        that was not checked to the end.

        Args:
            node: Its name.
            reason: Why it is drained: what is written there again where it does not pass.

        Raises:
            ActuatorError: It did not pass, and is drained as before.
            SlurmError: Slurm refused, or does not answer.
        """
        # One that was left by a bridge that was killed; nothing starts on a drained node meanwhile.
        with suppress(SlurmRefused):
            self._client.unreserve_node(node)
        self._client.reserve_node(node)
        self._client.update_node(node, {"State": "RESUME"})
        checked = self._result(node, reserved=True)
        if not checked.passed:
            self._client.update_node(node, {"State": "DRAIN", "Reason": reason})
            self._client.unreserve_node(node)
            raise ActuatorError(f"{node} to pass its check", checked.detail, "it stays drained")

    def _result(self, node: str, *, reserved: bool) -> NodeCheck:
        done = self._command(self._client, node, reserved=reserved)
        checked = NodeCheck.from_output(done.exit_code, done.output)
        log.info("node_checked", node=node, passed=checked.passed, detail=checked.detail)
        return checked
