"""Who owns which partition in a group."""

from __future__ import annotations

from tests.foreign_clients.drivers.sessions import Member, TopicAndPartition
from tests.support.processes import wait_for


def all_of(topic: str, partitions: int) -> set[TopicAndPartition]:
    return {(topic, partition) for partition in range(partitions)}


def wait_until_shared(places: set[TopicAndPartition], *members: Member) -> None:
    """Until each member owns some, no two own the same, and together they own all."""

    def shared() -> bool:
        owned = [member.assignment() for member in members]
        together = set().union(*owned)
        return all(owned) and together == places and sum(map(len, owned)) == len(places)

    wait_for(shared, 60, lambda: f"the partitions to be shared: {[m.assignment() for m in members]}", 0.05)


def wait_until_owned(places: set[TopicAndPartition], member: Member) -> None:
    wait_for(lambda: member.assignment() == places, 60, lambda: f"{places}, got {member.assignment()}", 0.05)
