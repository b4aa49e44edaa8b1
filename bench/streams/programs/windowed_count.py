"""How many records each key has in each minute, as JSON."""

from typing import Any

from penstock.streams import Program, StreamsBuilder, TimeWindows, Windowed


def told(windowed: Windowed[str], count: int) -> tuple[str, dict[str, Any]]:
    return windowed.key, {"start": windowed.window.start_ms, "count": count}


builder = StreamsBuilder(default_key_serde="string", default_value_serde="json")
events = builder.stream("events").filter(lambda key, event: event["amount"] >= 0)
counts = events.group_by_key().windowed_by(TimeWindows.of_size_with_no_grace(60_000)).count()
counts.to_stream().map(told).to("OUTPUT")
program = Program("APPLICATION", builder.build())
