"""Opening Redis, and what its errors mean for the stream."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from schedmate_records import network_error, untrusted

from ..errors import SinkRejected, SinkUnavailable

if TYPE_CHECKING:
    import redis

_PASSING = ("OOM", "READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "MISCONF", "BUSY", "TRYAGAIN", "NOREPLICAS")
"""First words of errors that pass by themselves, or when an operator acts."""
_CLUSTER = (
    "expected one Redis server, got a node of a Redis Cluster: SchedMate changes several keys in one step, and a cluster spreads "
    "them over its nodes. Name a Redis that is not in cluster mode in redis.url"
)


def open_redis(
    url: str, *, password: str = "", ca_cert: str = "", timeout_s: float = 5.0, binary: bool = False
) -> "redis.Redis":
    """Return a client for `url` (`redis://user@host:6379/0`, `rediss://…` for TLS, `unix:///path`). Nothing is sent yet.

    Args:
        url: Without a password, so that it can be printed.
        password: Of the user.
        ca_cert: File with the authority that signed the server's certificate, where the system does not know it.
        timeout_s: Seconds to wait for a connection or an answer.
        binary: Answers are bytes, not text.

    Raises:
        ValueError: `url` has another form.
    """
    import redis  # not above: `MemoryState` needs no client
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    parts = urlsplit(url)
    if parts.password:
        raise ValueError("expected a Redis address without a password; give the password by itself")
    if parts.scheme not in ("redis", "rediss", "unix"):
        raise ValueError(f"expected redis://host:port/number, rediss://… or unix:///path, got {url!r}")
    tls = {"ssl_ca_certs": ca_cert} if ca_cert and parts.scheme == "rediss" else {}
    return redis.Redis.from_url(
        url,
        **tls,
        password=password or None,
        socket_timeout=timeout_s,
        socket_connect_timeout=timeout_s,
        # Retries are the work of `streams.resilience.outage`, for every store.
        retry=Retry(NoBackoff(), 0),
        redis_connect_func=_connect,
        decode_responses=not binary,
        encoding_errors="replace",
    )


def check_redis(client: "redis.Redis") -> None:
    """Return where Redis takes this user.

    Raises:
        SinkUnavailable: Redis does not answer.
        SinkRejected: It refuses the user, or it is a node of a Redis Cluster.
    """
    with translate_errors(client, "opening Redis"):
        client.ping()


def _connect(connection: Any) -> None:
    """Set up a new connection. Raises `redis.ResponseError` where it leads to a node of a Redis Cluster."""
    import redis

    connection.on_connect()
    connection.send_command("HELLO")
    try:
        answer = connection.read_response()
    except redis.ResponseError:  # before Redis 6, or the user may not ask
        return
    fields = answer.items() if isinstance(answer, dict) else zip(answer[::2], answer[1::2], strict=True)
    if any(name in ("mode", b"mode") and value in ("cluster", b"cluster") for name, value in fields):
        raise redis.ResponseError(_CLUSTER)


@contextmanager
def translate_errors(client: "redis.Redis", doing: str) -> Iterator[None]:
    """Turn what Redis raises inside into `SinkUnavailable` or `SinkRejected`; `doing` begins the message."""
    import redis

    try:
        yield
    except (redis.AuthenticationError, redis.exceptions.NoPermissionError) as error:
        # A kind of connection error to the driver, but waiting does not fix it.
        wrong = "its password" if isinstance(error, redis.AuthenticationError) else "its rights (ACL)"
        raise SinkRejected(f"{doing}: Redis refuses this user: {error}. Check the user and {wrong}.") from error
    except redis.ResponseError as error:
        first = str(error).split(" ", 1)[0]
        passes = first in _PASSING or isinstance(error, redis.exceptions.OutOfMemoryError | redis.ReadOnlyError)
        # First words of errors of a Redis Cluster.
        reason = f"{_CLUSTER} ({error})" if first in ("MOVED", "ASK", "CROSSSLOT") else str(error)
        raise (SinkUnavailable if passes else SinkRejected)(f"{doing}: {reason}") from error
    except (redis.ConnectionError, redis.TimeoutError, OSError) as error:
        message = f"{doing}: {network_error(error, _address(client)) or error}"
        raise (SinkRejected if untrusted(error) else SinkUnavailable)(message) from error


def _address(client: "redis.Redis") -> str:
    how = client.connection_pool.connection_kwargs
    return str(how.get("path") or f"{how.get('host', 'localhost')}:{how.get('port', 6379)}")
