"""Reading: by version, id, guid, text and metadata; lists and their filters; aliases and contexts."""

from typing import Any

import pytest

from penstock.registry import listings, lookups
from tests.registry.desk import Desk, record, refusal, with_default

ORDER = record("Order", "id:long")
ORDER_TEXT = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
NOTED_ORDER = record("Order", "id:long", with_default("note", "string", ""))
INVOICE = record("Invoice", "number:string")


@pytest.fixture
def desk() -> Desk:
    """Ids 1 and 2 in subject s, 1 in t, and another 1 in the context c."""
    desk = Desk()
    desk.register("s", ORDER)
    desk.register("s", NOTED_ORDER)
    desk.register("t", ORDER)
    desk.register(":.c:s", INVOICE)
    return desk


def test_a_version(desk: Desk) -> None:
    answer = desk.get("s", 1)
    assert answer == {
        "subject": "s",
        "version": 1,
        "id": 1,
        "guid": answer["guid"],
        "schemaType": "AVRO",
        "schema": ORDER_TEXT,
        "ts": 1000,
        "deleted": False,
    }


def test_the_latest_version(desk: Desk) -> None:
    assert [desk.get("s", word)["version"] for word in ("latest", "LATEST", "-1", -1, "2", " 2 ")] == [2] * 6


def test_versions_that_are_not_there(desk: Desk) -> None:
    assert refusal(desk.get, "s", 3) == (404, 40402, "Version 3 not found.")
    assert refusal(desk.get, "u", 1) == (404, 40401, "Subject 'u' not found.")
    assert refusal(desk.get, "u", "latest") == (404, 40401, "Subject 'u' not found.")


@pytest.mark.parametrize("version", ["0", "-2", "newest", "", "2147483648", "1.0"])
def test_what_is_no_version(desk: Desk, version: str) -> None:
    assert refusal(desk.get, "s", version) == (
        422,
        42202,
        f"The specified version '{version}' is not a valid version id. "
        'Allowed values are between [1, 2^31-1] and the string "latest"',
    )


def test_a_name_without_context_is_looked_for_everywhere() -> None:
    desk = Desk()
    desk.register(":.c:s", ORDER)
    assert desk.get("s", 1)["subject"] == ":.c:s"
    assert desk.lookup("s", ORDER)["subject"] == ":.c:s"
    assert refusal(desk.get, ":.d:s", 1)[1] == 40401


# ---- by id and guid ----


def test_an_id(desk: Desk) -> None:
    answer = desk.by_id(1)
    assert answer == {
        "guid": answer["guid"],
        "schemaType": "AVRO",
        "schema": ORDER_TEXT,
        "ts": answer["ts"],
        "deleted": False,
    }
    assert refusal(desk.by_id, 99) == (404, 40403, "Schema 99 not found")


def test_an_id_belongs_to_a_context(desk: Desk) -> None:
    assert '"Invoice"' in desk.by_id(1, ":.c:")["schema"]
    named = desk.by_id(1, ":.c:s")
    assert (named["subject"], named["version"]) == (":.c:s", 1)
    assert desk.by_id(1, "t")["subject"] == "t"
    assert refusal(desk.by_id, 2, ":.c:s")[1] == 40403
    assert desk.by_id(2, "t")["subject"] == "s", "not in the subject: any of the context"
    assert desk.by_id(1, fetch_max_id=True)["maxId"] == 2


def test_an_id_without_context_is_looked_for_in_subjects_of_that_name() -> None:
    desk = Desk()
    desk.register(":.c:s", ORDER)
    assert desk.by_id(1, "s")["subject"] == ":.c:s"


def test_a_guid(desk: Desk) -> None:
    guid = desk.get("s", 1)["guid"]
    desk.register(":.c:t", ORDER)
    found = lookups.get_schema_by_guid(desk.state, desk.rules, guid)
    assert found["schema"] == ORDER_TEXT
    assert "subject" not in found
    assert lookups.list_ids_of_guid(desk.state, guid) == [
        {"context": ".", "id": 1},
        {"context": ".c", "id": 2},
    ]
    assert lookups.list_ids_of_guid(desk.state, guid.replace("-", "")) != []
    assert lookups.list_ids_of_guid(desk.state, "nonsense") == []
    assert refusal(lookups.get_schema_by_guid, desk.state, desk.rules, "nonsense") == (
        404,
        40403,
        "Schema nonsense not found",
    )


