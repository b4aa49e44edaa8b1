"""Subjects and the contexts they live in.

A subject may be qualified by a context: `:.staging:orders-value`. A name without one is in the default context,
which is written "." as a context and not at all in a subject. A name that has a context and no subject
(`:.staging:`) means the context itself: that is how configs and modes of contexts are kept. The context `.__GLOBAL`
holds what applies to all contexts, and `:*:` in a search means every context.
"""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_TENANT = "default"
DEFAULT_CONTEXT = "."
GLOBAL_CONTEXT = ".__GLOBAL"
WILDCARD = "*"
CONTEXT_WILDCARD = ":*:"
_CONTEXT_PREFIX = ":."
_RESERVED_SUBJECTS = {"__GLOBAL", "__EMPTY"}


@dataclass(frozen=True, slots=True, order=True)
class QualifiedSubject:
    context: str
    subject: str

    @property
    def qualified_context(self) -> str:
        return "" if self.context == DEFAULT_CONTEXT else f":{self.context}:"

    def __str__(self) -> str:
        return f"{self.qualified_context}{self.subject}"


def qualify(name: str) -> QualifiedSubject:
    if name.startswith(_CONTEXT_PREFIX):
        context, _, subject = name[1:].partition(":")
        return QualifiedSubject(context, subject)
    if name.startswith(CONTEXT_WILDCARD):
        return QualifiedSubject(WILDCARD, name[len(CONTEXT_WILDCARD) :])
    return QualifiedSubject(DEFAULT_CONTEXT, name)


def normalize_subject(name: str) -> str:
    """The one spelling of a subject: `:.:orders` is `orders`, `:.staging` is `:.staging:`."""
    return str(qualify(name)) if name.startswith(":") else name


def normalize_context(context: str) -> str:
    """`staging`, `.staging` and `:.staging:` as subjects are qualified with it; ValueError if it has a colon."""
    bare = context.removeprefix(":").removesuffix(":")
    if ":" in bare:
        raise ValueError(f"Context name '{bare}' cannot contain a colon")
    bare = bare if bare.startswith(".") else f".{bare}"
    return "" if bare == DEFAULT_CONTEXT else f":{bare}:"


def in_context(context: str, subject: str) -> str:
    """A subject as it is named in a request whose path says `/contexts/{context}`."""
    return subject if subject.startswith(_CONTEXT_PREFIX) else normalize_context(context) + subject


def context_of(subject: str | None) -> str:
    return DEFAULT_CONTEXT if subject is None else qualify(subject).context


def qualified_context_of(subject: str | None) -> str:
    return "" if subject is None else qualify(subject).qualified_context


def qualify_with_parent(parent: str, subject: str) -> str:
    """A subject that a schema or config of `parent` names: in the parent's context unless it says another."""
    own = qualify(subject)
    if own.context != DEFAULT_CONTEXT:
        return str(own)
    parents = qualify(parent).context
    return str(own) if parents == DEFAULT_CONTEXT else str(QualifiedSubject(parents, subject))


def is_context(name: str | None) -> bool:
    return name is None or not qualify(name).subject


def is_default_context(name: str | None) -> bool:
    return name is None or qualify(name) == QualifiedSubject(DEFAULT_CONTEXT, "")


def is_global_context(name: str | None) -> bool:
    return name is not None and qualify(name) == QualifiedSubject(GLOBAL_CONTEXT, "")


def is_valid_subject(name: str, *, is_config_or_mode: bool = False, allows_empty: bool = True) -> bool:
    if any(ord(character) < 0x20 or 0x7F <= ord(character) <= 0x9F for character in name):
        return False
    own = qualify(name)
    if own.subject in _RESERVED_SUBJECTS:
        return False
    if not allows_empty and own.subject in ("", WILDCARD):
        return False
    return is_config_or_mode or own.context != GLOBAL_CONTEXT


def is_covered_by(scope: str | None, subject: str) -> bool:
    """Whether `subject` is `scope`, or lies in the context that `scope` names. None covers everything."""
    if scope is None or scope == subject:
        return True
    own = qualify(scope)
    if own.subject:
        return False
    return own.context == GLOBAL_CONTEXT or own.context == qualify(subject).context
