"""Registering: ids, versions, what is the same schema, metadata and rules, explicit ids in IMPORT mode."""

import hashlib
import json
import uuid
from typing import Any

import pytest

from penstock.registry.decisions_register import find_registered
from tests.registry.desk import Desk, record, refusal, with_default

ORDER = record("Order", "id:long")
ORDER_TEXT = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
NOTED_ORDER = record("Order", "id:long", with_default("note", "string", ""))
INVOICE = record("Invoice", "number:string")


def numbers(answer: Any) -> tuple[int, int]:
    return answer["id"], answer["version"]


def test_the_first_schema_gets_id_and_version_one() -> None:
    answer = Desk().register("orders-value", ORDER)
    guid = str(uuid.UUID(bytes=hashlib.md5(ORDER_TEXT.encode()).digest()))
    assert answer == {"id": 1, "version": 1, "guid": guid, "schemaType": "AVRO", "schema": ORDER_TEXT}


def test_the_same_schema_keeps_id_and_version() -> None:
    desk = Desk()
    desk.register("orders-value", ORDER)
    assert numbers(desk.register("orders-value", json.dumps(ORDER, indent=4))) == (1, 1)
    assert len(desk.log) == 1


def test_the_same_schema_under_another_subject_keeps_its_id() -> None:
    desk = Desk()
    desk.register("orders-value", ORDER)
    desk.register("orders-value", NOTED_ORDER)
    assert numbers(desk.register("archive-value", NOTED_ORDER)) == (2, 1)
    assert numbers(desk.register("archive-value", ORDER, force=True)) == (1, 2)


def test_ids_count_on_and_versions_count_per_subject() -> None:
    desk = Desk()
    answers = [
        desk.register("a", ORDER),
        desk.register("b", INVOICE),
        desk.register("a", NOTED_ORDER),
        desk.register("c", '"string"'),
    ]
    assert [numbers(answer) for answer in answers] == [(1, 1), (2, 1), (3, 2), (4, 1)]


def test_each_context_counts_its_own_ids_and_is_recorded_once() -> None:
    desk = Desk()
    desk.register("a", ORDER)
    assert numbers(desk.register(":.staging:a", INVOICE)) == (1, 1)
    assert numbers(desk.register(":.staging:b", ORDER)) == (2, 1)
    assert [key for key, _ in desk.log].count(
        b'{"keytype":"CONTEXT","tenant":"default","context":".staging","magic":0}'
    ) == 1


def test_an_incompatible_schema_is_refused() -> None:
    desk = Desk()
    desk.register("orders-value", ORDER)
    status, code, message = refusal(desk.register, "orders-value", record("Order", "id:long", "note:string"))
    assert (status, code) == (409, 40901)
    assert message == (
        'Schema being registered is incompatible with an earlier schema for subject "orders-value", details: '
        "[{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'note' at path '/fields/1' in the "
        "new schema has no default value and is missing in the old schema', additionalInfo:'note'}, "
        "{oldSchemaVersion: 1}, {oldSchema: '" + ORDER_TEXT + "'}, "
        "{validateFields: 'false', compatibility: 'BACKWARD'}]"
    )


def test_force_skips_the_check() -> None:
    desk = Desk()
    desk.register("orders-value", ORDER)
    assert numbers(desk.register("orders-value", INVOICE, force=True)) == (2, 2)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"schema": ""}, "Empty schema"),
        ({"schema": "  "}, "Empty schema"),
        ({}, "Empty schema"),
        ({"schema": '"string"', "schemaType": "XML"}, "Invalid schema type XML"),
        (
            {"schema": '"string"', "references": [{"name": "a", "subject": "a"}]},
            "Invalid reference: {name='a', subject='a', version=null}",
        ),
        (
            {"schema": '"string"', "references": [{"name": "A", "subject": "a", "version": 3}]},
            'Invalid schema of type AVRO, details: No schema reference found for subject "a" and version 3',
        ),
    ],
)
def test_what_is_no_schema(body: dict[str, Any], message: str) -> None:
    body = {"schema": "", **body}
    assert refusal(Desk().register, "s", **body) == (422, 42201, message)


