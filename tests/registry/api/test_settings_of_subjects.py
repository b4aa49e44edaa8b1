"""/config, /mode, /contexts, /compatibility and /schemas."""

from __future__ import annotations

import pytest

from tests.registry.api.schemas import USER, USER_WITH_AGE, USER_WITH_EMAIL, enum
from tests.support.registry import Registry


def test_compatibility_is_set_for_all_and_for_a_subject(registry: Registry) -> None:
    assert registry.get("/config").body == {"compatibilityLevel": "BACKWARD"}
    missing = registry.get("/config/users-value")
    assert (missing.status, missing.body["error_code"]) == (404, 40408)
    assert registry.get("/config/users-value?defaultToGlobal=true").body == {"compatibilityLevel": "BACKWARD"}
    assert registry.put("/config/users-value", {"compatibility": "none"}).body == {"compatibility": "NONE"}
    assert registry.get("/config/users-value").body == {"compatibilityLevel": "NONE"}
    registry.register("users-value", USER)
    registry.register("users-value", enum("NOT", "A", "USER"))
    assert registry.delete("/config/users-value").status == 200
    assert registry.get("/config/users-value").status == 404
    bad = registry.put("/config/users-value", {"compatibility": "SIDEWARD"})
    assert (bad.status, bad.body["error_code"]) == (422, 42203)


def test_the_global_config_is_set_and_taken_back(registry: Registry) -> None:
    assert registry.put("/config", {"compatibility": "FULL_TRANSITIVE"}).body == {
        "compatibility": "FULL_TRANSITIVE"
    }
    assert registry.get("/config").body == {"compatibilityLevel": "FULL_TRANSITIVE"}
    assert registry.delete("/config").status == 200
    assert registry.get("/config").body == {"compatibilityLevel": "BACKWARD"}


def test_a_subject_that_is_read_only_takes_no_schema(registry: Registry) -> None:
    assert registry.get("/mode").body == {"mode": "READWRITE"}
    assert registry.put("/mode/frozen-value", {"mode": "READONLY"}).body == {"mode": "READONLY"}
    refused = registry.post("/subjects/frozen-value/versions", {"schema": USER})
    assert (refused.status, refused.body["error_code"]) == (422, 42205)
    assert registry.delete("/mode/frozen-value").status == 200
    assert registry.get("/mode/frozen-value").body["error_code"] == 40409
    assert registry.get("/mode/frozen-value?defaultToGlobal=true").body == {"mode": "READWRITE"}
    registry.register("frozen-value", USER)
    bad = registry.put("/mode", {"mode": "SOMETIMES"})
    assert (bad.status, bad.body["error_code"]) == (422, 42204)


def test_an_importing_subject_takes_ids(registry: Registry) -> None:
    assert registry.put("/mode/:.import:moved-value", {"mode": "IMPORT"}).status == 200
    body = {"schema": USER, "id": 4711, "version": 7}
    said = registry.post("/subjects/:.import:moved-value/versions", body)
    assert (said.status, said.body["id"]) == (200, 4711)
    assert registry.get("/subjects/:.import:moved-value/versions").body == [7]


def test_a_context_is_a_path_or_a_prefix(registry: Registry) -> None:
    said = registry.post("/contexts/.staging/subjects/orders-value/versions", {"schema": USER})
    assert (said.status, said.body["id"]) == (200, 1)
    assert registry.get("/subjects/:.staging:orders-value/versions").body == [1]
    assert registry.get("/contexts/staging/subjects/orders-value/versions/1").body["schema"] == USER
    assert registry.get("/contexts/.staging/subjects").body == [":.staging:orders-value"]
    assert registry.get("/contexts/.staging/schemas/ids/1").body["schema"] == USER
    assert registry.put("/contexts/.staging/config/orders-value", {"compatibility": "FULL"}).status == 200
    assert registry.get("/config/:.staging:orders-value").body == {"compatibilityLevel": "FULL"}
    assert registry.put("/contexts/.staging/mode", {"mode": "READONLY"}).status == 200
    assert registry.get("/mode/:.staging:").body == {"mode": "READONLY"}
    assert registry.delete("/contexts/.staging/mode").status == 200
    assert ".staging" in registry.get("/contexts").body
    assert registry.get("/contexts/a:b/subjects").body["error_code"] == 400


