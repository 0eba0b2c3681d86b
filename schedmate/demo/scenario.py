"""Faults and requests of the demo, triggered by measurements and not by the clock."""

import time
from collections.abc import Callable

from schedmate_records import Command, Decision, NodeLogChunk, OperatorCommand, Outcome, Record

from .board import Board
from .cluster import Cluster
from .programs import BUGGY, FAULTY, KILLED, NEIGHBOUR, PROGRAMS, SAVER, URGENT, VICTIM


class Scenario:
    """Submits, packs, kills; writes what the kernel and the operator would write.

    Args:
        cluster: Where jobs run.
        publish: Writes a record to its topic.
    """

    def __init__(self, cluster: Cluster, publish: Callable[[Record], None]) -> None:
        self._cluster, self._publish = cluster, publish
        self._packed = self._killed = self._urgent = self._room_made = self._kernel_spoke = False
        self._approved: set[str] = set()
        for program in PROGRAMS:
            if program not in (NEIGHBOUR, URGENT):
                cluster.submit(program)

    def step(self, board: Board) -> None:
        """Do what is due."""
        # Its speed is known by step 500.
        if not self._packed and _steady(board, VICTIM.name, 500):
            self._packed = True
            self._cluster.submit(NEIGHBOUR, pack_with=VICTIM.name)
        # It has printed enough by step 200.
        if self._room_made and not self._killed and _steady(board, KILLED.name, 200):
            self._killed = True
            self._cluster.kill(KILLED.name)
        if not self._urgent and SAVER.name in board.saved:
            self._urgent = True
            self._cluster.submit(URGENT)
        if not self._room_made and (urgent := board.jobs.get(URGENT.name)) and urgent.slots():
            self._room_made = True  # before, each failure would have left it a slot
            for program in (FAULTY, BUGGY):
                self._cluster.let_fail(program)
        faulty = board.jobs.get(FAULTY.name)
        if not self._kernel_spoke and faulty and faulty.verdict(0):
            self._kernel_spoke = True
            self._publish(_kernel_line(faulty.slots()[0]))
        for decision in board.decisions.values():
            asked = any(result.outcome is Outcome.AWAITING_APPROVAL for result in board.results.get(decision.id, ()))
            if asked and decision.id not in self._approved:
                self._approved.add(decision.id)
                self._publish(_approval(decision))

    def is_over(self, board: Board) -> bool:
        """True once every job was submitted and has ended."""
        return len(board.jobs) == len(PROGRAMS) and all(
            line.state in ("completed", "failed", "cancelled") for line in board.jobs.values()
        )


def _kernel_line(node: str) -> NodeLogChunk:
    """Return the kernel log of a node with a lost GPU: the demo's machine has none that it could lose."""
    line = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, name=python, GPU has fallen off the bus."
    return NodeLogChunk(node=node, source="kernel", lines=[f"[ 4711.081515] {line}"], time=time.time())


def _approval(decision: Decision) -> OperatorCommand:
    """Return what `schedmate decisions approve` would write."""
    now = time.time()
    return OperatorCommand(
        id=f"approve/{decision.id}",
        command=Command.APPROVE,
        about=decision.id,
        job=decision.job,
        user="operator",
        reason="the kernel log of that node confirms it",
        time=now,
        expires=now + 600,
    )


def _steady(board: Board, job: str, step: int) -> bool:
    line = board.jobs.get(job)
    newest = line.newest() if line and line.state == "running" else None
    # A step time rests on 20 reports.
    return newest is not None and newest.reports >= 20 and (newest.step or 0) >= step
