"""From answers per item to one answer: all of it worked, or an error that says which did not."""

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from penstock.wire_client.errors import KafkaError

K = TypeVar("K")
V = TypeVar("V")


def unless_failed(results: Mapping[K, V | KafkaError]) -> dict[K, V]:
    """The results, if none is an error."""
    raise_failed(results)
    return cast(dict[K, V], dict(results))


def raise_failed(results: Mapping[Any, Any]) -> None:
    """Raises the first error among the results; its message names the item, and how many others failed too."""
    failed = {item: result for item, result in results.items() if isinstance(result, KafkaError)}
    if not failed:
        return
    item, error = next(iter(failed.items()))
    others = f" ({len(failed) - 1} more failed as well)" if len(failed) > 1 else ""
    message = error.message if str(item) in error.message else f"{item}: {error.message}"
    raise type(error)(f"{message}{others}", error.code) from error
