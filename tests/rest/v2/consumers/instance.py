"""A consumer instance as a client uses it: plain HTTP."""

from __future__ import annotations

import itertools
from typing import Any

from penstock.client import KafkaProducer
from tests.rest.proxy import Answer, Proxy
from tests.support.processes import wait_for

V2 = "application/vnd.kafka.v2+json"
_numbers = itertools.count()


def media_type(name: str) -> str:
    return f"application/vnd.kafka.{name}.v2+json"


def unique(what: str) -> str:
    return f"{what}-{next(_numbers)}"


def ask(
    proxy: Proxy, method: str, path: str, body: Any = None, accept: str = V2, content_type: str = V2
) -> Answer:
    return proxy.ask(method, path, body, {"Accept": accept, "Content-Type": content_type})


class Instance:
    """Reads from the beginning unless told otherwise, and waits long, so that tests need not ask twice."""

    def __init__(self, proxy: Proxy, group: str, data_format: str = "binary", /, **config: Any) -> None:
        self.proxy = proxy
        self.format = data_format
        given = {
            "format": data_format,
            "auto.offset.reset": "earliest",
            "consumer.request.timeout.ms": 20_000,
        }
        given |= {name.replace("_", "."): value for name, value in config.items()}
        made = ask(proxy, "POST", f"/consumers/{group}", given)
        assert made.status == 200, made.text
        self.name: str = made.json["instance_id"]
        self.path: str = made.json["base_uri"].removeprefix(f"http://127.0.0.1:{proxy.port}")

    def post(self, what: str, body: Any = None) -> Answer:
        return ask(self.proxy, "POST", f"{self.path}/{what}", body)

    def get(self, what: str, body: Any = None) -> Answer:
        return ask(self.proxy, "GET", f"{self.path}/{what}", body)

    def delete(self, what: str = "") -> Answer:
        return ask(self.proxy, "DELETE", f"{self.path}/{what}" if what else self.path)

    def subscribe(self, *topics: str) -> None:
        said = self.post("subscription", {"topics": list(topics)})
        assert said.status == 204, said.text

    def assign(self, topic: str, *partitions: int) -> None:
        said = self.post("assignments", partitions_of(topic, *partitions))
        assert said.status == 204, said.text

    def records(self, query: str = "", accept: str | None = None) -> Answer:
        return ask(self.proxy, "GET", f"{self.path}/records{query}", accept=accept or media_type(self.format))

    def read(self, query: str = "") -> list[dict[str, Any]]:
        said = self.records(query)
        assert said.status == 200, said.text
        found: list[dict[str, Any]] = said.json
        return found

    def read_values(self, count: int, query: str = "") -> list[Any]:
        """At least so many, in as many reads as it takes."""
        found: list[Any] = []
        while len(found) < count:
            more = self.read(query)
            assert more, f"only {found} came"
            found += [each["value"] for each in more]
        return found

    def commit(self, *offsets: tuple[str, int, int]) -> None:
        given = [{"topic": topic, "partition": number, "offset": offset} for topic, number, offset in offsets]
        said = self.post("offsets", {"offsets": given} if offsets else None)
        assert (said.status, said.json) == (200, []), said.text

    def committed(self, topic: str, *partitions: int) -> dict[int, int]:
        """By partition; those that have any."""
        said = self.get("offsets", partitions_of(topic, *partitions))
        assert said.status == 200, said.text
        return {each["partition"]: each["offset"] for each in said.json["offsets"]}

    def assignments(self) -> list[tuple[str, int]]:
        found = self.get("assignments").json["partitions"]
        return [(each["topic"], each["partition"]) for each in found]

    def wait_for_assignments(self, count: int) -> list[tuple[str, int]]:
        return wait_for(
            lambda: len(found := self.assignments()) == count and found,
            what=f"{count} partitions to be assigned",
        )


def partitions_of(topic: str, *partitions: int) -> dict[str, Any]:
    return {"partitions": [{"topic": topic, "partition": number} for number in partitions]}


def produce(bootstrap: str, topic: str, *values: Any, partition: int | None = 0) -> None:
    """Texts, as they are."""
    with KafkaProducer(bootstrap_servers=bootstrap) as producer:
        sent = [producer.send(topic, str(value).encode(), partition=partition) for value in values]
        for each in sent:
            each.result(30)
