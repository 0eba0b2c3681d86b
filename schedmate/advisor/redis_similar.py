"""Past jobs by their vectors in Redis: a vector set where the server has them (Redis 8), else vectors as bytes and an exact search here.

Its content follows from the history file: a job is added once, by its name, and jobs that ended while Redis was away are added later.
While it is away no similar job is found, and nothing waits for it.

Keys, below a prefix: `jobs` (name → job, MessagePack), `order` (name → the how-manyth it was), `added` (how many ever) and `vectors` (a
vector set, or name → float32 bytes).
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Any, Protocol

import msgspec
import numpy as np
import redis

from processors.advise.past import PastJob, SubmittedJob
from processors.advise.past.embedding import Embed, Vector
from processors.advise.past.vectors import MOST, VectorIndex
from streams.resilience import Outage

_ADD = """
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], redis.call('INCR', KEYS[4]), ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
local set = ARGV[4] == 'set'
if set then redis.call('VADD', KEYS[3], 'FP32', ARGV[3], ARGV[1], 'NOQUANT', 'EF', ARGV[6])
else redis.call('HSET', KEYS[3], ARGV[1], ARGV[3]) end
for _, oldest in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1 - tonumber(ARGV[5]))) do
  redis.call('ZREM', KEYS[1], oldest)
  redis.call('HDEL', KEYS[2], oldest)
  redis.call(set and 'VREM' or 'HDEL', KEYS[3], oldest)
end
return 1
"""

Found = list[tuple[str, float]]


class _Search(Protocol):
    """Search of the server's vectors; `kind` names it in the keys."""

    kind: str

    def nearest(self, vector: Vector, count: int, threshold: float) -> Found:
        """Return names and cosines, the nearest first."""


class _VectorSet:
    kind = "set"

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client, self._vectors, self._order = client, f"{prefix}vectors", f"{prefix}order"
        self._call: Any = client.execute_command

    def nearest(self, vector: Vector, count: int, threshold: float) -> Found:
        # Of jobs that are equally near, the newest are wanted: ask for more than are returned.
        # EF of VSIM: number of candidates that its graph search keeps.
        asked = ("FP32", vector.tobytes(), "WITHSCORES", "COUNT", 64, "EF", 500)
        found = self._call("VSIM", self._vectors, *asked)
        pairs = found.items() if isinstance(found, dict) else zip(found[::2], found[1::2], strict=True)  # RESP 3, or 2
        near = [(name, cosine) for name, score in pairs if (cosine := 2 * float(score) - 1) >= threshold]
        if not near:
            return []
        order: Any = self._client.zmscore(self._order, [name for name, _ in near])
        # Cosines are single-precision numbers: equal ones differ after five digits.
        ranked = sorted(zip(near, order, strict=True), key=lambda one: (-round(one[0][1], 5), -(one[1] or 0)))
        return [(name.decode(), min(cosine, 1.0)) for (name, cosine), _ in ranked[:count]]


class _Mirror:
    kind = "hash"

    def __init__(self, client: redis.Redis, prefix: str, most: int) -> None:
        self._client, self._vectors, self._order, self._most = client, f"{prefix}vectors", f"{prefix}order", most
        self._index: VectorIndex | None = None
        self._names: dict[int, str] = {}
        self._seen = 0

    def nearest(self, vector: Vector, count: int, threshold: float) -> Found:
        while self._catch_up():
            pass
        found = self._index.nearest(vector, count, threshold) if self._index else []
        return [(self._names[place], cosine) for place, cosine in found]

    def _catch_up(self) -> bool:
        """Take in vectors that were added since; False where there are none."""
        new: Any = self._client.zrange(
            self._order, self._seen + 1, "+inf", byscore=True, offset=0, num=2000, withscores=True
        )
        if not new:
            return False
        vectors: Any = self._client.hmget(self._vectors, [name for name, _ in new])
        for (name, _), held in zip(new, vectors, strict=True):
            if held is not None:
                self._add_vector(name.decode(), np.frombuffer(held, np.float32))
        self._seen = int(new[-1][1])
        return True

    def _add_vector(self, name: str, vector: Vector) -> None:
        if self._index is None:
            self._index = VectorIndex(self._most, len(vector))
        self._names[self._index.add(vector)] = name


