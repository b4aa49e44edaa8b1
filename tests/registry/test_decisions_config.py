"""Configs and modes, in their scopes."""

from typing import Any

import pytest

from penstock.registry.decisions_config import decide_set_config
from tests.registry.desk import Desk, record, refusal

ORDER = record("Order", "id:long")
INVOICE = record("Invoice", "number:string")


def test_the_registry_has_a_level_from_the_start() -> None:
    assert Desk().config(None) == {"compatibilityLevel": "BACKWARD"}
    assert Desk(compatibility_level="FULL").config(None) == {"compatibilityLevel": "FULL"}
    assert Desk().config(":.__GLOBAL:") == {"compatibilityLevel": "BACKWARD"}


def test_a_subject_has_none_of_its_own_until_it_is_set() -> None:
    desk = Desk()
    assert refusal(desk.config, "s") == (
        404,
        40408,
        "Subject 's' does not have subject-level compatibility configured",
    )
    assert desk.config("s", default_to_global=True) == {"compatibilityLevel": "BACKWARD"}
    assert desk.set_config("s", compatibility="full_transitive") == {"compatibility": "FULL_TRANSITIVE"}
    assert desk.config("s") == {"compatibilityLevel": "FULL_TRANSITIVE"}
    assert desk.log == [
        (
            b'{"keytype":"CONFIG","subject":"s","magic":0}',
            b'{"subject":"s","compatibilityLevel":"FULL_TRANSITIVE"}',
        )
    ]


def test_scopes_from_the_nearest_to_the_farthest() -> None:
    desk = Desk()

    def levels() -> list[str]:
        subjects = ("s", ":.c:s", ":.d:s", None)
        return [desk.config(each, default_to_global=True)["compatibilityLevel"] for each in subjects]

    desk.set_config(":.__GLOBAL:", compatibility="NONE")
    assert levels() == ["NONE", "NONE", "NONE", "NONE"]
    desk.set_config(None, compatibility="FORWARD")
    assert levels() == ["FORWARD", "NONE", "NONE", "FORWARD"]
    desk.set_config(":.c:", compatibility="FULL")
    assert levels() == ["FORWARD", "FULL", "NONE", "FORWARD"]
    desk.set_config(":.c:s", compatibility="BACKWARD")
    assert levels() == ["FORWARD", "BACKWARD", "NONE", "FORWARD"]


def test_the_default_context_is_the_global_scope() -> None:
    desk = Desk()
    desk.set_config(":.:", compatibility="NONE")
    assert desk.config(None) == {"compatibilityLevel": "NONE"}
    assert desk.log[0][0] == b'{"keytype":"CONFIG","magic":0}'


def test_a_config_is_changed_member_by_member() -> None:
    desk = Desk()
    desk.set_config("s", compatibility="FULL", alias="t", compatibilityGroup="major")
    assert desk.set_config("s", normalize=True, alias=None) == {
        "normalize": True,
        "compatibility": "FULL",
        "compatibilityGroup": "major",
    }


def test_a_subject_takes_switches_from_the_global_config() -> None:
    desk = Desk()
    desk.set_config(None, normalize=True, validateFields=True, alias="elsewhere", compatibility="NONE")
    desk.set_config("s", validateFields=False)
    assert desk.config("s", default_to_global=True) == {
        "normalize": True,
        "validateFields": False,
        "compatibilityLevel": "BACKWARD",
    }


def test_a_deleted_config_is_answered() -> None:
    desk = Desk()
    desk.set_config("s", compatibility="FULL")
    assert desk.delete_config("s") == {"compatibilityLevel": "FULL"}
    assert refusal(desk.delete_config, "s") == (404, 40401, "Subject 's' not found.")
    desk.set_config(None, compatibility="NONE")
    assert desk.delete_config(None) == {"compatibilityLevel": "NONE"}
    assert desk.config(None) == {"compatibilityLevel": "BACKWARD"}


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (
            {"compatibility": "SIDEWARD"},
            42203,
            "Invalid compatibility level. Valid values are none, backward, forward, full, "
            "backward_transitive, forward_transitive, and full_transitive",
        ),
        (
            {"compatibilityPolicy": "LOGICAL"},
            42203,
            "compatibilityPolicy: got LOGICAL, takes STRICT, LENIENT",
        ),
        ({"normalize": "yes"}, 400, "normalize: got 'yes', takes true or false"),
        ({"alias": 5}, 400, "alias: got 5, takes a string"),
        ({"defaultRuleSet": {"domainRules": [{"name": "a"}]}}, 42210, "Missing rule type"),
    ],
)
def test_configs_that_cannot_be(body: dict[str, Any], code: int, message: str) -> None:
    assert refusal(decide_set_config, Desk().state, "s", body)[1:] == (code, message)


