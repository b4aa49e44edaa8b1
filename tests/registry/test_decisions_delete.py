"""Soft and permanent deletes, and what stands in their way."""

import pytest

from tests.registry.desk import Desk, record, refusal, with_default

ORDER = record("Order", "id:long")
NOTED_ORDER = record("Order", "id:long", with_default("note", "string", ""))


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.register("s", ORDER)
    desk.register("s", NOTED_ORDER)
    return desk


def refer(desk: Desk, subject: str, to: str = "s", version: int = 1) -> None:
    references = [{"name": "Order", "subject": to, "version": version}]
    desk.register(subject, {"type": "array", "items": "Order"}, references=references)


def test_a_soft_delete_hides_the_version_but_not_the_id(desk: Desk) -> None:
    assert desk.delete_version("s", 1) == 1
    assert desk.versions("s") == [2]
    assert desk.versions("s", deleted=True) == [1, 2]
    assert refusal(desk.get, "s", 1) == (404, 40402, "Version 1 not found.")
    assert desk.get("s", 1, deleted=True)["deleted"] is True
    assert desk.by_id(1)["deleted"] is True
    assert desk.log[-1][1] is not None
    assert desk.log[-1][1].endswith(b'"deleted":true}')


def test_the_latest_version_can_be_deleted_by_that_name(desk: Desk) -> None:
    assert desk.delete_version("s", "latest") == 2
    assert desk.delete_version("s", -1) == 1
    assert refusal(desk.delete_version, "s", "latest") == (404, 40402, "Version -1 not found.")


def test_a_permanent_delete_comes_after_a_soft_one(desk: Desk) -> None:
    assert refusal(desk.delete_version, "s", 1, permanent=True) == (
        404,
        40407,
        "Subject 's' Version 1 was not deleted first before being permanently deleted",
    )
    desk.delete_version("s", 1)
    assert refusal(desk.delete_version, "s", 1) == (
        404,
        40406,
        "Subject 's' Version 1 was soft deleted.Set permanent=true to delete permanently",
    )
    assert desk.delete_version("s", 1, permanent=True) == 1
    assert desk.log[-1] == (b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}', None)
    assert refusal(desk.by_id, 1) == (404, 40403, "Schema 1 not found")
    assert refusal(desk.delete_version, "s", 1, permanent=True) == (404, 40402, "Version 1 not found.")


def test_what_is_not_there_cannot_be_deleted(desk: Desk) -> None:
    assert refusal(desk.delete_version, "t", 1) == (404, 40401, "Subject 't' not found.")
    assert refusal(desk.delete_version, "s", 9) == (404, 40402, "Version 9 not found.")
    assert refusal(desk.delete_version, "s", "first")[:2] == (422, 42202)
    assert refusal(desk.delete_subject, "t") == (404, 40401, "Subject 't' not found.")
    assert refusal(desk.delete_subject, ":.c:") == (404, 40401, "Subject ':.c:' not found.")


def test_a_subject_is_deleted_with_one_record(desk: Desk) -> None:
    assert desk.delete_subject("s") == [1, 2]
    assert desk.log[-1] == (
        b'{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}',
        b'{"subject":"s","version":2}',
    )
    assert desk.subjects() == []
    assert desk.subjects(deleted=True) == desk.subjects(deleted_only=True) == ["s"]
    assert refusal(desk.delete_subject, "s") == (
        404,
        40404,
        "Subject 's' was soft deleted.Set permanent=true to delete permanently",
    )


