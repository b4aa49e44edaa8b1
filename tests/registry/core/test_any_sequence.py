"""After any sequence of decisions: the log alone gives the same state, ids are unique and only grow."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.registry.decisions_config import decide_delete_config, decide_set_config, decide_set_mode
from penstock.registry.decisions_delete import (
    decide_delete_context,
    decide_delete_subject,
    decide_delete_version,
)
from penstock.registry.decisions_register import decide_register
from penstock.registry.errors import RegistryError
from penstock.registry.formats import avro
from penstock.registry.names import context_of
from penstock.registry.rules import RegistryRules
from penstock.registry.state import RegistryState
from penstock.registry.stored import Record

RULES = RegistryRules({"AVRO": avro})
SUBJECTS = st.sampled_from(["a", "b", "c", ":.x:a", ":.x:b", ":.y:a"])
SCOPES = st.one_of(SUBJECTS, st.sampled_from([None, ":.x:", ":.__GLOBAL:"]))
TEXTS = st.sampled_from(
    ['"int"', '"long"', '"string"', '{"type":"fixed","name":"F","size":4}', '{"type":"array","items":"F"}']
)
BODIES = st.fixed_dictionaries(
    {"schema": TEXTS},
    optional={
        "id": st.integers(1, 6),
        "version": st.integers(-1, 4),
        "metadata": st.sampled_from([{}, {"properties": {"owner": "ada"}}]),
        "references": st.builds(
            lambda subject, version: [{"name": "F", "subject": subject, "version": version}],
            SUBJECTS,
            st.integers(-1, 3),
        ),
    },
)
VERSIONS = st.one_of(st.integers(1, 4), st.just("latest"))
MODES = st.sampled_from(["READWRITE", "READWRITE", "IMPORT", "READONLY", None])
LEVELS = st.sampled_from(["NONE", "BACKWARD", None])

REGISTER = st.tuples(st.just("register"), SUBJECTS, BODIES, st.booleans())
STEPS = st.one_of(
    REGISTER,
    REGISTER,
    REGISTER,
    st.tuples(st.just("delete_version"), SUBJECTS, VERSIONS, st.booleans()),
    st.tuples(st.just("delete_subject"), SUBJECTS, st.booleans()),
    st.tuples(st.just("delete_context"), st.sampled_from([".x", ".y"])),
    st.tuples(st.just("set_config"), SCOPES, LEVELS),
    st.tuples(st.just("delete_config"), SCOPES),
    st.tuples(st.just("set_mode"), SCOPES, MODES, st.booleans()),
)
DECIDE = {
    "register": lambda state, subject, body, force: decide_register(state, RULES, subject, body, force=force),
    "delete_version": lambda state, subject, version, permanent: decide_delete_version(
        state, subject, version, permanent=permanent
    ),
    "delete_subject": lambda state, subject, permanent: decide_delete_subject(
        state, subject, permanent=permanent
    ),
    "delete_context": decide_delete_context,
    "set_config": lambda state, scope, level: decide_set_config(state, scope, {"compatibility": level}),
    "delete_config": lambda state, scope: decide_delete_config(state, RULES, scope),
    "set_mode": lambda state, scope, mode, force: decide_set_mode(
        state, RULES, scope, {"mode": mode}, force=force
    ),
}


def contents(state: RegistryState) -> dict[str, Any]:
    names = ("schemas", "users", "ids", "referrers", "configs", "modes", "contexts", "max_ids")
    return {name: dict(getattr(state, name)) for name in names}


def replayed(log: list[Record]) -> RegistryState:
    state = RegistryState()
    for offset, (key, value) in enumerate(log):
        assert state.replay(key, value, offset) is None
    return state


def check_indexes(state: RegistryState) -> None:
    """They say what the schemas say, no more and no less."""
    stored = [schema for versions in state.schemas.values() for schema in versions.values()]
    assert {(context_of(each.subject), each.id) for each in stored} == set(state.users)
    assert {(context_of(each.subject), each.md5) for each in stored} == set(state.ids)
    for (context, schema_id), using in state.users.items():
        subjects = {
            each.subject for each in stored if (context_of(each.subject), each.id) == (context, schema_id)
        }
        assert set(using) == subjects
        assert all(state.schemas[subject][version].id == schema_id for subject, version in using.items())
    for versions in state.schemas.values():
        assert list(versions) == sorted(versions)


class Ids:
    """An id is one text, and those that the registry gives are higher than any before in their context."""

    def __init__(self) -> None:
        self.texts: dict[tuple[str, int], str] = {}

    def check(self, subject: str, body: dict[str, Any], answer: dict[str, Any], is_new: bool) -> None:
        context, schema_id = context_of(subject), answer["id"]
        known = [number for place, number in self.texts if place == context]
        if is_new and "id" not in body and (context, schema_id) not in self.texts:
            assert schema_id > max(known, default=0)
        if "id" not in body:
            assert self.texts.get((context, schema_id), answer["schema"]) == answer["schema"]
        self.texts[context, schema_id] = answer["schema"]


@settings(max_examples=150, deadline=None)
@given(st.lists(STEPS, max_size=25))
def test_the_log_alone_gives_the_same_state(steps: list[tuple[Any, ...]]) -> None:
    state, log, ids = RegistryState(), [], Ids()
    for name, *arguments in steps:
        try:
            decision = DECIDE[name](state, *arguments)
        except RegistryError:
            continue
        state.apply(decision.records)
        log += decision.records
        check_indexes(state)
        if name == "register":
            ids.check(arguments[0], arguments[1], decision.answer, bool(decision.records))
    live = contents(state)
    assert contents(replayed(log)) == live
    compacted = contents(replayed(compact(log)))
    assert {**compacted, "max_ids": None} == {**live, "max_ids": None}


def compact(log: list[Record]) -> list[Record]:
    last = {key: offset for offset, (key, _) in enumerate(log)}
    return [(key, value) for offset, (key, value) in enumerate(log) if last[key] == offset]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(STEPS, max_size=6), max_size=6), st.data())
def test_batches_on_overlays_give_the_same_state(
    batches: list[list[tuple[Any, ...]]], data: st.DataObject
) -> None:
    """A batch that fails leaves no trace; one that is written is the overlay, made durable."""
    state = RegistryState()
    for steps in batches:
        before, pending, records = contents(state), state.overlay(), list[Record]()
        for name, *arguments in steps:
            try:
                decision = DECIDE[name](pending, *arguments)
            except RegistryError:
                continue
            pending.apply(decision.records)
            records += decision.records
        assert contents(state) == before
        if data.draw(st.booleans(), label="is written"):
            expected = contents(pending)
            state.apply(records)
            assert contents(state) == expected == contents(pending)
