"""From what a user gives as a serde to both of its functions.

Names, classes and objects are those that the clients take as serializers and deserializers; a model's class stands for
its JSON both ways, and a pair gives each side on its own.
"""

from typing import Any, TypeAlias

from penstock.client.serializers import (
    Deserializer,
    Serializer,
    resolve_deserializer,
    resolve_serializer,
)
from penstock.client.serializers.base import Field
from penstock.pipeline.plan.serdes import Serde

SerdeSpec: TypeAlias = Serde | str | type[Any] | tuple[Any, Any] | Serializer | Deserializer | None


def serde_of(given: SerdeSpec, field: Field) -> Serde | None:
    """None stays None: the default of the program."""
    if given is None or isinstance(given, Serde):
        return given
    into, outof = given if isinstance(given, tuple) else _both_sides(given)
    encode, decode = resolve_serializer(into, field), resolve_deserializer(outof, field)
    return Serde(_name_of(given), encode or _as_it_is, decode or _as_it_is)


def _both_sides(given: Any) -> tuple[Any, Any]:
    is_model = isinstance(given, type) and not issubclass(given, Serializer | Deserializer)
    return ("json", given) if is_model else (given, given)


def _as_it_is(topic: str, value: Any) -> Any:
    return value


def _name_of(given: object) -> str:
    return given if isinstance(given, str) else getattr(given, "__name__", type(given).__name__)


def long_serde() -> Serde:
    found = serde_of("long", "value")
    assert found is not None
    return found
