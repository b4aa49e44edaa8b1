"""After any sequence of decisions: the log alone gives the same state, ids are unique and only grow.

A seed is a sequence of a few hundred decisions on few names, so that deletes, imports and references meet.
"""

from random import Random
from typing import Any

import pytest

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
SUBJECTS = ("a", "b", ":.x:a")
SCOPES = ("a", ":.x:", None, ":.__GLOBAL:")
FIXED = '{"type":"fixed","name":"F","size":4}'
TEXTS = ('"int"', '"string"', FIXED, '{"type":"array","items":"F"}')
Step = tuple[Any, ...]


def body(random: Random) -> dict[str, Any]:
    members: dict[str, Any] = {"schema": random.choice(TEXTS)}
    if "items" in members["schema"]:
        target = {"subject": random.choice(SUBJECTS), "version": random.choice([-1, 1, 2])}
        members["references"] = [{"name": "F", **target}]
    if random.random() < 0.2:
        members["metadata"] = random.choice([{}, {"properties": {"owner": "ada"}}])
    if random.random() < 0.1:
        members["version"] = random.randint(-1, 4)
    return members


def imports(random: Random) -> list[Step]:
    """A stretch in IMPORT mode, into a scope that may have schemas already."""
    scope = random.choice(SCOPES)
    drafts = ({**body(random), "id": random.randint(1, 9), "version": random.randint(1, 4)} for _ in range(6))
    registrations = [("register", random.choice(SUBJECTS), draft, False) for draft in drafts]
    return [
        ("set_mode", scope, "IMPORT", random.random() < 0.5),
        *registrations,
        ("set_mode", scope, None, False),
    ]


def is_read_only_for_a_while(random: Random) -> list[Step]:
    scope = random.choice(SCOPES)
    return [("set_mode", scope, "READONLY", False), *step(random), ("set_mode", scope, None, False)]


def step(random: Random) -> list[Step]:
    subject = random.choice(SUBJECTS)
    kinds: list[tuple[int, Any]] = [
        (12, lambda: [("register", subject, body(random), random.random() < 0.9)]),
        (4, lambda: [("delete_subject", subject, random.random() < 0.5)]),
        (4, lambda: [("delete_subject", subject, False), ("delete_subject", subject, True)]),
        (8, lambda: [("delete_version", subject, random.choice([1, 2, 3, "latest"]), random.random() < 0.5)]),
        (1, lambda: [("delete_context", ".x")]),
        (1, lambda: [("set_config", random.choice(SCOPES), random.choice(["NONE", "BACKWARD", None]))]),
        (1, lambda: [("delete_config", random.choice(SCOPES))]),
        (1, lambda: is_read_only_for_a_while(random)),
        (2, lambda: imports(random)),
    ]
    chosen: list[Step] = random.choices([make for _, make in kinds], [weight for weight, _ in kinds])[0]()
    return chosen


def steps(random: Random, count: int) -> list[Step]:
    return [each for _ in range(count) for each in step(random)]


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
        having = [each for each in stored if (context_of(each.subject), each.id) == (context, schema_id)]
        expected: dict[str, tuple[bool, int]] = {}
        for each in having:
            expected[each.subject] = max(
                expected.get(each.subject, (False, 0)), (not each.deleted, each.version)
            )
        assert using == {subject: version for subject, (_, version) in expected.items()}
    for versions in state.schemas.values():
        assert list(versions) == sorted(versions)


class Ids:
    """An id is one text, and those that the registry gives are higher than any before in their context."""

    def __init__(self) -> None:
        self.texts: dict[tuple[str, int], str] = {}

    def check(self, subject: str, body: dict[str, Any], answer: dict[str, Any]) -> None:
        context, schema_id = context_of(subject), answer["id"]
        given = [number for place, number in self.texts if place == context]
        if "id" not in body and (context, schema_id) not in self.texts:
            assert schema_id > max(given, default=0)
        if "id" not in body:
            assert self.texts.get((context, schema_id), answer["schema"]) == answer["schema"]
        self.texts[context, schema_id] = answer["schema"]


@pytest.mark.parametrize("seed", range(30))
def test_the_log_alone_gives_the_same_state(seed: int) -> None:
    state, log, ids = RegistryState(), list[Record](), Ids()
    for name, *arguments in steps(Random(seed), 150):
        try:
            decision = DECIDE[name](state, *arguments)
        except RegistryError:
            continue
        state.apply(decision.records)
        log += decision.records
        check_indexes(state)
        if name == "register":
            ids.check(arguments[0], arguments[1], decision.answer)
    live = contents(state)
    assert contents(replayed(log)) == live
    compacted = contents(replayed(compact(log)))
    assert {**compacted, "max_ids": None} == {**live, "max_ids": None}


def compact(log: list[Record]) -> list[Record]:
    last = {key: offset for offset, (key, _) in enumerate(log)}
    return [(key, value) for offset, (key, value) in enumerate(log) if last[key] == offset]


@pytest.mark.parametrize("seed", range(30))
def test_batches_on_overlays_give_the_same_state(seed: int) -> None:
    """A batch that fails leaves no trace; one that is written is the overlay, made durable."""
    random, state = Random(seed), RegistryState()
    for _ in range(25):
        before, pending, records = contents(state), state.overlay(), list[Record]()
        for name, *arguments in steps(random, random.randint(1, 8)):
            try:
                decision = DECIDE[name](pending, *arguments)
            except RegistryError:
                continue
            pending.apply(decision.records)
            records += decision.records
        assert contents(state) == before
        if random.random() < 0.6:
            expected = contents(pending)
            state.apply(records)
            assert contents(state) == expected == contents(pending)