def test_an_invalid_schema_says_where() -> None:
    broken = record("Order", "id:longer")
    status, code, message = refusal(Desk().register, "s", broken)
    assert (status, code) == (422, 42201)
    assert message.startswith("Invalid schema of type AVRO, details: ")
    assert "longer" in message


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"schema": 5}, "schema: got 5, takes a string"),
        ({"schemaType": 5}, "schemaType: got 5, takes a string"),
        ({"id": "x"}, "id: got 'x', takes a whole number of 32 bits"),
        ({"version": True}, "version: got True, takes a whole number of 32 bits"),
        ({"references": 5}, "references: got 5, takes a list"),
        ({"references": [5]}, "references: got 5, takes objects of name, subject and version"),
        ({"metadata": 5}, "metadata: got 5, takes an object"),
        ({"metadata": {"properties": {"a": 1}}}, "metadata.properties.a: got 1, takes a string"),
        ({"metadata": {"tags": {"a": "x"}}}, "metadata.tags.a: got 'x', takes a list"),
        ({"ruleSet": {"domainRules": {}}}, "ruleSet.domainRules: got {}, takes a list"),
        (
            {"ruleSet": {"domainRules": [{"name": "a", "kind": "X"}]}},
            "ruleSet.domainRules.kind: got 'X', takes one of TRANSFORM, CONDITION",
        ),
    ],
)
def test_members_of_the_wrong_kind_are_named(more: dict[str, Any], message: str) -> None:
    desk = Desk()
    with pytest.raises(Exception, match="takes") as caught:
        find_registered(desk.state, desk.rules, "s", {"schema": '"string"', **more})
    assert str(caught.value) == message


@pytest.mark.parametrize("subject", ["__GLOBAL", "__EMPTY", ":.__GLOBAL:a", "a\nb", ":.c:__EMPTY"])
def test_names_that_no_subject_may_have(subject: str) -> None:
    assert refusal(Desk().register, subject, ORDER)[:2] == (422, 42208)


def test_an_empty_subject_may_be_forbidden() -> None:
    assert numbers(Desk().register("", ORDER)) == (1, 1)
    desk = Desk(reject_empty_subject=True)
    assert refusal(desk.register, "", ORDER) == (422, 42208, "The specified subject '' is not a valid.")


def test_an_expected_version_has_to_be_the_next_one() -> None:
    desk = Desk()
    desk.register("s", ORDER)
    assert refusal(desk.register, "s", NOTED_ORDER, version=3) == (
        422,
        42201,
        "Version is not one more than previous version",
    )
    answer = desk.register("s", NOTED_ORDER, version=2)
    assert answer["metadata"] == {"properties": {"confluent:version": "2"}}
    assert numbers(answer) == (2, 2)


def test_the_latest_version_is_found_by_minus_one() -> None:
    desk = Desk()
    desk.register("s", ORDER)
    desk.register("s", NOTED_ORDER)
    assert numbers(desk.register("s", NOTED_ORDER, version=-1)) == (2, 2)
    assert numbers(desk.register("s", ORDER, version=-1)) == (3, 3)


def test_a_soft_deleted_schema_comes_back_with_its_id_as_a_new_version() -> None:
    desk = Desk()
    desk.register("s", ORDER)
    desk.delete_version("s", 1)
    assert numbers(desk.register("s", ORDER)) == (1, 2)
    assert desk.versions("s", deleted=True) == [2]


def test_a_deleted_version_that_is_referred_to_is_not_cleared_away() -> None:
    desk = Desk()
    desk.register("order", ORDER)
    reference = [{"name": "Order", "subject": "order", "version": 1}]
    desk.register("list", {"type": "array", "items": "Order"}, references=reference)
    desk.delete_subject("list")
    desk.delete_version("order", 1)
    desk.register("order", ORDER)
    assert desk.versions("order", deleted=True) == [1, 2]


# ---- normalize ----


