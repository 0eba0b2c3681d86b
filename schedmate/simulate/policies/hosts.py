"""Running jobs that are alone on their GPUs, found by what waits: the longest-running one that suits it.

Jobs of one kind (workload, memory, sharing score) suit the same jobs, but for their estimated GPU time. So whether two kinds suit each
other is worked out once, and each kind is a line of hosts whose head alone is looked at.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping

from ..job import Job, Run

Kind = int
"""Jobs that are equal for packing have the same number."""


class Kinds:
    """Numbers for the kinds of jobs, and which kinds suit each other.

    Args:
        key: What packing knows of a job; hashable.
        suit: Whether two jobs can be packed, according to their kinds.
    """

    def __init__(self, key: Callable[[Job], object], suit: Callable[[Job, Job], bool]) -> None:
        self._key = key
        self._suit = suit
        self._numbers: dict[object, Kind] = {}
        self._examples: list[Job] = []
        self._suiting: list[_Suiting] = []

    def kind_of(self, job: Job) -> Kind:
        """Return the kind of a job."""
        kind = self._numbers.setdefault(self._key(job), len(self._examples))
        if kind == len(self._examples):
            self._examples.append(job)
            self._suiting.append(_Suiting(lambda host: self._suit(job, self._examples[host])))
        return kind

    def suiting(self, guest: Kind) -> Mapping[Kind, bool]:
        """Return, by the kind of a host, whether jobs of a kind can be packed with it."""
        return self._suiting[guest]


class _Suiting(dict[Kind, bool]):
    """Worked out when it is asked for, once."""

    def __init__(self, suit: Callable[[Kind], bool]) -> None:
        super().__init__()
        self._suit = suit

    def __missing__(self, host: Kind) -> bool:
        self[host] = found = self._suit(host)
        return found


class Hosts:
    """The hosts of one look at the queue, in which jobs are asked for in the order of their estimated GPU time.

    Args:
        kinds: Which kinds suit each other.
    """

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._count = 0
        self._lines: dict[float, dict[Kind, deque[tuple[int, float, Run]]]] = defaultdict(lambda: defaultdict(deque))
        self.without: dict[float, dict[Kind, float]] = defaultdict(dict)
        """By GPUs and kind, the GPU time from which on there is no host for a job."""

    def add(self, run: Run, gpus: float, kind: Kind, service: float) -> None:
        """Take in a running job of `service` GPU seconds, who has run for less than all here."""
        self._lines[gpus][kind].append((self._count, service, run))
        self._count += 1
        if gpus in self.without:
            self.without[gpus].clear()

    def remove_longest(self, gpus: float, kind: Kind, service: float) -> Run | None:
        """Return, and forget, the host that has run longest of those that suit a job of so many GPUs; None where there is none.

        Args:
            gpus: Of both jobs.
            kind: Of the guest.
            service: GPU seconds of the guest, no less than in any call before. Half as many are the least that a host may have.
        """
        suiting = self._kinds.suiting(kind)
        best: deque[tuple[int, float, Run]] | None = None
        for host_kind, line in self._lines[gpus].items():
            if suiting[host_kind]:
                while line and service > 2 * line[0][1]:
                    line.popleft()
                if line and (best is None or line[0][0] < best[0][0]):
                    best = line
        if best is None:
            self.without[gpus][kind] = service
            return None
        return best.popleft()[2]
