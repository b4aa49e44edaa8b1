"""`penstock get-offsets`."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output.view import Record, View
from penstock.cli.tools.kafka_get_offsets import chosen_offsets


def view(options: OptionSet) -> View | None:
    records: list[Record] = [
        {"topic": partition.topic, "partition": partition.partition, "offset": offset}
        for partition, offset in sorted(chosen_offsets(options).items())
    ]
    return View(records)
