"""JSON, of plain values and of the user's own classes."""

import json
from typing import Any

from penstock.client.serializers.base import Deserializer, Serializer
from penstock.client.serializers.models import decoder_of, is_msgspec_struct, is_pydantic_model, to_plain


class JsonSerializer(Serializer):
    """JSON of dictionaries, lists and so on, of dataclasses, pydantic models and msgspec structs.

    >>> from dataclasses import dataclass
    >>> from penstock.client import JsonSerializer
    >>> @dataclass
    ... class Order:
    ...     customer: int
    ...     cups: int
    >>> JsonSerializer().serialize("orders", Order(7, 2))
    b'{"customer":7,"cups":2}'
    """

    takes = "what JSON can say: dict, list, str, numbers, a dataclass, a pydantic model, a msgspec struct"

    def __init__(self) -> None:
        self._encoder = json.JSONEncoder(
            default=to_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )

    def serialize(self, topic: str, value: Any) -> bytes:
        cls = type(value)
        if is_pydantic_model(cls) and hasattr(cls, "model_dump_json"):
            text: str = value.model_dump_json()
            return text.encode()
        if is_msgspec_struct(cls):
            import msgspec

            return msgspec.json.encode(value)
        return self._encoder.encode(value).encode()


class JsonDeserializer(Deserializer):
    """What JSON says; with a model, an object of that class.

    >>> from dataclasses import dataclass
    >>> from penstock.client import JsonDeserializer
    >>> @dataclass
    ... class Order:
    ...     customer: int
    ...     cups: int
    >>> JsonDeserializer(Order).deserialize("orders", b'{"customer":7,"cups":2}')
    Order(customer=7, cups=2)
    """

    takes = "JSON"

    def __init__(self, model: Any = None) -> None:
        self.model = model
        if model is not None:
            self.takes = f"the JSON of {getattr(model, '__name__', model)}"
        self._decode = json.loads if model is None else decoder_of(model)

    def deserialize(self, topic: str, data: bytes) -> Any:
        return self._decode(data)
