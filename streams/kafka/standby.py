"""A group of which one member works and the others stand by."""

from collections.abc import Iterable
from typing import Any

from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription


class OneMemberAssignor(AbstractPartitionAssignor):  # type: ignore[misc]  # kafka-python has no types
    """Gives every partition to the member with the lowest id."""

    name = "one-member"
    version = 0

    @classmethod
    def assign(cls, cluster: Any, members: Iterable[Any]) -> dict[str, Any]:
        """Return the partitions of each member."""
        ranked = sorted(members, key=lambda member: str(member.member_id))
        assigned = {}
        for rank, member in enumerate(ranked):
            topics = sorted(member.metadata.topics) if rank == 0 else ()
            parts = [(topic, sorted(cluster.partitions_for_topic(topic) or ())) for topic in topics]
            assigned[member.member_id] = ConsumerProtocolAssignment(cls.version, parts, b"")
        return assigned

    @classmethod
    def metadata(cls, topics: Iterable[str]) -> Any:
        """Return what a member sends when it joins."""
        return ConsumerProtocolSubscription(cls.version, list(topics), b"")

    @classmethod
    def on_assignment(cls, assignment: Any, generation: int) -> None:
        """Keep nothing: an assignment follows from the members alone."""