def test_a_body_is_an_object() -> None:
    assert refusal(decide_set_config, Desk().state, "s", []) == (
        400,
        400,
        "body: got [], takes a JSON object",
    )


def test_settings_of_names_that_cannot_be() -> None:
    desk = Desk()
    assert refusal(desk.set_config, "__EMPTY", compatibility="NONE")[1] == 42208
    assert refusal(desk.set_mode, "a\tb", "READONLY")[1] == 42208


def test_a_read_only_scope_keeps_its_config() -> None:
    desk = Desk()
    desk.set_mode(None, "READONLY")
    assert refusal(desk.set_config, None, compatibility="NONE") == (
        422,
        42205,
        "Subject null in context  is in read-only mode",
    )
    assert refusal(desk.delete_config, None)[1] == 42205


# ---- modes ----


def test_modes_in_their_scopes() -> None:
    desk = Desk()
    assert desk.mode(None) == "READWRITE"
    assert refusal(desk.mode, "s") == (
        404,
        40409,
        "Subject 's' does not have subject-level mode configured",
    )
    assert desk.set_mode("s", "readonly") == {"mode": "readonly"}
    assert desk.log == [(b'{"keytype":"MODE","subject":"s","magic":0}', b'{"subject":"s","mode":"READONLY"}')]
    assert desk.mode("s") == "READONLY"
    assert desk.mode("t", default_to_global=True) == "READWRITE"
    desk.set_mode(":.__GLOBAL:", "FORWARD")
    assert desk.mode(":.c:s", default_to_global=True) == "FORWARD"


@pytest.mark.parametrize("mode", ["WRITEONLY", "", 5])
def test_modes_that_cannot_be(mode: Any) -> None:
    assert refusal(Desk().set_mode, "s", mode) == (
        422,
        42204,
        "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.",
    )


@pytest.mark.parametrize("scope", [None, "s", ":.c:"])
def test_forward_is_for_all_or_none(scope: str | None) -> None:
    assert refusal(Desk().set_mode, scope, "FORWARD") == (
        422,
        42204,
        "Forward mode only supported on global level",
    )


def test_modes_may_be_fixed() -> None:
    desk = Desk(mode_mutability=False)
    expected = (422, 42205, "Mode changes are not allowed")
    assert refusal(desk.set_mode, None, "READONLY") == expected
    assert refusal(desk.delete_mode, None) == expected


def test_null_takes_a_mode_back() -> None:
    desk = Desk()
    desk.set_mode("s", "READONLY")
    assert desk.set_mode("s", None) == {}
    assert desk.state.modes == {}


def test_import_wants_an_empty_scope() -> None:
    desk = Desk()
    desk.register("s", ORDER)
    desk.register(":.c:s", ORDER)
    expected = (422, 42205, "Cannot import since found existing subjects")
    assert refusal(desk.set_mode, None, "IMPORT") == expected
    assert refusal(desk.set_mode, ":.c:", "IMPORT") == expected
    desk.set_mode(":.c:", "IMPORT", force=True)
    desk.set_mode("t", "IMPORT")
    desk.delete_subject("s")
    desk.set_mode("s", "IMPORT")
    assert "s" not in desk.state.schemas, "what was deleted softly makes room"
    assert [key for key, _ in desk.log[-3:]] == [
        b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}',
        b'{"keytype":"CLEAR_SUBJECT","subject":"s","magic":0}',
        b'{"keytype":"MODE","subject":"s","magic":0}',
    ]
    assert desk.register("s", INVOICE, id=1, version=1)["id"] == 1


def test_import_does_not_clear_what_is_referred_to() -> None:
    desk = Desk()
    desk.register("order", ORDER)
    reference = [{"name": "Order", "subject": "order", "version": 1}]
    desk.register("list", {"type": "array", "items": "Order"}, references=reference)
    desk.delete_subject("list")
    desk.delete_subject("order")
    assert refusal(desk.set_mode, "order", "IMPORT")[1] == 42206


def test_deleting_modes() -> None:
    desk = Desk()
    desk.set_mode("s", "READONLY")
    assert desk.delete_mode("s") == {"mode": "READONLY"}
    assert refusal(desk.delete_mode, "s") == (404, 40401, "Subject 's' not found.")
    assert desk.delete_mode(None) == {"mode": "READWRITE"}


def test_deleting_the_modes_of_a_context() -> None:
    desk = Desk()
    for scope in (":.c:", ":.c:s", ":.c:t", ":.d:s", "s", None):
        desk.set_mode(scope, "READONLY")
    assert desk.delete_mode(":.c:", recursive=True) == {"mode": "READONLY"}
    assert set(desk.state.modes) == {":.d:s", "s", None}
    assert desk.delete_mode(":.c:", recursive=True) == {}
    assert desk.delete_mode(None, recursive=True) == {"mode": "READONLY"}
    assert set(desk.state.modes) == {":.d:s"}