def test_normalize_finds_what_differs_in_order_only() -> None:
    desk = Desk()
    desk.register("s", {**NOTED_ORDER, "zeta": "1", "alpha": "2"}, normalize=True)
    same = {"alpha": "2", "zeta": "1", **NOTED_ORDER}
    assert numbers(desk.register("s", same, normalize=True)) == (1, 1)
    desk.set_config("s", normalize=True)
    assert numbers(desk.register("s", same)) == (1, 1)


# ---- references ----


def test_references_are_resolved_transitively() -> None:
    desk = Desk()
    desk.register("money", record("Money", "cents:long"))
    desk.register(
        "order",
        record("Order", "total:Money"),
        references=[{"name": "Money", "subject": "money", "version": 1}],
    )
    answer = desk.register(
        "page",
        {"type": "array", "items": "Order"},
        references=[{"name": "Order", "subject": "order", "version": -1}],
    )
    assert answer["references"] == [{"name": "Order", "subject": "order", "version": 1}]
    assert answer["schema"] == '{"type":"array","items":"Order"}'
    resolved = desk.get("page", 1, format_name="resolved")["schema"]
    assert json.loads(resolved)["items"]["fields"][0]["type"]["fields"] == [{"name": "cents", "type": "long"}]
    assert desk.referenced_by("money", 1) == [2]
    assert desk.referenced_by("order", 1) == [3]


def test_a_schema_sent_with_its_references_put_in_is_the_same() -> None:
    desk = Desk()
    money = record("Money", "cents:long")
    desk.register("money", money)
    reference = [{"name": "Money", "subject": "money", "version": 1}]
    desk.register("order", record("Order", "total:Money"), references=reference)
    whole = record("Order", {"name": "total", "type": money})
    assert numbers(desk.register("order", whole)) == (2, 1)
    assert numbers(desk.lookup("order", whole)) == (2, 1)


def test_a_reference_is_looked_for_in_the_context_of_its_schema() -> None:
    desk = Desk()
    desk.register(":.c:money", record("Money", "cents:long"))
    reference = [{"name": "Money", "subject": "money", "version": 1}]
    desk.register(":.c:order", record("Order", "total:Money"), references=reference)
    assert desk.referenced_by(":.c:money", 1) == [2]
    assert desk.get(":.c:order", 1)["references"] == reference
    qualified = desk.get(":.c:order", 1, reference_format="qualified")["references"]
    assert qualified == [{"name": "Money", "subject": ":.c:money", "version": 1}]


def test_what_is_new_may_not_refer_to_what_is_deleted() -> None:
    desk = Desk()
    desk.register("money", record("Money", "cents:long"))
    desk.delete_subject("money")
    reference = [{"name": "Money", "subject": "money", "version": 1}]
    code = refusal(desk.register, "order", record("Order", "total:Money"), references=reference)[1]
    assert code == 42201


# ---- modes ----


@pytest.mark.parametrize("mode", ["READONLY", "READONLY_OVERRIDE"])
def test_a_read_only_registry_takes_nothing_new_but_answers_what_it_has(mode: str) -> None:
    desk = Desk()
    desk.register(":.c:s", ORDER)
    desk.set_mode(":.c:", mode)
    assert refusal(desk.register, ":.c:s", NOTED_ORDER) == (
        422,
        42205,
        "Subject :.c:s in context :.c: is in read-only mode",
    )
    assert numbers(desk.register(":.c:s", ORDER)) == (1, 1)


def test_ids_are_given_in_import_mode_only() -> None:
    desk = Desk()
    assert refusal(desk.register, "s", ORDER, id=7) == (
        422,
        42205,
        "Subject s in context  is not in import mode",
    )
    desk.set_mode("s", "IMPORT")
    assert refusal(desk.register, "s", ORDER) == (
        422,
        42205,
        "Subject s in context  is not in read-write mode",
    )
    assert numbers(desk.register("s", ORDER, id=7, version=4)) == (7, 4)
    assert numbers(desk.register("s", INVOICE, id=9, version=2)) == (9, 2), "no compatibility, no order"
    assert desk.versions("s") == [2, 4]
    assert numbers(desk.register("other", '"int"')) == (10, 1)


