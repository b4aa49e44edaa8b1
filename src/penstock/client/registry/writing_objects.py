"""Writing objects whose schema was given, or stands in their class: what Avro and JSON Schema have in common."""

from abc import abstractmethod
from typing import Any, ClassVar

from penstock.client.registry.reading import require_type
from penstock.client.registry.schemas import Schema
from penstock.client.registry.wire_format import SchemaId
from penstock.client.registry.writing import RegistrySerializer, WritingCodec


class ObjectSerializer(RegistrySerializer):
    """Base of those that write with a schema that was given, or else with that of each value's class."""

    schema_type: ClassVar[str]
    _schema: Schema | None

    @abstractmethod
    def _codec(self, schema: Schema) -> WritingCodec: ...

    @staticmethod
    @abstractmethod
    def _schema_of_class(cls: Any) -> Schema | None:
        """None if the class does not say enough."""

    def _reset(self) -> None:
        super()._reset()
        self._codecs: dict[type[Any] | None, WritingCodec] = {}

    def _own_codec(self, value: Any) -> WritingCodec | None:
        cls = None if self._schema is not None else type(value)
        found = self._codecs.get(cls)
        if found is None:
            schema = self._schema or self._schema_of_class(cls)
            if schema is None:
                return None
            found = self._codecs[cls] = self._codec(schema)
        return found

    def _codec_of(self, schema: Schema, own: WritingCodec | None) -> WritingCodec:
        require_type(schema, self.schema_type, SchemaId(None, None))
        return self._codec(schema)
