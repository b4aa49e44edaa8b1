"""Lines of a file to a topic, and a topic's values to lines of a file, as Kafka's file connectors do it."""

from __future__ import annotations

from typing import Final

JAVA_NAMES: Final[dict[str, str]] = {
    "org.apache.kafka.connect.file.FileStreamSinkConnector": f"{__name__}.sink:FileStreamSinkConnector",
    "org.apache.kafka.connect.file.FileStreamSourceConnector": f"{__name__}.source:FileStreamSourceConnector",
}
