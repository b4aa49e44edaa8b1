"""Registration, versions, lookup and deletion, in the shapes that Confluent documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.registry.api.schemas import USER, USER_WITH_AGE, USER_WITH_EMAIL, enum
from tests.support.cluster_fixture import KafkaServer
from tests.support.registry import MEDIA_TYPE, Registry, own_group, running_registry
from tests.web.limits import check_limits


def test_a_schema_keeps_its_id_and_version(registry: Registry) -> None:
    first = registry.post("/subjects/users-value/versions", {"schema": USER})
    again = registry.post("/subjects/users-value/versions", {"schema": f" {USER} "})
    other = registry.post("/subjects/people-value/versions", {"schema": USER})
    assert first.status == again.status == other.status == 200
    assert first.headers["content-type"] == MEDIA_TYPE
    assert first.body["id"] == again.body["id"] == other.body["id"]
    assert registry.get("/subjects/users-value/versions").body == [1]


def test_a_version_is_read_by_number_and_as_the_latest(registry: Registry) -> None:
    registry.register("read-value", USER)
    schema_id = registry.register("read-value", USER_WITH_AGE)
    latest = registry.get("/subjects/read-value/versions/latest")
    assert latest.status == 200
    assert {name: latest.body[name] for name in ("subject", "version", "id", "schema")} == {
        "subject": "read-value",
        "version": 2,
        "id": schema_id,
        "schema": USER_WITH_AGE,
    }
    assert registry.get("/subjects/read-value/versions/1").body["schema"] == USER
    assert registry.get("/subjects/read-value/versions/-1").body["version"] == 2
    assert registry.get("/subjects/read-value/versions").body == [1, 2]


def test_the_schema_alone_is_its_text(registry: Registry) -> None:
    schema_id = registry.register("text-value", USER)
    by_version = registry.ask("GET", "/subjects/text-value/versions/1/schema")
    by_id = registry.ask("GET", f"/schemas/ids/{schema_id}/schema")
    assert (
        by_version.body
        == by_id.body
        == {"type": "record", "name": "User", "fields": [{"name": "name", "type": "string"}]}
    )
    assert int(by_id.headers["content-length"]) == len(USER)


def test_a_lookup_finds_the_version(registry: Registry) -> None:
    schema_id = registry.register("lookup-value", USER)
    found = registry.post("/subjects/lookup-value", {"schema": USER})
    assert (found.status, found.body["id"], found.body["version"]) == (200, schema_id, 1)
    missing = registry.post("/subjects/lookup-value", {"schema": USER_WITH_AGE})
    assert (missing.status, missing.body) == (404, {"error_code": 40403, "message": "Schema not found"})
    nowhere = registry.post("/subjects/nowhere-value", {"schema": USER})
    assert (nowhere.status, nowhere.body["error_code"]) == (404, 40401)


def test_an_incompatible_schema_is_refused_with_the_reason(registry: Registry) -> None:
    registry.register("strict-value", USER)
    said = registry.post("/subjects/strict-value/versions", {"schema": USER_WITH_EMAIL})
    assert (said.status, said.body["error_code"]) == (409, 40901)
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in said.body["message"]
    assert "/fields/1" in said.body["message"]
    assert registry.get("/subjects/strict-value/versions").body == [1]


@pytest.mark.parametrize(
    ("body", "status", "error_code", "words"),
    [
        ({"schema": '{"type": "record"}'}, 422, 42201, "Invalid schema of type AVRO, details: No name"),
        ({"schema": "{"}, 422, 42201, "Invalid schema of type AVRO, details: line 1, column 2"),
        ({"schema": USER.replace("string", "strin")}, 422, 42201, "(at /fields/0/type)"),
        ({"schema": '{"items": {"type": 5}}', "schemaType": "JSON"}, 422, 42201, "(at #/items/type)"),
        ({"schema": "message A {\n  x", "schemaType": "PROTOBUF"}, 422, 42201, "line 2, column 4"),
        ({"schema": USER, "schemaType": "XML"}, 422, 42201, "Invalid schema type XML"),
        ({"schema": 5}, 400, 400, "schema: got 5"),
        ({"schema": USER, "references": "x"}, 400, 400, "references: got 'x'"),
        (
            {"schema": USER, "references": [{"name": "a", "subject": "missing", "version": 1}]},
            *(422, 42201, "missing"),
        ),
        (b"{", 400, 400, "line 1, column 2"),
        (b"", 422, 422, "must not be empty"),
        ([], 422, 422, "takes a JSON object"),
    ],
)
def test_bad_registrations_are_told_why(
    registry: Registry, body: object, status: int, error_code: int, words: str
) -> None:
    said = registry.post("/subjects/bad-value/versions", body)
    assert (said.status, said.body["error_code"]) == (status, error_code)
    assert words in said.body["message"]


def test_unknown_things_have_their_codes(registry: Registry) -> None:
    registry.register("known-value", USER)
    codes = {
        "/subjects/unknown/versions": (404, 40401),
        "/subjects/unknown/versions/1": (404, 40401),
        "/subjects/known-value/versions/7": (404, 40402),
        "/subjects/known-value/versions/zero": (422, 42202),
        "/subjects/known-value/versions/0": (422, 42202),
        "/schemas/ids/999999": (404, 40403),
        "/schemas/ids/one": (404, 404),
        "/schemas/guids/00000000-0000-0000-0000-000000000000": (404, 40403),
        "/nowhere": (404, 404),
    }
    said = {path: registry.get(path) for path in codes}
    assert {path: (each.status, each.body["error_code"]) for path, each in said.items()} == codes


def test_soft_and_permanent_deletion(registry: Registry) -> None:
    registry.register("gone-value", enum("RED"))
    registry.register("gone-value", enum("RED", "BLUE"))
    too_early = registry.delete("/subjects/gone-value/versions/1?permanent=true")
    assert (too_early.status, too_early.body["error_code"]) == (404, 40407)
    assert registry.delete("/subjects/gone-value/versions/1").body == 1
    assert registry.get("/subjects/gone-value/versions").body == [2]
    assert registry.get("/subjects/gone-value/versions?deleted=true").body == [1, 2]
    assert registry.get("/subjects/gone-value/versions?deletedOnly=true").body == [1]
    assert registry.delete("/subjects/gone-value").body == [2]
    assert registry.get("/subjects/gone-value/versions").status == 404
    assert "gone-value" not in registry.get("/subjects").body
    assert "gone-value" in registry.get("/subjects?deleted=true").body
    assert registry.delete("/subjects/gone-value?permanent=true").body == [1, 2]
    assert "gone-value" not in registry.get("/subjects?deleted=true").body
    assert registry.delete("/subjects/gone-value").body["error_code"] == 40401


def test_what_is_referred_to_stays(registry: Registry) -> None:
    registry.register("colour", enum("RED"))
    car = '{"type":"record","name":"Car","fields":[{"name":"colour","type":"Colour"}]}'
    references = [{"name": "Colour", "subject": "colour", "version": 1}]
    schema_id = registry.register("car", car, references=references)
    assert registry.get("/subjects/colour/versions/1/referencedby").body == [schema_id]
    assert registry.get("/subjects/car/versions/1").body["references"] == references
    refused = registry.delete("/subjects/colour/versions/1")
    assert (refused.status, refused.body["error_code"]) == (422, 42206)


def test_subjects_are_listed_by_prefix_and_page(registry: Registry) -> None:
    for letter in "abc":
        registry.register(f"page-{letter}", enum(letter.upper()))
    assert registry.get("/subjects?subjectPrefix=page-").body == ["page-a", "page-b", "page-c"]
    assert registry.get("/subjects?subjectPrefix=page-&offset=1&limit=1").body == ["page-b"]


def test_a_subject_may_have_a_slash(registry: Registry) -> None:
    registry.register("a%2Fb%20c", USER)
    assert "a/b c" in registry.get("/subjects").body
    assert registry.get("/subjects/a%2Fb%20c/versions").body == [1]


def test_metadata_and_rules_are_kept(registry: Registry) -> None:
    metadata = {"properties": {"owner": "shop"}, "tags": {"name": ["PII"]}, "sensitive": ["owner"]}
    rules = {
        "domainRules": [{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}]
    }
    registry.register("contract-value", USER, metadata=metadata, ruleSet=rules)
    said = registry.get("/subjects/contract-value/versions/1").body
    assert said["metadata"]["properties"] == {"owner": "shop"}
    assert said["metadata"]["tags"] == {"name": ["PII"]}
    assert said["ruleSet"]["domainRules"][0]["expr"] == "true"
    found = registry.get("/subjects/contract-value/metadata?key=owner&value=shop").body
    assert found["version"] == 1
    assert registry.get("/subjects/contract-value/metadata?key=owner&value=mill").status == 404


def test_a_version_with_other_metadata(registry: Registry) -> None:
    registry.register("retold-value", USER)
    body = {"newVersion": 2, "metadata": {"properties": {"owner": "mill"}}}
    said = registry.ask("POST", "/subjects/retold-value/versions/1/tags", body)
    assert (said.status, said.body["version"]) == (200, 2)
    assert registry.get("/subjects/retold-value/versions/2").body["metadata"]["properties"]["owner"] == "mill"
    assert registry.ask("POST", "/subjects/retold-value/versions/9/tags", {}).body["error_code"] == 40402


def test_a_body_that_is_too_large_is_refused(registry: Registry) -> None:
    said = registry.ask("POST", "/subjects/large/versions", b" " * (10 * 1024 * 1024 + 1))
    assert (said.status, said.body["error_code"]) == (413, 413)


@pytest.mark.processes
def test_limits_of_head_and_body(registry_kafka: KafkaServer, tmp_path: Path) -> None:
    limits = {"max.request.header.size": "3000", "request.body.timeout.ms": "300"}
    size = {"size.limit.filter.max.request.body.size": "2000"}
    with running_registry(registry_kafka.bootstrap, tmp_path, {**own_group(), **limits, **size}) as registry:
        check_limits(registry.port, "/subjects/limited/versions", 3000, 300, 2000)


def test_a_schema_that_kafka_does_not_take_is_too_large(registry: Registry) -> None:
    said = registry.post("/subjects/large/versions", {"schema": enum(*(f"S{n}" for n in range(150_000)))})
    assert (said.status, said.body["error_code"]) == (422, 42209)
    assert registry.register("small", enum("SMALL")) > 0


@pytest.mark.parametrize(
    ("accept", "answered"),
    [
        ("*", MEDIA_TYPE),
        ("*/json", "application/json"),
        ("*/*", MEDIA_TYPE),
        ("text/html, */json;q=0.5", "application/json"),
    ],
)
def test_what_clients_take(registry: Registry, accept: str, answered: str) -> None:
    said = registry.get("/subjects", Accept=accept)
    assert (said.status, said.headers["content-type"]) == (200, answered)


@pytest.mark.parametrize("accept", ["*/xml", "text/*"])
def test_what_they_take_is_not_there(registry: Registry, accept: str) -> None:
    assert registry.get("/subjects", Accept=accept).status == 406
