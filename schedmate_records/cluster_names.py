"""Names of what belongs to a Slurm cluster other than the local one: `beta/4711` is the job 4711 of the cluster beta.

Job numbers are unique within a cluster only. Names of the local cluster, the one of slurm.conf, have no prefix.
"""

LOCAL = ""
"""The cluster of slurm.conf."""


def qualified(cluster: str, name: str) -> str:
    """Return a name with its cluster before it; an empty one stays empty."""
    return f"{cluster}/{name}" if cluster and name else name


def qualified_all(cluster: str, names: str) -> str:
    """Return names that are separated by commas, each with its cluster before it."""
    return ",".join(qualified(cluster, name) for name in names.split(","))
