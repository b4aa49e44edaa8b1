"""What change nodes say."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.controller.changes import Changes, decode_changes, encode_changes, of_states

names = st.sets(st.text(min_size=1, max_size=5), max_size=3)
changes = st.builds(
    Changes,
    topics=names,
    states=st.dictionaries(
        st.text(min_size=1, max_size=5), st.sets(st.integers(0, 9), min_size=1), max_size=3
    ),
    topic_configs=names,
    broker_configs=names,
    group_configs=names,
    features=st.booleans(),
    brokers=st.booleans(),
)


@given(changes)
def test_there_and_back(one: Changes) -> None:
    assert decode_changes(encode_changes(one)) == one


@given(changes, changes)
def test_together_they_name_what_each_names(one: Changes, other: Changes) -> None:
    both = decode_changes(encode_changes(one))
    both.add(other)
    assert both.topics == one.topics | other.topics
    assert bool(both) == (bool(one) or bool(other))
    for topic in both.states:
        assert both.states[topic] == one.states.get(topic, set()) | other.states.get(topic, set())


def test_states_by_topic() -> None:
    assert of_states([("a", 1), ("b", 0), ("a", 2)]).states == {"a": {1, 2}, "b": {0}}
    assert not of_states([])