def test_who_has_an_id(desk: Desk) -> None:
    assert listings.list_versions_of_id(desk.state, desk.rules, 1) == [
        {"subject": "s", "version": 1},
        {"subject": "t", "version": 1},
    ]
    assert listings.list_subjects_of_id(desk.state, desk.rules, 1) == ["s", "t"]
    assert listings.list_subjects_of_id(desk.state, desk.rules, 1, ":.c:") == [":.c:s"]
    desk.delete_subject("t")
    assert listings.list_subjects_of_id(desk.state, desk.rules, 1) == ["s"]
    assert listings.list_subjects_of_id(desk.state, desk.rules, 1, deleted=True, offset=1) == ["t"]
    assert refusal(listings.list_versions_of_id, desk.state, desk.rules, 9) == (
        404,
        40403,
        "Schema not found",
    )


# ---- by text and metadata ----


def test_looking_a_schema_up(desk: Desk) -> None:
    found = desk.lookup("s", ORDER)
    assert found == {
        "subject": "s",
        "version": 1,
        "id": 1,
        "guid": found["guid"],
        "schemaType": "AVRO",
        "schema": ORDER_TEXT,
    }
    assert refusal(desk.lookup, "s", '"int"') == (404, 40403, "Schema not found")
    assert refusal(desk.lookup, "u", ORDER) == (404, 40401, "Subject 'u' not found.")
    assert refusal(desk.lookup, "s", '"longer"')[1] == 42201
    desk.delete_version("s", 1)
    assert refusal(desk.lookup, "s", ORDER)[1] == 40403
    assert desk.lookup("s", ORDER, deleted=True)["version"] == 1