def test_a_context_is_deleted_when_it_is_empty(registry: Registry) -> None:
    registry.register(":.short:x", USER)
    full = registry.delete("/contexts/.short")
    assert (full.status, full.body["error_code"]) == (422, 42211)
    registry.delete("/subjects/:.short:x")
    registry.delete("/subjects/:.short:x?permanent=true")
    said = registry.delete("/contexts/.short")
    assert (said.status, said.body) == (204, None)
    assert ".short" not in registry.get("/contexts").body


@pytest.mark.parametrize("path", ["versions/latest", "versions/1", "versions"])
def test_compatibility_is_asked_without_registering(registry: Registry, path: str) -> None:
    registry.register("asked-value", USER)
    where = f"/compatibility/subjects/asked-value/{path}"
    assert registry.post(where, {"schema": USER_WITH_AGE}).body == {"is_compatible": True}
    assert registry.post(where, {"schema": USER_WITH_EMAIL}).body == {"is_compatible": False}
    verbose = registry.post(f"{where}?verbose=true", {"schema": USER_WITH_EMAIL}).body
    assert verbose["is_compatible"] is False
    assert any("READER_FIELD_MISSING_DEFAULT_VALUE" in message for message in verbose["messages"])
    assert registry.get("/subjects/asked-value/versions").body == [1]


def test_compatibility_with_what_is_not_there(registry: Registry) -> None:
    said = registry.post("/compatibility/subjects/nowhere/versions/1", {"schema": USER})
    assert (said.status, said.body["error_code"]) == (404, 40402)
    assert registry.post("/compatibility/subjects/nowhere/versions", {"schema": USER}).body == {
        "is_compatible": True
    }


def test_schemas_by_id_and_guid(registry: Registry) -> None:
    schema_id = registry.register("by-id-value", enum("ONE", "TWO"))
    by_id = registry.get(f"/schemas/ids/{schema_id}?fetchMaxId=true").body
    assert by_id["schema"] == enum("ONE", "TWO")
    assert by_id["maxId"] >= schema_id
    assert registry.get(f"/schemas/ids/{schema_id}/subjects").body == ["by-id-value"]
    assert registry.get(f"/schemas/ids/{schema_id}/versions").body == [
        {"subject": "by-id-value", "version": 1}
    ]
    guid = registry.get("/subjects/by-id-value/versions/1").body["guid"]
    assert registry.get(f"/schemas/guids/{guid}").body["schema"] == enum("ONE", "TWO")
    assert {"context": ".", "id": schema_id} in registry.get(f"/schemas/guids/{guid}/ids").body
    assert sorted(registry.get("/schemas/types").body) == ["AVRO", "JSON", "PROTOBUF"]


def test_all_schemas(registry: Registry) -> None:
    registry.register("all-value", USER)
    registry.register("all-value", USER_WITH_AGE)
    versions = [
        (each["subject"], each["version"]) for each in registry.get("/schemas?subjectPrefix=all-").body
    ]
    assert versions == [("all-value", 1), ("all-value", 2)]
    latest = registry.get("/schemas?subjectPrefix=all-&latestOnly=true").body
    assert [each["version"] for each in latest] == [2]


def test_an_alias_stands_for_a_subject(registry: Registry) -> None:
    registry.register("real-value", USER)
    assert registry.put("/config/other-value", {"alias": "real-value"}).status == 200
    assert registry.get("/subjects/other-value/versions/1").body["subject"] == "real-value"


def test_the_registry_tells_who_it_is(registry: Registry) -> None:
    assert registry.get("/").body == {}
    clusters = registry.get("/v1/metadata/id").body["scope"]["clusters"]
    assert clusters["schema-registry-cluster"] == registry.settings["schema.registry.group.id"]
    assert clusters["kafka-cluster"]
    assert set(registry.get("/v1/metadata/version").body) == {"version", "commitId"}
    assert registry.get("/v1/metadata/deployment").body == {"attributes": []}
