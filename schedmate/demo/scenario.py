"""What the demo does to its jobs, and when: by what SchedMate has measured so far, never by the clock alone."""

from schedmate.demo.board import Board
from schedmate.demo.cluster import Cluster
from schedmate.demo.programs import KILLED, NEIGHBOUR, PROGRAMS, VICTIM

STEADY_REPORTS = 20
STEADY_STEP = 150
KILL_STEP = 200
_OVER = ("completed", "failed", "cancelled")


class Scenario:
    """Submits, packs, kills."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._packed = self._killed = False
        for program in PROGRAMS:
            if program is not NEIGHBOUR:
                cluster.submit(program)

    def step(self, board: Board) -> None:
        """Do what is due."""
        if not self._packed and _steady(board, VICTIM.name, STEADY_STEP):
            self._packed = True
            self._cluster.submit(NEIGHBOUR, pack_with=VICTIM.name)
        if not self._killed and _steady(board, KILLED.name, KILL_STEP):
            self._killed = True
            self._cluster.kill(KILLED.name)

    def over(self, board: Board) -> bool:
        """True once every job was submitted and has ended."""
        return len(board.jobs) == len(PROGRAMS) and all(line.state in _OVER for line in board.jobs.values())


def _steady(board: Board, job: str, step: int) -> bool:
    line = board.jobs.get(job)
    newest = line.newest() if line and line.state == "running" else None
    return newest is not None and newest.reports >= STEADY_REPORTS and (newest.step or 0) >= step
