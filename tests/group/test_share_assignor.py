"""The simple assignor: everything is read, everybody reads, as equally as can be, and what can stay stays."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.group.modern_group import Assignment
from penstock.group.share_assignor import assign_partitions

TOPICS = [number.to_bytes(16) for number in range(1, 4)]
MEMBERS = [f"member-{number}" for number in range(7)]
PARTITIONS = st.dictionaries(st.sampled_from(TOPICS), st.integers(1, 6).map(range), min_size=1)
SUBSCRIPTIONS = st.dictionaries(
    st.sampled_from(MEMBERS), st.frozensets(st.sampled_from(TOPICS), min_size=1), min_size=1
)


def readers_of(assignment: dict[str, Assignment], topic_id: bytes, partition: int) -> list[str]:
    return [member for member, topics in assignment.items() if partition in topics.get(topic_id, ())]


def size(assignment: Assignment) -> int:
    return sum(len(indexes) for indexes in assignment.values())


@given(SUBSCRIPTIONS, PARTITIONS)
def test_every_partition_is_read_by_somebody_who_wants_it(
    subscriptions: dict[str, frozenset[bytes]], partitions: dict[bytes, range]
) -> None:
    assignment = assign_partitions(subscriptions, partitions, {})
    wanted = frozenset[bytes]().union(*subscriptions.values())
    for topic_id, indexes in partitions.items():
        for index in indexes:
            readers = readers_of(assignment, topic_id, index)
            assert bool(readers) == (topic_id in wanted)
            assert all(topic_id in subscriptions[member] for member in readers)


@given(st.integers(1, 20), st.integers(1, 20))
def test_members_that_want_the_same_get_equally_much(members: int, count: int) -> None:
    subscriptions = {f"member-{number:02}": frozenset(TOPICS[:1]) for number in range(members)}
    assignment = assign_partitions(subscriptions, {TOPICS[0]: range(count)}, {})
    sizes = [size(assigned) for assigned in assignment.values()]
    assert min(sizes) >= 1 or members < count
    assert max(sizes) - min(sizes) <= 1
    sharing = [len(readers_of(assignment, TOPICS[0], index)) for index in range(count)]
    assert max(sharing) - min(sharing) <= 1


@given(SUBSCRIPTIONS, PARTITIONS, SUBSCRIPTIONS, PARTITIONS)
def test_nothing_is_left_unread_when_all_changes(
    before: dict[str, frozenset[bytes]],
    partitions_before: dict[bytes, range],
    subscriptions: dict[str, frozenset[bytes]],
    partitions: dict[bytes, range],
) -> None:
    current = assign_partitions(before, partitions_before, {})
    assignment = assign_partitions(subscriptions, partitions, current)
    wanted = frozenset[bytes]().union(*subscriptions.values())
    for topic_id in wanted & partitions.keys():
        for index in partitions[topic_id]:
            assert readers_of(assignment, topic_id, index)


@given(SUBSCRIPTIONS, PARTITIONS)
def test_what_is_right_stays(
    subscriptions: dict[str, frozenset[bytes]], partitions: dict[bytes, range]
) -> None:
    assignment = assign_partitions(subscriptions, partitions, {})
    assert assign_partitions(subscriptions, partitions, assignment) == assignment


def test_a_member_that_leaves_takes_nothing_from_the_others() -> None:
    subscriptions = {member: frozenset(TOPICS[:1]) for member in MEMBERS[:3]}
    before = assign_partitions(subscriptions, {TOPICS[0]: range(6)}, {})
    del subscriptions[MEMBERS[2]]
    after = assign_partitions(subscriptions, {TOPICS[0]: range(6)}, before)
    for member in MEMBERS[:2]:
        assert before[member][TOPICS[0]] < after[member][TOPICS[0]]
