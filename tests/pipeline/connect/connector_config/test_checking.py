"""What is wrong with a connector's configuration, all at once, in Connect's shape."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from penstock.errors import ConfigError
from penstock.pipeline.connect.connector_config import ConfigCheck
from penstock.pipeline.connect.plugins import Plugins, UnknownPlugin
from penstock.pipeline.connect.settings import ConnectSettings
from penstock.pipeline.connect.worker.errors import BadRequestError

HERE = "tests.pipeline.connect.connector_config.some_plugins"
TIDE, POOL, PLAIN = f"{HERE}.TideConnector", f"{HERE}.PoolConnector", f"{HERE}.PlainConverter"
ALLOWLIST = "org.apache.kafka.connect.connector.policy.AllowlistConnectorClientConfigOverridePolicy"
TRANSFORMS = "org.apache.kafka.connect.transforms"


def check_of(**settings: str) -> ConfigCheck:
    topics = {f"{each}.storage.topic": each for each in ("config", "offset", "status")}
    converters = {f"{each}.converter": PLAIN for each in ("key", "value", "header")}
    more = {name.replace("_", "."): value for name, value in settings.items()}
    configs = {"group.id": "workers", **topics, **converters, **more}
    return ConfigCheck(Plugins(HERE), ConnectSettings.from_configs(configs))


def source(**more: str | None) -> dict[str, str | None]:
    return {"name": "n", "connector.class": TIDE, "low": "1", **_dotted(more)}


def sink(**more: str | None) -> dict[str, str | None]:
    return {"name": "n", "connector.class": POOL, "topics": "a", **_dotted(more)}


def _dotted(names: dict[str, str | None]) -> dict[str, str | None]:
    return {name.replace("_", "."): value for name, value in names.items()}


def errors_of(configs: dict[str, str | None], check: ConfigCheck | None = None) -> dict[str, list[str]]:
    answer = (check or check_of()).validate(configs)
    found = {info["value"]["name"]: info["value"]["errors"] for info in answer["configs"]}
    assert answer["error_count"] == sum(map(len, found.values()))
    return {name: errors for name, errors in found.items() if errors}


def value_of(configs: dict[str, str | None], name: str) -> dict[str, Any]:
    answer = check_of().validate(configs)
    return next(info for info in answer["configs"] if info["value"]["name"] == name)


def test_a_good_one() -> None:
    answer = check_of().validate(source())
    assert (answer["name"], answer["error_count"]) == (TIDE, 0)
    assert answer["groups"][:4] == ["Common", "Transforms", "Predicates", "Error Handling"]
    assert [info["value"]["name"] for info in answer["configs"]][-3:] == ["low", "high", "pin"]


def test_a_key_and_its_value_as_a_form_shows_them() -> None:
    info = value_of(source(tasks_max="3"), "tasks.max")
    assert info["definition"]["documentation"]
    assert {**info["definition"], "documentation": ""} == {
        "name": "tasks.max",
        "type": "INT",
        "required": False,
        "default_value": "1",
        "importance": "HIGH",
        "documentation": "",
        "group": "Common",
        "order_in_group": 4,
        "width": "SHORT",
        "display_name": "Tasks max",
        "dependents": [],
    }
    assert info["value"] == {
        "name": "tasks.max",
        "value": "3",
        "recommended_values": [],
        "errors": [],
        "visible": True,
    }


def test_a_password_is_not_shown() -> None:
    assert value_of(source(pin="1234"), "pin")["value"]["value"] == "[hidden]"


def test_every_error_at_once() -> None:
    found = errors_of(source(tasks_max="x", errors_tolerance="some", low="1.5", high="many", odd=None))
    assert found == {
        "odd": ["Null value can not be supplied as the configuration value."],
        "tasks.max": [
            "Invalid value x for configuration tasks.max: Not a number of type INT",
            "Invalid value null for configuration tasks.max: Value must be non-null",
        ],
        "errors.tolerance": [
            "Invalid value some for configuration errors.tolerance: String must be one of: none, all"
        ],
        "low": ["Invalid value 1.5 for configuration low: Not a number of type INT"],
        "high": ["Invalid value many for configuration high: Not a number of type INT"],
    }


def test_what_the_connector_itself_finds() -> None:
    assert errors_of(source(low="10")) == {"low": ["low must be below high"]}


def test_no_class_or_an_unknown_one() -> None:
    with pytest.raises(BadRequestError, match=r"^Connector config \{name=x\} contains no connector type$"):
        check_of().validate({"name": "x"})
    with pytest.raises(BadRequestError, match=r"matches FileStreamSorce, nearest are: .*FileStreamSource"):
        check_of().validate({"name": "x", "connector.class": "FileStreamSorce"})


def test_a_version_that_is_not_there() -> None:
    message = f"Plugin {TIDE} not found that matches the version range [9,9], available versions: [3.1]"
    assert errors_of(source(connector_plugin_version="9")) == {
        "connector.class": [message],
        "connector.plugin.version": [message],
    }
    assert errors_of(source(connector_plugin_version="[3,4)")) == {}


@pytest.mark.parametrize(
    ("more", "keys", "words"),
    [
        ({"topics": None}, ("topics", "topics.regex"), "Must configure one of topics or topics.regex"),
        (
            {"topics_regex": "a.*"},
            ("topics", "topics.regex"),
            "are mutually exclusive options, but both are set.",
        ),
        ({"topics": "a,b,a"}, ("topics",), "Configuration 'topics' values must not be duplicated."),
        (
            {"errors_deadletterqueue_topic_name": "a"},
            ("topics",),
            "The DLQ topic 'a' may not be included in the list of topics ('topics=[a]') consumed by the connector",
        ),
        (
            {"consumer_override_group_id": "workers"},
            ("consumer.override.group.id",),
            "Consumer group workers conflicts with Connect worker group workers",
        ),
    ],
)
def test_rules_of_sinks(more: dict[str, str | None], keys: tuple[str, ...], words: str) -> None:
    found = errors_of(sink(**more))
    assert {key for key, errors in found.items() if any(words in error for error in errors)} == set(keys)


def test_the_dead_letters_must_not_match_the_regex() -> None:
    configs = sink(topics="", topics_regex="a.*", errors_deadletterqueue_topic_name="ab")
    assert "may not be matched by the regex" in errors_of(configs)["topics.regex"][0]


def test_exactly_once_is_asked_of_the_connector_and_of_the_worker() -> None:
    assert errors_of(source(exactly_once_support="required")) == {}
    assert errors_of(source(low="2", exactly_once_support="Required")) == {
        "exactly.once.support": [
            "The connector does not support exactly-once semantics with the provided configuration."
        ]
    }
    disabled = check_of(exactly_once_source_support="disabled")
    assert errors_of(source(exactly_once_support="required"), disabled) == {
        "exactly.once.support": ["This worker does not have exactly-once source support enabled."]
    }
    assert list(errors_of(source(transaction_boundary="connector"))) == ["transaction.boundary"]


def test_transforms_and_predicates_bring_their_keys() -> None:
    configs: dict[str, str | None] = {
        **source(),
        "transforms": "a,b,c,d",
        "transforms.a.type": f"{TRANSFORMS}.HoistField$Value",
        "transforms.b.type": f"{TRANSFORMS}.InsertField",
        "transforms.c.type": "Filter",
        "transforms.c.negate": "true",
        "transforms.d.type": "Filter",
        "transforms.d.predicate": "q",
        "predicates": "p",
        "predicates.p.type": TIDE,
    }
    found = errors_of(configs)
    assert found == {
        "transforms.a.field": [
            'Missing required configuration "transforms.a.field" which has no default value.'
        ],
        "transforms.b.type": [
            "This class is abstract and cannot be created. "
            f"Did you mean {TRANSFORMS}.InsertField$Key, {TRANSFORMS}.InsertField$Value?"
        ],
        "transforms.c.type": [
            "Config 'transforms.c.negate' was provided but there is no config 'transforms.c.predicate' "
            "defining a predicate to be negated."
        ],
        "transforms.d.predicate": [
            "Invalid value q for configuration transforms.d.predicate: No such alias in predicates (p)"
        ],
        "predicates.p.type": [f"Class class {TIDE} does not implement the Predicate interface"],
    }
    assert value_of(configs, "transforms.c.type")["value"]["value"] == f"{TRANSFORMS}.Filter"
    assert value_of(configs, "transforms.a.predicate")["definition"]["group"] == "Transforms: a"


def test_converters_of_its_own() -> None:
    configs = {**source(value_converter=PLAIN, key_converter="Plein"), "value.converter.depth": "deep"}
    found = errors_of(configs)
    assert found["value.converter.depth"] == [
        "Invalid value deep for configuration depth: Not a number of type INT"
    ]
    assert found["key.converter"][0].startswith(
        "Invalid value Plein for configuration key.converter: Class Plein could not be found."
    )
    assert value_of(configs, "value.converter.plugin.version")["value"]["recommended_values"] == ["2.5"]


def test_topics_that_a_source_makes() -> None:
    configs = {
        **source(topic_creation_groups="g"),
        "topic.creation.default.partitions": "0",
        "topic.creation.g.include": "(",
    }
    assert set(errors_of(configs)) == {
        "topic.creation.default.replication.factor",
        "topic.creation.default.partitions",
        "topic.creation.g.include",
    }


@pytest.mark.parametrize(
    ("policy", "allowed", "refused"),
    [
        ("All", ["acks", "sasl.mechanism"], []),
        ("None", [], ["acks"]),
        ("Principal", ["sasl.mechanism"], ["acks"]),
        (
            ALLOWLIST,
            ["acks"],
            ["linger.ms"],
        ),
    ],
)
def test_policies_for_overrides(policy: str, allowed: list[str], refused: list[str]) -> None:
    check = check_of(
        connector_client_config_override_policy=policy, connector_client_config_override_allowlist="acks"
    )
    configs = source(**{f"producer.override.{name}": "1" for name in (*allowed, *refused)})
    short = policy.removesuffix("ConnectorClientConfigOverridePolicy").rpartition(".")[2]
    assert errors_of(configs, check) == {
        f"producer.override.{name}": [
            f"The '{short}' policy does not allow '{name}' to be overridden in the connector configuration."
        ]
        for name in refused
    }


def test_an_unknown_policy() -> None:
    with pytest.raises(ConfigError, match="policy: got 'Some', takes All, None, Principal, Allowlist"):
        check_of(connector_client_config_override_policy="Some")


def test_the_keys_of_a_plugin() -> None:
    names = [key["name"] for key in check_of().plugin_config(TIDE, "latest")]
    assert names[:4] == ["low", "high", "pin", "name"]
    assert names[-1] == "offsets.storage.topic"
    assert [key["name"] for key in check_of().plugin_config("HoistField$Key", None)] == ["field"]
    with pytest.raises(UnknownPlugin, match=r"^Unknown plugin Nope.$"):
        check_of().plugin_config("Nope", None)
    with pytest.raises(BadRequestError, match="version range"):
        check_of().plugin_config(TIDE, "9")
    with pytest.raises(BadRequestError, match=r"Invalid version specification: \["):
        check_of().plugin_config(TIDE, "[")


def test_validating_imports_nothing_that_is_not_a_plugin() -> None:
    sys.modules.pop("this", None)
    for name in ("this.x", "this:x"):
        with pytest.raises(BadRequestError, match="Failed to find any class that implements Connector"):
            check_of().validate(source(connector_class=name))
        keys = ("value.converter", "transforms.t.type", "predicates.p.type")
        errors = errors_of({**source(transforms="t", predicates="p"), **dict.fromkeys(keys, name)})
        assert all("could not be found" in " ".join(errors[key]) for key in keys), errors
    assert "this" not in sys.modules
