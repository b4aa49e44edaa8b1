"""The same programs in Quix Streams; run by the interpreter that has it, and nothing of Penstock.

Its windows are those of a dataframe, its join of a stream with a table is `join_asof`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from quixstreams import Application  # type: ignore[import-not-found, unused-ignore]
from quixstreams.dataframe.windows import aggregations  # type: ignore[import-not-found, unused-ignore]


def windowed_count(application: Any, output: str) -> None:
    events = application.dataframe(application.topic("events", value_deserializer="json"))
    counts = events[events["amount"] >= 0].tumbling_window(60_000).agg(count=aggregations.Count()).current()
    told = counts.apply(lambda window: {"start": window["start"], "count": window["count"]})
    told.to_topic(application.topic(output, value_serializer="json"))


def stream_table_join(application: Any, output: str) -> None:
    events = application.dataframe(application.topic("events", value_deserializer="json"))
    customers = application.dataframe(application.topic("customers", value_deserializer="json"))
    joined = events.join_asof(
        customers, how="inner", on_merge=lambda order, customer: {**order, "name": customer["name"]}
    )
    joined.to_topic(application.topic(output, value_serializer="json"))


def main(job: dict[str, Any]) -> None:
    application = Application(
        job["bootstrap"],
        consumer_group=job["application_id"],
        auto_offset_reset="earliest",
        state_dir=job["folder"],
        processing_guarantee=job["guarantee"],
        loglevel="WARNING",
    )
    programs = {"windowed_count": windowed_count, "stream_table_join": stream_table_join}
    programs[job["program"]](application, job["output"])
    application.run()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