def test_an_id_stays_with_its_schema() -> None:
    desk = Desk()
    desk.set_mode(None, "IMPORT")
    desk.register("s", ORDER, id=7, version=1)
    assert refusal(desk.register, "t", INVOICE, id=7, version=1) == (
        422,
        42205,
        "Overwrite new schema with id 7 in context  is not permitted.",
    )
    assert numbers(desk.register("t", ORDER, id=7, version=5)) == (7, 5)
    assert numbers(desk.register("t", ORDER, id=7, version=5)) == (7, 5)
    assert len(desk.log) == 4, "clear, mode, and two registrations: the third was known"


def test_forward_mode_takes_ids_too() -> None:
    desk = Desk()
    desk.set_mode(":.__GLOBAL:", "FORWARD")
    assert numbers(desk.register("s", ORDER, id=12, version=1)) == (12, 1)


# ---- metadata and rules ----

OWNED = {"properties": {"owner": "ada"}}
RULES = {"domainRules": [{"name": "checkId", "kind": "CONDITION", "type": "CEL", "expr": "message.id > 0"}]}
STORED_RULES = {
    "domainRules": [
        {
            "name": "checkId",
            "kind": "CONDITION",
            "mode": "WRITEREAD",
            "type": "CEL",
            "expr": "message.id > 0",
            "disabled": False,
        }
    ]
}


def test_metadata_and_rules_are_kept_and_make_another_schema() -> None:
    desk = Desk()
    desk.register("s", ORDER)
    answer = desk.register("s", ORDER, metadata=OWNED, ruleSet=RULES)
    assert numbers(answer) == (2, 2)
    assert (answer["metadata"], answer["ruleSet"]) == (OWNED, STORED_RULES)
    assert desk.by_id(2)["ruleSet"] == STORED_RULES
    assert answer["guid"] != desk.get("s", 1)["guid"]


def test_metadata_and_rules_are_taken_over_from_the_version_before() -> None:
    desk = Desk()
    desk.register("s", ORDER, metadata=OWNED, ruleSet=RULES)
    answer = desk.register("s", NOTED_ORDER)
    assert (answer["metadata"], answer["ruleSet"]) == (OWNED, STORED_RULES)
    assert numbers(desk.register("s", NOTED_ORDER)) == (2, 2)
    assert numbers(desk.lookup("s", NOTED_ORDER)) == (2, 2)


def test_a_schema_may_be_left_out_to_change_metadata_only() -> None:
    desk = Desk()
    desk.register("s", ORDER)
    answer = desk.register("s", "", metadata=OWNED)
    assert numbers(answer) == (2, 2)
    assert answer["schema"] == ORDER_TEXT


def test_defaults_and_overrides_of_the_config_are_put_in() -> None:
    desk = Desk()
    desk.set_config(
        "s",
        defaultMetadata={"properties": {"owner": "nobody", "team": "core"}},
        overrideMetadata={"properties": {"region": "eu"}, "sensitive": ["pin"]},
        defaultRuleSet={"migrationRules": [{"name": "up", "mode": "UPGRADE", "type": "JSONATA"}]},
    )
    answer = desk.register(
        "s", ORDER, metadata={"properties": {"owner": "ada", "region": "us"}}, ruleSet=RULES
    )
    assert answer["metadata"] == {
        "properties": {"owner": "ada", "region": "eu", "team": "core"},
        "sensitive": ["pin"],
    }
    assert [rule["name"] for rule in answer["ruleSet"]["migrationRules"]] == ["up"]
    assert answer["ruleSet"]["domainRules"] == STORED_RULES["domainRules"]
    again = desk.register(
        "s", ORDER, metadata={"properties": {"owner": "ada", "region": "us"}}, ruleSet=RULES
    )
    assert numbers(again) == (1, 1)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([{"type": "CEL"}], "Missing rule name"),
        ([{"name": "a"}], "Missing rule type"),
        ([{"name": "1a", "type": "CEL"}], "Illegal initial character in rule name: 1a"),
        ([{"name": "a b", "type": "CEL"}], "Illegal character in rule name: a b"),
        ([{"name": "a" * 257, "type": "CEL"}], "Rule name too long"),
        ([{"name": "a", "type": "CEL"}] * 2, "Found rule with duplicate name 'a'"),
        (
            [{"name": "a", "type": "CEL", "mode": "UPGRADE"}],
            "Domain rules can only be WRITE, READ, WRITEREAD",
        ),
        (
            [{"name": "a", "type": "CEL", "mode": "WRITE", "onFailure": "DLQ,NONE"}],
            "Multiple actions only valid with WRITEREAD and UPDOWN",
        ),
    ],
)
def test_rules_that_cannot_be(rules: list[dict[str, Any]], message: str) -> None:
    assert refusal(Desk().register, "s", ORDER, ruleSet={"domainRules": rules}) == (422, 42210, message)


