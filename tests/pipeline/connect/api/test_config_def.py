"""The configuration that a plugin takes: keys, types, defaults, checks, and Kafka's words for what is wrong."""

from __future__ import annotations

import re
from typing import Any

import pytest

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import (
    ConfigDef,
    ConfigType,
    at_least,
    between,
    not_empty,
    one_of,
)

ALL = (
    ConfigDef()
    .define("flag", ConfigType.BOOLEAN, True)
    .define("text", ConfigType.STRING, "t", validator=not_empty)
    .define("number", ConfigType.INT, 5, validator=between(1, 10))
    .define("long", ConfigType.LONG, "7", validator=at_least(0))
    .define("list", ConfigType.LIST, "a, b")
    .define("double", ConfigType.DOUBLE, 1.5)
    .define("secret", ConfigType.PASSWORD, None)
    .define("choice", ConfigType.STRING, "x", validator=one_of("x", "y"))
    .define("needed", ConfigType.STRING)
)


def test_defaults_and_types() -> None:
    parsed = ALL.parse({"needed": " n ", "number": " 7 ", "list": "c,d ,e", "flag": "FALSE", "other": "1"})
    assert parsed["flag"] is False
    assert parsed["needed"] == "n"
    assert (parsed["number"], parsed["long"], parsed["double"]) == (7, 7, 1.5)
    assert parsed["list"] == ["c", "d", "e"]
    assert "other" not in parsed


def test_secrets_are_not_shown() -> None:
    secret = ALL.parse({"needed": "n", "secret": "hush"})["secret"]
    assert "hush" not in f"{secret!r} {secret}"
    assert secret.reveal() == "hush"


WRONG: list[tuple[dict[str, str], str]] = [
    ({}, 'Missing required configuration "needed" which has no default value.'),
    ({"flag": "yes"}, "Invalid value yes for configuration flag: Expected value to be either true or false"),
    ({"number": "x"}, "Invalid value x for configuration number: Not a number of type INT"),
    ({"number": "3000000000"}, "Invalid value 3000000000 for configuration number: Not a number of type INT"),
    ({"number": "0"}, "Invalid value 0 for configuration number: Value must be at least 1"),
    ({"number": "11"}, "Invalid value 11 for configuration number: Value must be no more than 10"),
    ({"long": "-1"}, "Invalid value -1 for configuration long: Value must be at least 0"),
    ({"text": ""}, "Invalid value  for configuration text: String must be non-empty"),
    ({"choice": "z"}, "Invalid value z for configuration choice: String must be one of: x, y"),
    ({"double": "x"}, "Invalid value x for configuration double: Not a number of type DOUBLE"),
]


@pytest.mark.parametrize(("configs", "words"), WRONG)
def test_what_is_wrong(configs: dict[str, str], words: str) -> None:
    given = configs if not configs else {"needed": "n", **configs}
    with pytest.raises(ConfigError, match=re.escape(words)):
        ALL.parse(given)


def test_all_errors_at_once() -> None:
    answers = ALL.validate({"flag": "yes", "number": "11"})
    wrong = {name: answer.errors for name, answer in answers.items() if answer.errors}
    assert set(wrong) == {"flag", "number", "needed"}
    assert answers["long"].value == 7


def test_recommended_values() -> None:
    def offer(name: str, parsed: Any) -> list[str]:
        return [f"{name}-{parsed['a']}"]

    offered = ConfigDef().define("a", ConfigType.INT, 1).define("b", ConfigType.STRING, "", recommender=offer)
    assert offered.validate({"a": "5"})["b"].recommended_values == ["b-5"]


def test_definitions_are_put_together() -> None:
    both = ConfigDef().define("a", ConfigType.INT, 1).including(ConfigDef().define("b", ConfigType.INT, 2))
    assert [key.name for key in both] == ["a", "b"]
    assert "a" in both
    assert both["b"].default == 2
    with pytest.raises(ConfigError, match="defined twice"):
        both.define("a", ConfigType.INT)