def test_a_permanent_delete_of_a_subject_takes_its_settings_with_it(desk: Desk) -> None:
    assert refusal(desk.delete_subject, "s", permanent=True) == (
        404,
        40405,
        "Subject 's' was not deleted first before being permanently deleted",
    )
    desk.set_config("s", compatibility="NONE")
    desk.set_mode("s", "READWRITE")
    desk.delete_version("s", 1)
    assert desk.delete_subject("s") == [2]
    assert desk.delete_subject("s", permanent=True) == [1, 2]
    assert [key for key, value in desk.log if value is None] == [
        b'{"keytype":"SCHEMA","subject":"s","version":2,"magic":1}',
        b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}',
        b'{"keytype":"MODE","subject":"s","magic":0}',
        b'{"keytype":"CONFIG","subject":"s","magic":0}',
    ]
    assert refusal(desk.config, "s")[1] == 40408
    assert refusal(desk.delete_subject, "s", permanent=True)[1] == 40401


def test_the_last_version_takes_the_settings_with_it() -> None:
    desk = Desk()
    desk.register("s", ORDER)
    desk.set_config("s", compatibility="NONE")
    desk.delete_version("s", 1)
    desk.delete_version("s", 1, permanent=True)
    assert desk.state.configs == {}


def test_after_a_permanent_delete_versions_begin_anew_but_ids_go_on(desk: Desk) -> None:
    desk.delete_subject("s")
    desk.delete_subject("s", permanent=True)
    again = desk.register("s", ORDER)
    assert (again["id"], again["version"]) == (3, 1)


def test_what_is_referred_to_stays(desk: Desk) -> None:
    refer(desk, "list")
    message = "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=s,version=1}."
    assert refusal(desk.delete_version, "s", 1) == (422, 42206, message)
    assert refusal(desk.delete_subject, "s") == (422, 42206, message)
    assert desk.delete_version("s", 2) == 2
    desk.delete_subject("list")
    assert desk.delete_version("s", 1) == 1, "what refers is deleted softly: a soft delete may follow"
    assert refusal(desk.delete_version, "s", 1, permanent=True) == (422, 42206, message)
    assert refusal(desk.delete_subject, "s", permanent=True) == (422, 42206, message)
    desk.delete_subject("list", permanent=True)
    assert desk.delete_subject("s", permanent=True) == [1, 2]


def test_a_reference_from_two_subjects_holds_until_both_are_gone(desk: Desk) -> None:
    refer(desk, "list")
    refer(desk, "other")
    assert desk.referenced_by("s", 1) == [3], "one id, two subjects"
    for subject in ("list", "other"):
        assert refusal(desk.delete_version, "s", 1)[1] == 42206
        desk.delete_subject(subject)
        desk.delete_subject(subject, permanent=True)
    assert desk.delete_version("s", 1) == 1


def test_versions_of_a_subject_that_refer_to_one_another_go_together(desk: Desk) -> None:
    desk.set_config("s", compatibility="NONE")
    refer(desk, "s")
    assert refusal(desk.delete_version, "s", 1)[1] == 42206
    assert desk.delete_subject("s") == [1, 2, 3]
    assert desk.delete_subject("s", permanent=True) == [1, 2, 3]
    assert desk.state.schemas == desk.state.users == desk.state.ids == desk.state.referrers == {}


@pytest.mark.parametrize("mode", ["READONLY", "READONLY_OVERRIDE"])
def test_nothing_is_deleted_in_read_only_mode(desk: Desk, mode: str) -> None:
    desk.set_mode(None, mode)
    expected = (422, 42205, "Subject s in context  is in read-only mode")
    assert refusal(desk.delete_version, "s", 1) == expected
    assert refusal(desk.delete_subject, "s") == expected


def test_a_context_goes_when_nothing_is_in_it() -> None:
    desk = Desk()
    desk.register(":.c:s", ORDER)
    expected = (422, 42211, "The specified context ':.c:' is not empty.")
    assert refusal(desk.delete_context, ":.c:") == expected
    desk.delete_subject(":.c:s")
    assert refusal(desk.delete_context, "c") == expected
    desk.delete_subject(":.c:s", permanent=True)
    assert desk.delete_context(".c") is None
    assert desk.state.contexts == {}
    assert refusal(desk.delete_context, "a:b") == (400, 400, "Context name 'a:b' cannot contain a colon")