def test_a_schema_in_another_registrys_words_is_found() -> None:
    desk = Desk()
    spaced = b'{"subject":"s","version":1,"id":1,"schema":"{ \\"type\\" : \\"string\\" }","deleted":false}'
    assert (
        desk.state.replay(b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', spaced, 0, 7) is None
    )
    assert desk.lookup("s", '"string"')["ts"] == 7
    assert desk.register("s", '"string"')["id"] == 1


def test_the_latest_version_with_given_metadata(desk: Desk) -> None:
    desk.register("m", ORDER, metadata={"properties": {"major": "1", "owner": "ada"}})
    desk.register("m", NOTED_ORDER, metadata={"properties": {"major": "1", "owner": "bob"}})

    def find(subject: str, properties: dict[str, str], **options: Any) -> Any:
        return lookups.get_latest_with_metadata(desk.state, desk.rules, subject, properties, **options)[
            "version"
        ]

    assert find("m", {"major": "1"}) == 2
    assert find("m", {"major": "1", "owner": "ada"}) == 1
    assert refusal(find, "m", {"major": "2"}) == (404, 40403, "Schema not found")
    assert refusal(find, "u", {}) == (404, 40401, "Subject 'u' not found.")
    assert refusal(find, "s", {})[1] == 40403, "no metadata at all"
    desk.delete_version("m", 2)
    assert find("m", {"major": "1"}) == 1
    assert find("m", {"major": "1"}, deleted=True) == 2


# ---- lists ----


@pytest.mark.parametrize(
    ("prefix", "subjects"),
    [
        (":*:", [":.c:s", ":.cd:x", "s", "t"]),
        (":*:s", [":.c:s", "s"]),
        ("", ["s", "t"]),
        ("s", ["s"]),
        (":.c:", [":.c:s"]),
        (":.c:s", [":.c:s"]),
        (":.c:x", []),
        (":.c", [":.c:s", ":.cd:x"]),
        (":.:", ["s", "t"]),
    ],
)
def test_subjects_by_prefix(desk: Desk, prefix: str, subjects: list[str]) -> None:
    desk.register(":.cd:x", ORDER)
    assert desk.subjects(prefix=prefix) == subjects


def test_pages(desk: Desk) -> None:
    assert desk.subjects() == [":.c:s", "s", "t"]
    assert desk.subjects(offset=1) == ["s", "t"]
    assert desk.subjects(offset=1, limit=1) == ["s"]
    assert desk.subjects(limit=0) == [":.c:s", "s", "t"]
    assert desk.versions("s", limit=1) == [1]
    assert desk.versions("s", offset=5) == []


def test_versions_and_deleted_ones(desk: Desk) -> None:
    desk.delete_version("s", 1)
    assert desk.versions("s") == [2]
    assert desk.versions("s", deleted=True) == [1, 2]
    assert desk.versions("s", deleted_only=True) == [1]
    assert desk.versions("s", deleted_as_negative=True) == [-1, 2]
    assert desk.subjects(deleted_only=True) == []
    desk.delete_subject("t")
    assert refusal(desk.versions, "t") == (404, 40401, "Subject 't' not found.")
    assert desk.versions("t", deleted_only=True) == [1]


def test_schemas(desk: Desk) -> None:
    desk.register("r", ORDER, ruleSet={"domainRules": [{"name": "a", "type": "CEL", "kind": "CONDITION"}]})

    def list_(**options: Any) -> list[tuple[str, int]]:
        return [(each["subject"], each["version"]) for each in desk.schemas(**options)]

    assert list_() == [("r", 1), ("s", 1), ("s", 2), ("t", 1)]
    assert list_(latest_only=True, prefix=":*:") == [(":.c:s", 1), ("r", 1), ("s", 2), ("t", 1)]
    assert list_(rule_type="CEL") == [("r", 1)]
    assert list_(prefix="s", offset=1) == [("s", 2)]
    desk.delete_version("s", 2)
    assert list_(prefix="s", latest_only=True) == [("s", 1)]
    assert list_(prefix="s", latest_only=True, deleted=True) == [("s", 2)]


def test_a_list_of_schemas_is_bounded() -> None:
    desk = Desk()
    for number in range(1005):
        desk.register(f"s{number:04}", '"string"')
    assert len(desk.schemas()) == 1000
    assert len(desk.schemas(limit=5)) == 5
    assert len(desk.schemas(limit=2000)) == 1000
    assert len(desk.schemas(offset=1000)) == 5


def test_aliases(desk: Desk) -> None:
    desk.set_config("nick", alias="s")
    desk.set_config(":.c:nick", alias="s")
    assert lookups.aliased(desk.state, "nick") == "s"
    assert lookups.aliased(desk.state, ":.c:nick") == ":.c:s"
    assert lookups.aliased(desk.state, "s") == "s"
    assert desk.schemas(prefix="nick") == []
    shown = desk.schemas(prefix="nick", aliases=True, latest_only=True)
    assert [(each["subject"], each["version"], each["aliases"]) for each in shown] == [("s", 2, ["nick"])]
    assert "aliases" not in desk.schemas(prefix="t", aliases=True)[0]


def test_contexts(desk: Desk) -> None:
    desk.register(":.a:s", ORDER)
    assert listings.list_contexts(desk.state, desk.rules) == [".", ".a", ".c"]
    assert listings.list_contexts(desk.state, desk.rules, prefix=".c") == [".c"]
    assert listings.list_contexts(desk.state, desk.rules, offset=1, limit=1) == [".a"]


def test_types(desk: Desk) -> None:
    assert listings.list_schema_types(desk.rules) == ["AVRO"]


def test_references_of_the_latest_version(desk: Desk) -> None:
    reference = [{"name": "Order", "subject": "s", "version": 2}]
    desk.register("list", {"type": "array", "items": "Order"}, references=reference)
    assert desk.referenced_by("s", "latest") == [3]
    assert desk.referenced_by("s", 1) == []
    desk.delete_subject("list")
    assert desk.referenced_by("s", 2) == []
    assert desk.referenced_by("s", 2, deleted=True) == [3]
    desk.delete_version("s", 1)
    assert desk.referenced_by("s", 1) == [], "what is deleted may still be referred to"
    assert refusal(desk.referenced_by, "s", 9)[1] == 40402
