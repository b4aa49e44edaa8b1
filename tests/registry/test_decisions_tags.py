"""New versions with other metadata or rules."""

from typing import Any

from penstock.registry.decisions_tags import decide_modify_tags
from tests.registry.desk import Desk, record, refusal

ORDER = record("Order", "id:long")
CHECK = {"name": "check", "kind": "CONDITION", "type": "CEL", "expr": "true"}
MASK = {"name": "mask", "type": "CEL_FIELD", "expr": "'*'"}


def modify(desk: Desk, version: str | int = "latest", **body: Any) -> Any:
    return desk.take(decide_modify_tags(desk.state, desk.rules, "s", version, body))


def names(answer: Any) -> list[str]:
    return [rule["name"] for rule in answer["ruleSet"]["domainRules"]]


def test_metadata_and_rules_of_a_new_version() -> None:
    desk = Desk()
    desk.register("s", ORDER)
    answer = modify(
        desk, newVersion=2, metadata={"properties": {"owner": "ada"}}, ruleSet={"domainRules": [CHECK]}
    )
    assert (answer["id"], answer["version"]) == (2, 2)
    assert answer["metadata"] == {"properties": {"confluent:version": "2", "owner": "ada"}}
    assert names(answer) == ["check"]
    assert answer["schema"] == desk.get("s", 1)["schema"]


def test_rules_are_merged_into_those_of_the_version_before() -> None:
    desk = Desk()
    desk.register("s", ORDER, ruleSet={"domainRules": [CHECK]})
    assert names(modify(desk, rulesToMerge={"domainRules": [MASK]})) == ["check", "mask"]
    assert names(modify(desk, rulesToRemove=["check"])) == ["mask"]
    assert desk.versions("s") == [1, 2, 3]
    assert desk.get("s", 3)["metadata"] == {"properties": {"confluent:version": "3"}}


def test_what_cannot_be() -> None:
    desk = Desk()
    assert refusal(modify, desk) == (404, 40401, "Subject 's' not found.")
    desk.register("s", ORDER)
    assert refusal(modify, desk, 7) == (404, 40402, "Version 7 not found.")
    assert refusal(modify, desk, newVersion="x") == (400, 400, "newVersion: got 'x', takes a whole number")
    assert refusal(modify, desk, rulesToRemove="x") == (400, 400, "rulesToRemove: got 'x', takes a list")
    assert refusal(modify, desk, ruleSet={}, rulesToRemove=["x"])[1] == 42210
    assert refusal(modify, desk, rulesToMerge={"domainRules": [{"name": "a"}]})[1] == 42210
    assert refusal(modify, desk, newVersion=9)[1] == 42201
