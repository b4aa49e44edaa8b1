"""What a request leads to: the records that make it so, and the answer once they are in the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.registry import errors
from penstock.registry.errors import RegistryError
from penstock.registry.names import qualified_context_of
from penstock.registry.scopes import is_read_only, mode_in_scope
from penstock.registry.state import RegistryState
from penstock.registry.stored import Record


@dataclass(frozen=True, slots=True)
class Decision:
    records: tuple[Record, ...]
    """To be written together or not at all; none if there is nothing to change."""
    answer: Any
    """In Confluent's JSON shape."""


def check_writable(state: RegistryState, subject: str | None) -> None:
    if is_read_only(mode_in_scope(state, subject)):
        raise wrong_mode(subject, "in read-only mode")


def wrong_mode(subject: str | None, complaint: str) -> RegistryError:
    shown = "null" if subject is None else subject
    return errors.not_permitted(f"Subject {shown} in context {qualified_context_of(subject)} is {complaint}")
