"""Made-up records of a given shape, at a given pace, with the configuration of Confluent's datagen connector."""

from __future__ import annotations

from typing import Final

JAVA_NAMES: Final[dict[str, str]] = {
    "io.confluent.kafka.connect.datagen.DatagenConnector": f"{__name__}.source:DatagenConnector",
}
