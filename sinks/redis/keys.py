"""The keys. Their layout is documented in docs/redis.md; other programs read them."""

from dataclasses import dataclass

PREFIX = "schedmate:"


@dataclass(frozen=True)
class Keys:
    """Names of keys under one prefix (its separator included), so that several installations can share a server."""

    prefix: str = PREFIX

    @property
    def jobs(self) -> str:
        """Sorted set: job ids by the time of their last update."""
        return f"{self.prefix}jobs"

    @property
    def nodes(self) -> str:
        """Sorted set: node names by the time of their last update."""
        return f"{self.prefix}nodes"

    @property
    def clusters(self) -> str:
        """Sorted set: clusters by the time of their last quota."""
        return f"{self.prefix}clusters"

    @property
    def formats(self) -> str:
        """Sorted set: fingerprints of log formats by the time of their last update."""
        return f"{self.prefix}formats"

    def job(self, job: str) -> str:
        """Hash: the state of a job."""
        return f"{self.prefix}job:{job}"

    def ranks(self, job: str) -> str:
        """Hash: the newest report of each rank of a job."""
        return f"{self.prefix}ranks:{job}"

    def node(self, node: str) -> str:
        """Hash: the newest sample of each GPU of a node, and the last finding of each signature."""
        return f"{self.prefix}node:{node}"

    def format(self, fingerprint: str) -> str:
        """Hash: the newest record of a log format."""
        return f"{self.prefix}format:{fingerprint}"

    def cluster(self, cluster: str) -> str:
        """Hash: the newest quota of a cluster."""
        return f"{self.prefix}cluster:{cluster}"
