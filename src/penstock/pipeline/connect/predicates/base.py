"""What predicates share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.pipeline.connect.api.transformation import Predicate, Record
from penstock.pipeline.connect.transforms.base import KAFKA_VERSION


class KafkaPredicate(Predicate[Record]):
    version: ClassVar[str] = KAFKA_VERSION
    overview: ClassVar[str] = ""

    def configure(self, configs: Mapping[str, Any]) -> None:
        self.settings = self.config_def.parse(configs)
