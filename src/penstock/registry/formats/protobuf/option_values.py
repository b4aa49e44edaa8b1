"""Options as descriptors hold them: fields of google.protobuf.FileOptions and its like.

The protobuf library's text format reads the values. An option that the library knows is set at once; an extension needs
a pool that has its definition, which may be in the file at hand, so extensions wait until all of the file is there. An
option that nobody defines is left out, as Confluent's registry leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.message import DecodeError, EncodeError

from penstock.registry.formats.protobuf.elements import Option, OptionName, Value
from penstock.registry.formats.protobuf.option_printer import value_text
from penstock.registry.formats.protobuf.scope import Scope
from penstock.registry.formats.protobuf.tokens import fail


@dataclass(slots=True)
class OptionSetter:
    scope: Scope
    is_strict: bool
    """Whether a value that does not fit is an error; else it is left out."""
    _waiting: list[tuple[Any, str, Option]] = field(default_factory=list)

    def set_options(self, options: Any, elements: Iterable[Option], scope: str) -> None:
        """`options` is a message such as FileOptions; `scope` is where the names are looked up from."""
        for each in elements:
            text = self._text(each, scope)
            if text is None:
                continue
            if "[" in text and any(name.is_extension for name in each.names):
                self._waiting.append((options, text, each))
            else:
                self._merge(text, options, each, None)

    def set_extensions(self, files: Callable[[], Iterable[Any]]) -> None:
        """With the descriptors of all that the file needs, and its own."""
        if not self._waiting:
            return
        pool = pool_of(files())
        for options, text, option in self._waiting:
            known = message_of(pool, options.DESCRIPTOR.full_name)
            self._merge(text, known, option, pool)
            options.MergeFromString(known.SerializeToString())

    def _merge(self, text: str, options: Any, option: Option, pool: Any) -> None:
        before = options.SerializePartialToString()
        try:
            text_format.Merge(text, options, allow_unknown_field=True, descriptor_pool=pool)
        except (text_format.ParseError, EncodeError, DecodeError, ValueError) as error:
            options.ParseFromString(before)
            if not self.is_strict:
                return
            problem = str(error).partition(" : ")[2] or str(error)
            name = ".".join(map(str, option.names))
            fail(self.scope.source.text, option.at, f"the value of option {name} is not valid: {problem}")

    def _text(self, option: Option, scope: str) -> str | None:
        names = [self._name(each, scope) for each in option.names]
        if None in names:
            return None
        opening = "".join(f"{name} {{ " for name in names[:-1])
        return f"{opening}{names[-1]}: {value_text(self._resolved(option.value, scope))}{' }' * (len(names) - 1)}"

    def _name(self, name: OptionName, scope: str) -> str | None:
        if not name.is_extension:
            return name.text
        info = self.scope.resolve_extension(name.text, scope)
        return f"[{info.full_name}]" if info else None

    def _resolved(self, value: Value, scope: str) -> Value:
        if isinstance(value, list):
            return [self._resolved(each, scope) for each in value]
        if not isinstance(value, dict):
            return value
        return {self._key(key, scope): self._resolved(each, scope) for key, each in value.items()}

    def _key(self, key: str, scope: str) -> str:
        if not key.startswith("[") or "/" in key:
            return key
        info = self.scope.resolve_extension(key[1:-1], scope)
        return f"[{info.full_name}]" if info else key


def pool_of(files: Iterable[Any]) -> Any:
    """A pool with descriptor.proto and these files, dependencies first."""
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(descriptor_pb2.DESCRIPTOR.serialized_pb)
    for each in files:
        if each.name != descriptor_pb2.DESCRIPTOR.name:
            pool.AddSerializedFile(each.SerializeToString())
    return pool


def message_of(pool: Any, full_name: str) -> Any:
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(full_name))()
