"""Which partition a key belongs to: murmur2, as Kafka's own clients choose."""

from kafka.partitioner.default import murmur2


def partition_of(key: bytes | None, partitions: int) -> int:
    """Return the partition of `key` among `partitions`; keyless messages go to partition 0."""
    return 0 if key is None else int(murmur2(key) & 0x7FFFFFFF) % partitions