class RedisSimilarJobs:
    """Past jobs in Redis, and the nearest of them.

    Args:
        client: Of Redis; it gives bytes.
        prefix: Of the keys; another one for each way to embed.
        embed: Gives the vectors.
        outage: Of Redis.
        most: Jobs kept, the newest.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        client: redis.Redis,
        prefix: str,
        embed: Embed,
        outage: Outage,
        *,
        most: int = MOST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client, self._base, self._embed, self._most = client, prefix, embed, most
        self._outage, self._clock, self._retry_at = outage, clock, 0.0
        self._waiting: deque[PastJob] = deque(maxlen=most)
        self._known: set[str] = set()
        self._search: _Search | None = None
        self._prefix = ""
        self._script = client.register_script(_ADD)
        self._call: Any = client.execute_command

    def add(self, past: PastJob) -> None:
        """Take in a job that ended; it waits while Redis is away."""
        self.extend([past])

    def extend(self, pasts: Sequence[PastJob]) -> None:
        """Take in many jobs that ended; what Redis has not taken in waits while it is away."""
        self._waiting.extend(pasts)
        self._ask(lambda _: None)

    def nearest(self, job: SubmittedJob, count: int, threshold: float) -> Sequence[tuple[PastJob, float]] | None:
        """Return the nearest past jobs: none while Redis is away."""
        vector = self._embed(job)
        if vector is None:
            return None
        return self._ask(lambda search: self._jobs(search.nearest(vector, count, threshold))) or []

    def _ask(self, ask: Callable[[_Search], Any]) -> Any:
        """Return what `ask` returns, after all that waits was added; None while Redis is away."""
        if self._clock() < self._retry_at:
            return None
        try:
            search = self._search or self._connected()
            while self._waiting:
                # A vector set takes some milliseconds for each job, and Redis answers an exchange as a whole.
                some = list(islice(self._waiting, 32))
                self._put(search, some)
                for _ in some:
                    self._waiting.popleft()
            answer = ask(search)
        except (redis.RedisError, OSError) as error:
            self._retry_at = self._clock() + self._outage.failed(error)
            self._search = None  # what comes back may be another server
            return None
        self._outage.succeeded()
        return answer

    def _connected(self) -> _Search:
        has_sets = self._has_vector_sets()
        self._prefix = f"{self._base}{'set' if has_sets else 'hash'}:"
        names: Any = self._client.zrange(f"{self._prefix}order", 0, -1)
        self._known = {name.decode() for name in names}
        self._search = (_VectorSet if has_sets else partial(_Mirror, most=self._most))(self._client, self._prefix)
        return self._search

    def _has_vector_sets(self) -> bool:
        try:
            self._call("VCARD", f"{self._base}set:vectors")
        except redis.ResponseError as error:
            if "unknown command" in str(error).lower():
                return False
            raise
        return True

    def _put(self, search: _Search, pasts: Sequence[PastJob]) -> None:
        keys = [f"{self._prefix}{key}" for key in ("order", "jobs", "vectors", "added")]
        new = {name: past for past in pasts if (name := f"{past.about.job}@{past.ended:.3f}") not in self._known}
        with self._client.pipeline(transaction=False) as pipeline:  # a script each: others are served between two
            for name, past in new.items():
                vector = self._embed(past.about)
                if vector is not None:
                    # EF of VADD. The default, 200, takes two and a half times as long and finds no more
                    # (`benchmarks.vectors`).
                    given: list[Any] = [
                        name,
                        msgspec.msgpack.encode(past),
                        vector.tobytes(),
                        search.kind,
                        self._most,
                        64,
                    ]
                    self._script(keys, given, client=pipeline)
            pipeline.execute()
        self._known.update(new)

    def _jobs(self, found: Found) -> list[tuple[PastJob, float]]:
        held: Any = self._client.hmget(f"{self._prefix}jobs", [name for name, _ in found]) if found else []
        return [
            (msgspec.msgpack.decode(blob, type=PastJob), cosine)
            for blob, (_, cosine) in zip(held, found, strict=True)
            if blob is not None
        ]
