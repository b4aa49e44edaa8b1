"""Single message transforms, and the predicates that choose the records they see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Generic, TypeVar

from penstock.pipeline.connect.api.config_def import ConfigDef
from penstock.pipeline.connect.data import ConnectRecord

Record = TypeVar("Record", bound=ConnectRecord)


class Transformation(Generic[Record]):
    config_def: ClassVar[ConfigDef] = ConfigDef()
    version: ClassVar[str] = "1.0.0"

    def configure(self, configs: Mapping[str, str]) -> None:
        pass

    def apply(self, record: Record) -> Record | None:
        """The record as it goes on; None drops it."""
        raise NotImplementedError

    def close(self) -> None:
        pass


class Predicate(Generic[Record]):
    config_def: ClassVar[ConfigDef] = ConfigDef()
    version: ClassVar[str] = "1.0.0"

    def configure(self, configs: Mapping[str, str]) -> None:
        pass

    def test(self, record: Record) -> bool:
        raise NotImplementedError

    def close(self) -> None:
        pass