def test_the_version_in_the_metadata_does_not_make_another_schema() -> None:
    desk = Desk()
    desk.register("s", ORDER, version=1)
    assert desk.get("s", 1)["metadata"] == {"properties": {"confluent:version": "1"}}
    assert numbers(desk.register("s", ORDER)) == (1, 1)
    assert numbers(desk.lookup("s", ORDER)) == (1, 1)


def test_versions_in_the_metadata_step_by_step() -> None:
    """Each step: what is asked for, and the id and version that come of it, as Confluent's registry answers."""
    desk = Desk()

    def register(version: int | None = None, properties: dict[str, str] | None = None) -> tuple[int, int]:
        more = {"version": version, "metadata": None if properties is None else {"properties": properties}}
        return numbers(desk.register("s", ORDER, **more))

    def find(properties: dict[str, str] | None = None) -> int:
        metadata = None if properties is None else {"properties": properties}
        found: int = desk.lookup("s", ORDER, metadata=metadata)["version"]
        return found

    assert register() == (1, 1)
    assert register(version=-1) == (1, 1)
    assert register(version=2) == (2, 2)
    assert register(version=-1) == (2, 2)
    assert find() == 1
    assert find({"confluent:version": "1"}) == 1
    assert find({"confluent:version": "2"}) == 2
    desk.delete_version("s", 1)
    assert find() == 2
    assert register() == (2, 2)
    assert register(version=3) == (3, 3)
    assert register(version=-1) == (3, 3)
    assert refusal(register, version=3)[1] == 42201
    assert register(version=4) == (4, 4)
    assert find() == 4
    assert register(properties={"confluent:version": "-1"}) == (5, 5)
    assert desk.get("s", 5)["metadata"] == {"properties": {"confluent:version": "5"}}
    assert register(properties={"confluent:version": "2"}) == (2, 2)
    assert register(properties={"confluent:version": "3"}) == (3, 3)
    assert register(properties={"confluent:version": "0"}) == (6, 6)
    assert register(properties={}) == (6, 6)
    assert register(properties={"owner": "ada"}) == (7, 7)
    assert "confluent:version" not in desk.get("s", 7)["metadata"]["properties"]
    assert register(version=-1) == (8, 8)
    assert desk.get("s", 8)["metadata"] == {"properties": {"confluent:version": "8", "owner": "ada"}}
    assert find({"owner": "ada"}) == 7
    desk.delete_version("s", 7)
    assert find({"owner": "ada"}) == 8


def test_imports_of_one_schema_under_several_ids_and_versions() -> None:
    desk = Desk()
    desk.set_mode(None, "IMPORT")
    steps = [("s", 1, 1), ("s", 1, 2), ("s", 1, 1), ("s", 200, 3), ("t", 200, 1), ("t", 200, 1)]
    for subject, schema_id, version in steps:
        assert numbers(desk.register(subject, ORDER, id=schema_id, version=version)) == (schema_id, version)
    assert desk.versions("s") == [1, 2, 3]
    assert len(desk.log) == 6, "clear, mode and four versions"
    assert desk.lookup("t", ORDER)["version"] == 1
