"""A store of each kind that a plan can ask for."""

from typing import Any

from penstock.pipeline.operators.stores.key_value import KeyValueStore, TimestampedKeyValueStore
from penstock.pipeline.operators.stores.outer_join import OuterJoinStore
from penstock.pipeline.operators.stores.session import SessionStore
from penstock.pipeline.operators.stores.subscriptions import SubscriptionStore
from penstock.pipeline.operators.stores.suppression import SuppressionBuffer
from penstock.pipeline.operators.stores.window import WindowStore
from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.stores import (
    KeyValueStoreSpec,
    OuterJoinStoreSpec,
    SessionStoreSpec,
    StoreSpec,
    SubscriptionStoreSpec,
    SuppressionBufferSpec,
    WindowStoreSpec,
)


def store_of(spec: StoreSpec, application_id: str) -> Any:
    """In memory, and empty."""
    topic = f"{application_id}-{spec.changelog}"
    match spec:
        case KeyValueStoreSpec():
            kind = TimestampedKeyValueStore if spec.is_timestamped else KeyValueStore
            return kind(spec.name, topic, _known(spec.key_serde), _known(spec.value_serde))
        case WindowStoreSpec():
            return WindowStore(spec, topic, _known(spec.key_serde), _known(spec.value_serde))
        case SessionStoreSpec():
            return SessionStore(spec, topic, _known(spec.key_serde), _known(spec.value_serde))
        case OuterJoinStoreSpec():
            sides = _known(spec.left_serde), _known(spec.right_serde)
            return OuterJoinStore(spec.name, topic, _known(spec.key_serde), *sides)
        case SubscriptionStoreSpec():
            serdes = (spec.foreign_key_serde, spec.key_serde, spec.value_serde)
            return SubscriptionStore(spec.name, topic, *map(_known, serdes))
        case SuppressionBufferSpec():
            return SuppressionBuffer(spec.name, topic, _known(spec.key_serde), _known(spec.value_serde))
    raise AssertionError(spec)


def _known(serde: Serde | None) -> Serde:
    assert serde is not None, "a plan that is built knows all serdes"
    return serde
