"""The same requests for both kinds of workers, and what may differ in the answers."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tests.support.connect_workers import Said

FILE = "org.apache.kafka.connect.file"
SOURCE, SINK = f"{FILE}.FileStreamSourceConnector", f"{FILE}.FileStreamSinkConnector"
TRANSFORMS = "org.apache.kafka.connect.transforms"
OWN_WORDS = {"documentation", "recommended_values", "version", "trace", "restart", "last_modified"}
"""What each says in its own way, or only one of them says."""


WRITTEN = "written"
"""To wait for: an answer with something in its list."""


class Step(NamedTuple):
    method: str
    path: str
    body: Any = None
    state: str | None = None
    """The states to wait for, of the connector and of its tasks: they change on their own time."""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def validate(kind: str, **configs: str | None) -> Step:
    name = {"source": SOURCE, "sink": SINK}[kind]
    given = {key.replace("_", "."): value for key, value in configs.items()}
    return Step(
        "PUT",
        f"/connector-plugins/{name.rpartition('.')[2]}/config/validate",
        {"connector.class": name, "file": "f", **given},
    )


def masked(said: Said) -> tuple[int, Any, str]:
    location = re.sub(r"http://[^/]*", "http://worker", said.headers.get("location", ""))
    return said.status, mask(said.body), location


def mask(value: Any) -> Any:
    if isinstance(value, dict):
        if "definition" in value and "value" in value:
            return _mask_config(value)
        return {key: _mask_entry(key, each) for key, each in value.items() if key not in OWN_WORDS}
    if isinstance(value, list):
        return [mask(each) for each in value]
    return mask_text(value) if isinstance(value, str) else value


def _mask_entry(key: str, value: Any) -> Any:
    if key == "worker_id":
        return "a worker"
    if key == "kafka_offset" and value > 1:  # before or behind a transaction's marker
        return "at the end"
    if key == "groups":  # Java's hash table orders those of converters
        return sorted(value)
    if key == "configs":
        return sorted(map(mask, value), key=lambda info: str(info["value"]["name"]))
    if key == "task.class":
        return re.split(r"[.:]", str(value))[-1]
    return mask(value)


def _mask_config(info: dict[str, Any]) -> Any:
    name = info["value"]["name"]
    definition = info["definition"] and {
        key: "" if key == "default_value" and name.endswith("plugin.version") else each
        for key, each in info["definition"].items()
        if key not in OWN_WORDS
    }
    if ".override." in name:
        definition = None
    value = {key: mask(each) for key, each in info["value"].items() if key not in OWN_WORDS}
    if name.endswith("plugin.version"):
        value["value"] = ""
    return {"definition": definition, "value": value}


def mask_text(text: str) -> str:
    text = re.sub(r"lines-of-\w+", "lines", text)
    text = re.sub(r"(could not be found\.).*", r"\1", text)
    text = re.sub(r"(which name matches \S+),.*", r"\1", text)
    text = re.sub(r"(Failed to alter consumer group offsets for connector \w+).*", r"\1", text)
    return re.sub(r"(Invalid regex: ).*", r"\1", text, flags=re.DOTALL)


VALIDATIONS = [
    validate("sink"),
    validate("sink", name="n", topics="a"),
    validate("sink", name="n", topics="a,b", topics_regex="a.*", errors_deadletterqueue_topic_name="a"),
    validate("sink", name="n", topics="a,b,a", topics_regex="["),
    validate("sink", name="n", topics="a", tasks_max="0", errors_retry_timeout="soon", odd=None),
    validate("sink", name="", topics="a", tasks_max="x", errors_log_enable="perhaps"),
    validate("sink", name="n", topics="a", errors_deadletterqueue_topic_replication_factor="99999"),
    validate("source", name="n"),
    validate("source", name="n", topic="", exactly_once_support="required", transaction_boundary="connector"),
    validate(
        "source",
        **{"name": "a\nb", "topic": "t", "exactly.once.support": "maybe", "transaction.boundary": "x"},
        **{
            "transaction.boundary.interval.ms": "-5",
            "offsets.storage.topic": "",
            "config.action.reload": "x",
        },
    ),
    validate("source", name="n", topic="t", transforms="a,a", predicates="p,p"),
    validate(
        "source",
        name="n",
        topic="t",
        transforms="a,b,c,d",
        **{"transforms.a.type": f"{TRANSFORMS}.HoistField$Value", "transforms.b.negate": "true"},
        **{"transforms.b.type": f"{TRANSFORMS}.RegexRouter", "transforms.b.regex": "["},
        **{"transforms.c.type": f"{TRANSFORMS}.InsertField", "predicates": "q", "predicates.q.type": "Nope"},
    ),
    validate("source", **{"name": "n", "topic": "t", "producer.override.acks": "all"}),
    Step("PUT", "/connector-plugins/FileStreamSink/config/validate", {"connector.class": "Other"}),
    validate(
        "source",
        **{"name": "n", "topic": "t", "value.converter": "org.apache.kafka.connect.json.JsonConverter"},
        **{"value.converter.schemas.enable": "perhaps", "value.converter.schemas.cache.size": "x"},
        **{"key.converter": SOURCE, "header.converter": "Nope"},
    ),
    Step("GET", "/connector-plugins/FileStreamSink/config"),
    Step("GET", "/connector-plugins/JsonConverter/config"),
    Step("GET", "/connector-plugins/FileStreamSourceConnector/config?version=latest"),
    Step("GET", f"/connector-plugins/{TRANSFORMS}.HoistField$Key/config"),
    Step("GET", "/connector-plugins/Nope/config"),
    Step("GET", "/connector-plugins/FileStreamSink/config?version=["),
]

MISSING = [
    *(
        Step("GET", f"/connectors/nope{part}")
        for part in ("", "/config", "/status", "/tasks", "/offsets", "/topics")
    ),
    Step("GET", "/connectors/nope/tasks/0/status"),
    Step("GET", "/connectors/nope/tasks/x/status"),
    *(Step("PUT", f"/connectors/nope/{verb}") for verb in ("pause", "resume", "stop", "topics/reset")),
    Step("POST", "/connectors/nope/restart"),
    Step("POST", "/connectors/nope/restart?includeTasks=true"),
    Step("POST", "/connectors/nope/tasks/0/restart"),
    Step("DELETE", "/connectors/nope"),
    Step("DELETE", "/connectors/nope/offsets"),
    Step("PATCH", "/connectors/nope/offsets", {"offsets": [{"partition": {"a": 1}, "offset": {"b": 1}}]}),
    Step("PATCH", "/connectors/nope/config", {"a": "b"}),
    Step("GET", "/admin/loggers/nope"),
    Step("PUT", "/admin/loggers/some.where", {"level": "odd"}),
    Step("PUT", "/admin/loggers/some.where", {}),
    Step("PUT", "/admin/loggers/some.where", {"level": "debug"}),
    Step("PUT", "/admin/loggers/some.where?scope=cluster", {"level": "INFO"}),
    Step("GET", "/health"),
]

REFUSED = [
    Step("POST", "/connectors", {"config": {}}),
    Step("POST", "/connectors", {"name": "x", "config": {}}),
    Step("POST", "/connectors", {"name": "x", "config": {"connector.class": "Foo"}}),
    Step("POST", "/connectors", {"name": "x", "config": {"connector.class": "FileStreamSource"}}),
    Step(
        "POST", "/connectors", {"name": "x", "config": {"name": "y", "connector.class": "FileStreamSource"}}
    ),
    Step(
        "POST", "/connectors", {"name": "", "config": {"connector.class": SOURCE, "topic": "t", "file": "f"}}
    ),
    Step(
        "POST",
        "/connectors",
        {"name": "x", "config": {"connector.class": SOURCE, "tasks.max": "x", "errors.tolerance": "some"}},
    ),
    Step("PUT", "/connectors/x/config", {"name": "y"}),
]


def life(directory: str, topic: str) -> list[Step]:
    """Of a source and a sink, from their making to their end."""
    configs = {
        "connector.class": "FileStreamSource",
        "topic": topic,
        "file": f"{directory}/in",
        "tasks.max": 1,
    }
    source, sink = "/connectors/my%20source", "/connectors/sink"
    place = {"filename": f"{directory}/in"}
    t0 = {"kafka_topic": topic, "kafka_partition": 0}
    return [
        Step("GET", "/connectors"),
        Step("GET", "/connectors?expand=status"),
        Step("POST", "/connectors", {"name": " my source ", "config": configs}),
        Step("GET", f"{source}/status", None, "RUNNING RUNNING"),
        Step("GET", source),
        Step("GET", f"{source}/config"),
        Step("GET", f"{source}/tasks"),
        Step("GET", f"{source}/tasks/0/status"),
        Step("GET", f"{source}/tasks/1/status"),
        Step("GET", f"{source}/offsets", None, WRITTEN),
        Step("GET", f"{source}/topics", None, WRITTEN),
        Step("GET", "/connectors"),
        Step("GET", "/connectors?expand=info&expand=status&expand=odd"),
        Step("GET", "/connectors?expand=odd"),
        Step("POST", "/connectors", {"name": "my source", "config": configs}),
        Step("PATCH", f"{source}/offsets", {"offsets": [{"partition": place, "offset": {"position": 1}}]}),
        Step("DELETE", f"{source}/offsets"),
        Step("PUT", f"{source}/pause"),
        Step("GET", f"{source}/status", None, "PAUSED PAUSED"),
        Step("PUT", f"{source}/resume"),
        Step("GET", f"{source}/status", None, "RUNNING RUNNING"),
        Step("POST", f"{source}/restart?includeTasks=true&onlyFailed=true"),
        Step("POST", f"{source}/restart?includeTasks=true"),
        Step("GET", f"{source}/status", None, "RUNNING RUNNING"),
        Step("POST", f"{source}/restart"),
        Step("GET", f"{source}/status", None, "RUNNING RUNNING"),
        Step("POST", f"{source}/tasks/0/restart"),
        Step("POST", f"{source}/tasks/7/restart"),
        Step("PUT", f"{source}/stop"),
        Step("GET", f"{source}/status", None, "STOPPED"),
        Step("GET", f"{source}/tasks"),
        Step("GET", source),
        Step("PATCH", f"{source}/offsets", {"offsets": []}),
        Step("PATCH", f"{source}/offsets", {}),
        Step("PATCH", f"{source}/offsets", {"offsets": [{"partition": place, "offset": {"position": "x"}}]}),
        Step(
            "PATCH", f"{source}/offsets", {"offsets": [{"partition": {"odd": 1}, "offset": {"position": 1}}]}
        ),
        Step("PATCH", f"{source}/offsets", {"offsets": [{"partition": place, "offset": {"position": 1}}]}),
        Step("GET", f"{source}/offsets"),
        Step("DELETE", f"{source}/offsets"),
        Step("GET", f"{source}/offsets"),
        Step("PUT", f"{source}/topics/reset"),
        Step("PATCH", f"{source}/config", {"tasks.max": None, "batch.size": 17}),
        Step("PATCH", f"{source}/config", {"topic": None}),
        Step("PUT", f"{source}/config", {**configs, "extra": True}),
        Step("GET", f"{source}/config"),
        Step(
            "PUT",
            f"{sink}/config",
            {"connector.class": SINK, "topics": topic, "file": f"{directory}/out", "tasks.max": "2"},
        ),
        Step("GET", f"{sink}/status", None, "RUNNING RUNNING RUNNING"),
        Step("GET", f"{sink}/tasks"),
        Step("GET", f"{sink}/offsets", None, WRITTEN),
        Step("GET", f"{sink}/topics", None, WRITTEN),
        Step("PUT", f"{sink}/stop"),
        Step("GET", f"{sink}/status", None, "STOPPED"),
        Step("PATCH", f"{sink}/offsets", {"offsets": [{"partition": t0, "offset": {"kafka_offset": 1}}]}),
        Step("GET", f"{sink}/offsets"),
        Step(
            "PATCH", f"{sink}/offsets", {"offsets": [{"partition": {"a": 1}, "offset": {"kafka_offset": 1}}]}
        ),
        Step("PATCH", f"{sink}/offsets", {"offsets": [{"partition": t0, "offset": {"kafka_offset": "x"}}]}),
        Step("PATCH", f"{sink}/offsets", {"offsets": [{"partition": t0, "offset": None}]}),
        Step("GET", f"{sink}/offsets"),
        Step("DELETE", f"{sink}/offsets"),
        Step("POST", "/connectors", {"name": "p", "initial_state": "paused", "config": configs}),
        Step("GET", "/connectors/p/status", None, "PAUSED"),
        Step("POST", "/connectors", {"name": "s", "initial_state": "STOPPED", "config": configs}),
        Step("GET", "/connectors/s/status", None, "STOPPED"),
        *(Step("DELETE", path) for path in (source, sink, "/connectors/p", "/connectors/s")),
        Step("GET", "/connectors"),
        Step("GET", f"{source}/status"),
    ]
