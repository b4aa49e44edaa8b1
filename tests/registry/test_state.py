"""The fold over `_schemas`: what other registries wrote, what makes no sense, and overlays."""

import pytest

from penstock.registry import listings, lookups
from penstock.registry.decisions_register import decide_register
from penstock.registry.state import RegistryState
from tests.registry.desk import Desk, record

TAKEN_OVER = [
    ('{"magic":0,"keytype":"CONFIG","subject":null}', '{"compatibilityLevel":"FULL"}'),
    ('{"keytype":"NOOP","magic":0}', None),
    (
        '{"keytype":"SCHEMA","subject":"orders-value","version":1,"magic":0}',
        '{"subject":"orders-value","version":1,"id":1,"schema":"\\"string\\"","deleted":false}',
    ),
    (
        '{"keytype":"SCHEMA","subject":"orders-value","version":2,"magic":1}',
        '{"subject":"orders-value","version":2,"id":4,"schema":"\\"int\\"","deleted":true,"offset":3,"ts":17}',
    ),
    (
        '{"keytype":"CONTEXT","tenant":"default","context":".c","magic":0}',
        '{"tenant":"default","context":".c"}',
    ),
    (
        '{"keytype":"SCHEMA","subject":":.c:s","version":1,"magic":1}',
        '{"subject":":.c:s","version":1,"id":9,"schemaType":"AVRO","schema":"\\"long\\"","deleted":false}',
    ),
    ('{"keytype":"MODE","subject":":.c:","magic":0}', '{"subject":":.c:","mode":"READONLY"}'),
    ('{"keytype":"ASSOC","tenant":"default","magic":0}', '{"anything":1}'),
    ('{"keytype":"DELETE_SUBJECT","subject":"gone","magic":0}', '{"subject":"gone","version":3}'),
]


def replay(state: RegistryState, key: str, value: str | None, offset: int = 0) -> str | None:
    return state.replay(key.encode(), None if value is None else value.encode(), offset)


def test_a_topic_of_another_registry_is_taken_over() -> None:
    desk = Desk()
    for offset, (key, value) in enumerate(TAKEN_OVER):
        assert replay(desk.state, key, value, offset) is None
    assert desk.state.next_offset == len(TAKEN_OVER)
    assert desk.config(None) == {"compatibilityLevel": "FULL"}
    assert desk.subjects() == [":.c:s", "orders-value"]
    assert desk.versions("orders-value", deleted_as_negative=True) == [1, -2]
    assert desk.mode(":.c:s", default_to_global=True) == "READONLY"
    assert desk.by_id(4)["schema"] == '"int"'
    assert desk.register("new", '"bytes"')["id"] == 5


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("nonsense", "{}"),
        ('{"keytype":"SCHEMA","subject":"s"}', "{}"),
        ('{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', "nonsense"),
        ('{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', '{"id":1}'),
        ('{"keytype":"CONFIG","magic":0}', "[]"),
        ('{"keytype":"MODE","magic":0}', '{"mode":1}'),
        ('{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}', '{"subject":"s"}'),
    ],
)
def test_a_malformed_record_is_reported_and_skipped(key: str, value: str) -> None:
    state = RegistryState()
    problem = replay(state, key, value, 41)
    assert problem is not None
    assert problem.startswith("offset 41: ")
    assert state.next_offset == 42
    assert state.schemas == state.configs == state.modes == {}


def test_an_id_that_is_another_schema_already_is_skipped() -> None:
    desk = Desk()
    desk.register("s", '"string"')
    problem = replay(
        desk.state,
        '{"keytype":"SCHEMA","subject":"t","version":1,"magic":1}',
        '{"subject":"t","version":1,"id":1,"schema":"\\"int\\"","deleted":false}',
        5,
    )
    assert problem == (
        "subject 't' version 1 has id 1, which is another schema already: the record is skipped"
    )
    assert desk.subjects() == ["s"]


def test_a_tombstone_of_what_is_unknown_does_nothing() -> None:
    state = RegistryState()
    assert replay(state, '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', None) is None
    assert replay(state, '{"keytype":"CLEAR_SUBJECT","subject":"s","magic":0}', '{"subject":"s"}') is None
    assert state.schemas == {}


