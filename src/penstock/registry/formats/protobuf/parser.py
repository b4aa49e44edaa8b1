"""From .proto text to its elements. Names are resolved and rules are checked later (`validation`)."""

from __future__ import annotations

from collections.abc import Callable

from penstock.registry.formats.protobuf.elements import (
    MAX_ENUM_NUMBER,
    MAX_FIELD_NUMBER,
    Constant,
    Enum,
    Extend,
    Extensions,
    Field,
    Group,
    Import,
    Message,
    OneOf,
    Option,
    ProtoFile,
    Range,
    Reserved,
    Rpc,
    Service,
    Value,
    Word,
)
from penstock.registry.formats.protobuf.option_parser import read_option_list, read_option_statement
from penstock.registry.formats.protobuf.tokens import Token, TokenReader

MAX_NESTING = 64
"""Of messages in messages; protoc stops at 32."""

_LABELS = ("optional", "required", "repeated")
_SYNTAXES = ("proto2", "proto3")


def parse_text(text: str) -> ProtoFile:
    return _Parser(text).file()


class _Parser:
    def __init__(self, text: str) -> None:
        self._reader = TokenReader(text)
        self._file = ProtoFile()
        self._depth = 0

    def file(self) -> ProtoFile:
        self._maybe_syntax()
        statements: dict[str, Callable[[], None]] = {
            "package": self._package,
            "import": self._import,
            "option": lambda: self._file.options.append(read_option_statement(self._reader)),
            "message": lambda: self._file.messages.append(self._message()),
            "enum": lambda: self._file.enums.append(self._enum()),
            "extend": lambda: self._file.extends.append(self._extend()),
            "service": lambda: self._file.services.append(self._service()),
        }
        while self._reader.peek.kind != "end":
            if self._reader.maybe(";"):
                continue
            token = self._reader.take()
            if token.text in ("syntax", "edition"):
                self._reader.fail(token.at, f"'{token.text}' must be the first statement, and the only one")
            if token.text not in statements:
                self._reader.refuse(token, "message, enum, extend, service, import, package or option")
            statements[token.text]()
        return self._file

    def _maybe_syntax(self) -> None:
        what = self._reader.peek.text
        if what not in ("syntax", "edition"):
            return
        self._reader.take()
        self._reader.expect("=")
        at = self._reader.peek.at
        value = self._reader.string("a string")
        self._reader.expect(";")
        if what == "edition":
            self._file.edition = value
        elif value not in _SYNTAXES:
            self._reader.fail(at, f"unknown syntax '{value}', expected one of {', '.join(_SYNTAXES)}")
        else:
            self._file.syntax = value

    def _package(self) -> None:
        at = self._reader.peek.at
        if self._file.package is not None:
            self._reader.fail(at, "a second package")
        self._file.package = self._reader.dotted("the name of a package")
        if self._file.package.startswith("."):
            self._reader.fail(at, "the name of a package starts with no dot")
        self._reader.expect(";")

    def _import(self) -> None:
        at = self._reader.peek.at
        kind = self._reader.take().text if self._reader.peek.text in ("public", "weak") else ""
        self._file.imports.append(Import(self._reader.string("the path of a file, in quotes"), kind, at))
        self._reader.expect(";")

    def _message(self) -> Message:
        at = self._reader.peek.at
        return self._message_body(Message(self._reader.word("the name of a message"), at=at))

    def _message_body(self, message: Message) -> Message:
        self._depth += 1
        if self._depth > MAX_NESTING:
            self._reader.fail(message.at, f"messages are nested more than {MAX_NESTING} deep")
        statements: dict[str, Callable[[], None]] = {
            "option": lambda: message.options.append(read_option_statement(self._reader)),
            "message": lambda: message.messages.append(self._message()),
            "enum": lambda: message.enums.append(self._enum()),
            "extend": lambda: message.extends.append(self._extend()),
            "oneof": lambda: message.oneofs.append(self._oneof()),
            "reserved": lambda: message.reserved.append(self._reserved(MAX_FIELD_NUMBER)),
            "extensions": lambda: message.extensions.append(self._extensions()),
        }
        self._reader.expect("{")
        while not self._reader.maybe("}"):
            if self._reader.maybe(";"):
                continue
            if self._reader.peek.text in statements:
                statements[self._reader.take().text]()
            else:
                self._field_or_group(message)
        self._depth -= 1
        return message

    def _field_or_group(self, into: Message | OneOf | Extend) -> None:
        label_token = self._reader.peek
        label = self._label(into)
        if self._reader.peek.text == "group" and self._reader.peek_second.kind == "word":
            into.groups.append(self._group(label))
        else:
            into.fields.append(self._field(label, label_token))

    def _label(self, into: Message | OneOf | Extend) -> str | None:
        token = self._reader.peek
        if token.text not in _LABELS:
            return None
        self._reader.take()
        if isinstance(into, OneOf):
            self._reader.fail(token.at, f"a field in a oneof has no label such as '{token.text}'")
        if token.text == "required" and self._file.is_proto3:
            self._reader.fail(token.at, "proto3 has no required fields")
        return token.text

    def _field(self, label: str | None, first: Token) -> Field:
        type_at = self._reader.peek.at
        field_type = self._type()
        if field_type.startswith("map<") and label:
            self._reader.fail(first.at, "a map has no label")
        at = self._reader.peek.at
        name = self._reader.word("the name of a field")
        self._reader.expect("=")
        number_at = self._reader.peek.at
        number = self._reader.integer("the number of a field")
        field = Field(label, field_type, name, number, at=at, type_at=type_at, number_at=number_at)
        self._take_options(field, read_option_list(self._reader))
        self._reader.expect(";")
        return field

    def _take_options(self, field: Field, options: list[Option]) -> None:
        """`default` and `json_name` look like options but are none."""
        for option in options:
            if option.key == "default":
                field.default = self._default(field, option)
            elif option.key == "json_name":
                field.json_name = _text_of(option.value)
            else:
                field.options.append(option)

    def _default(self, field: Field, option: Option) -> Value:
        """Confluent's registry stores the default of bytes without its quotes, so that is understood too."""
        if isinstance(option.value, dict | list):
            self._reader.fail(option.at, f"the default of {field.name} is a single value")
        return _text_of(option.value) if field.type == "bytes" else option.value

    def _type(self) -> str:
        if self._reader.peek.text == "map" and self._reader.peek_second.text == "<":
            self._reader.take()
            self._reader.take()
            key = self._reader.dotted("the type of the keys")
            self._reader.expect(",")
            value = self._reader.dotted("the type of the values")
            self._reader.expect(">")
            return f"map<{key}, {value}>"
        return self._reader.dotted("the type of a field")

    def _group(self, label: str | None) -> Group:
        at = self._reader.take().at
        name_at = self._reader.peek.at
        name = self._reader.word("the name of a group")
        if not name[0].isupper():
            self._reader.fail(name_at, f"the name of a group starts with a capital letter, not '{name}'")
        self._reader.expect("=")
        number_at = self._reader.peek.at
        number = self._reader.integer("the number of a group")
        options = read_option_list(self._reader)
        message = self._message_body(Message(name, at=name_at))
        return Group(label, number, message, options, at=at, number_at=number_at)

    def _oneof(self) -> OneOf:
        at = self._reader.peek.at
        oneof = OneOf(self._reader.word("the name of a oneof"), at=at)
        self._reader.expect("{")
        while not self._reader.maybe("}"):
            if self._reader.maybe(";"):
                continue
            if self._reader.maybe("option"):
                oneof.options.append(read_option_statement(self._reader))
            else:
                self._field_or_group(oneof)
        return oneof

    def _extend(self) -> Extend:
        at = self._reader.peek.at
        extend = Extend(self._reader.dotted("the name of a message"), at=at)
        self._reader.expect("{")
        while not self._reader.maybe("}"):
            if not self._reader.maybe(";"):
                self._field_or_group(extend)
        return extend

    def _enum(self) -> Enum:
        at = self._reader.peek.at
        enum = Enum(self._reader.word("the name of an enum"), at=at)
        self._reader.expect("{")
        while not self._reader.maybe("}"):
            if self._reader.maybe(";"):
                continue
            is_constant = self._reader.peek_second.text == "="
            if self._reader.peek.text == "option" and not is_constant:
                self._reader.take()
                enum.options.append(read_option_statement(self._reader))
            elif self._reader.peek.text == "reserved" and not is_constant:
                self._reader.take()
                enum.reserved.append(self._reserved(MAX_ENUM_NUMBER))
            else:
                enum.constants.append(self._constant())
        return enum

    def _constant(self) -> Constant:
        at = self._reader.peek.at
        name = self._reader.word("the name of a constant")
        self._reader.expect("=")
        number = self._reader.integer("the number of a constant")
        options = read_option_list(self._reader)
        self._reader.expect(";")
        return Constant(name, number, options, at)

    def _reserved(self, maximum: int) -> Reserved:
        reserved = Reserved([], at=self._reader.peek.at)
        while True:
            reserved.values.append(self._reserved_value(maximum))
            if self._reader.maybe(";"):
                return reserved
            if not self._reader.maybe(","):
                self._reader.refuse(self._reader.peek, "',' or ';'")

    def _reserved_value(self, maximum: int) -> int | Range | str | Word:
        kind = self._reader.peek.kind
        if kind == "string":
            return self._reader.string("a name")
        return Word(self._reader.take().text) if kind == "word" else self._numbers(maximum)

    def _numbers(self, maximum: int) -> int | Range:
        start = self._reader.integer("a number or a name in quotes")
        if not self._reader.maybe("to"):
            return start
        return Range(start, maximum if self._reader.maybe("max") else self._reader.integer("a number or max"))

    def _extensions(self) -> Extensions:
        extensions = Extensions([], at=self._reader.peek.at)
        while True:
            extensions.values.append(self._numbers(MAX_FIELD_NUMBER))
            extensions.options.extend(read_option_list(self._reader))
            if self._reader.maybe(";"):
                return extensions
            if extensions.options or not self._reader.maybe(","):
                self._reader.refuse(self._reader.peek, "',' or ';'")

    def _service(self) -> Service:
        at = self._reader.peek.at
        service = Service(self._reader.word("the name of a service"), at=at)
        self._reader.expect("{")
        while not self._reader.maybe("}"):
            if self._reader.maybe(";"):
                continue
            token = self._reader.take()
            if token.text == "option":
                service.options.append(read_option_statement(self._reader))
            elif token.text == "rpc":
                service.rpcs.append(self._rpc())
            else:
                self._reader.refuse(token, "rpc or option")
        return service

    def _rpc(self) -> Rpc:
        at = self._reader.peek.at
        name = self._reader.word("the name of an rpc")
        request_streaming, request = self._rpc_type()
        self._reader.expect("returns")
        response_streaming, response = self._rpc_type()
        rpc = Rpc(name, request, response, request_streaming, response_streaming, at=at)
        if self._reader.maybe("{"):
            self._rpc_options(rpc)
        else:
            self._reader.expect(";")
        return rpc

    def _rpc_type(self) -> tuple[bool, str]:
        self._reader.expect("(")
        is_streaming = self._reader.peek.text == "stream" and self._reader.peek_second.text != ")"
        if is_streaming:
            self._reader.take()
        name = self._reader.dotted("the name of a message")
        self._reader.expect(")")
        return is_streaming, name

    def _rpc_options(self, rpc: Rpc) -> None:
        while not self._reader.maybe("}"):
            if not self._reader.maybe(";"):
                self._reader.expect("option")
                rpc.options.append(read_option_statement(self._reader))


def _text_of(value: Value) -> str:
    return value.text if isinstance(value, Word) else str(value)