def test_the_live_version_of_a_schema_counts() -> None:
    desk = Desk()
    for version, deleted in ((1, "false"), (3, "false"), (1, "true")):
        key = f'{{"keytype":"SCHEMA","subject":"s","version":{version},"magic":1}}'
        value = f'{{"subject":"s","version":{version},"id":1,"schema":"\\"int\\"","deleted":{deleted}}}'
        assert replay(desk.state, key, value) is None
    assert desk.lookup("s", '"int"')["version"] == 3
    desk.delete_version("s", 3)
    desk.delete_version("s", 3, permanent=True)
    assert desk.lookup("s", '"int"', deleted=True)["version"] == 1
    assert listings.list_versions_of_id(desk.state, desk.rules, 1, deleted=True) == [
        {"subject": "s", "version": 1}
    ]


def test_of_deleted_versions_the_highest_counts() -> None:
    desk = Desk()
    for version, deleted in ((1, "false"), (2, "true")):
        key = f'{{"keytype":"SCHEMA","subject":"s","version":{version},"magic":1}}'
        value = f'{{"subject":"s","version":{version},"id":1,"schema":"\\"int\\"","deleted":{deleted}}}'
        assert replay(desk.state, key, value) is None
    assert desk.by_id(1, "s")["version"] == 1
    desk.delete_subject("s")
    assert desk.by_id(1, "s")["version"] == 2


def test_references_of_deleted_schemas_are_known_after_a_restart() -> None:
    """After compaction the log has the deleted version only."""
    desk = Desk()
    desk.register("order", record("Order", "id:long"))
    reference = [{"name": "Order", "subject": "order", "version": 1}]
    desk.register("list", {"type": "array", "items": "Order"}, references=reference)
    desk.delete_version("list", 1)
    compacted = dict(desk.log)
    state = RegistryState()
    for offset, (key, value) in enumerate(compacted.items()):
        state.replay(key, value, offset)
    assert listings.list_referenced_by(state, desk.rules, "order", 1, deleted=True) == [2]


# ---- overlays ----


def test_a_decision_sees_those_before_it_and_readers_do_not() -> None:
    desk = Desk()
    desk.register("s", '"string"')
    pending = desk.state.overlay()
    bodies = [("a", '"int"'), ("b", '"long"'), ("a", '"int"'), ("c", '"long"'), (":.x:a", '"int"')]
    answers = []
    for subject, schema in bodies:
        decision = decide_register(pending, desk.rules, subject, {"schema": schema})
        pending.apply(decision.records)
        answers.append((decision.answer["id"], decision.answer["version"], len(decision.records)))
    assert answers == [(2, 1, 1), (3, 1, 1), (2, 1, 0), (3, 1, 1), (1, 1, 2)]
    assert desk.subjects() == ["s"]
    assert listings.list_subjects(pending, desk.rules) == [":.x:a", "a", "b", "c", "s"]


def test_what_lies_below_may_move_on_under_an_overlay() -> None:
    desk = Desk()
    pending = desk.state.overlay()
    decision = decide_register(pending, desk.rules, "s", {"schema": '"int"'})
    pending.apply(decision.records)
    desk.take(decision)
    again = decide_register(pending, desk.rules, "s", {"schema": '"int"'})
    assert again.records == ()
    assert decide_register(pending, desk.rules, "t", {"schema": '"long"'}).answer["id"] == 2


def test_a_dropped_overlay_leaves_nothing_but_burnt_ids() -> None:
    desk = Desk()
    desk.register("s", '"string"')
    pending = desk.state.overlay()
    for schema in ('"int"', '"long"'):
        pending.apply(decide_register(pending, desk.rules, schema, {"schema": schema}).records)
    desk.state.burn_ids(pending)
    assert desk.subjects() == ["s"]
    assert desk.register("s", '"bytes"', force=True)["id"] == 4


def test_deletes_on_an_overlay_stay_there() -> None:
    desk = Desk()
    desk.register("s", '"string"')
    desk.set_config("s", compatibility="NONE")
    pending = desk.state.overlay()
    pending.apply(
        [
            (b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', None),
            (b'{"keytype":"CONFIG","subject":"s","magic":0}', None),
        ]
    )
    assert list(pending.schemas) == list(pending.configs) == list(pending.users) == []
    assert len(pending.schemas) == 0
    assert lookups.find_by_id(pending, 1, None) is None
    assert desk.by_id(1)["schema"] == '"string"'
    assert desk.config("s") == {"compatibilityLevel": "NONE"}
