"""The text form that the registry stores, laid out as Confluent's registry lays it out.

Order within a message: reserved, options, fields, oneofs, groups, extensions, extends, messages, enums. Each of these
sections but the first is set off by an empty line; in a nested message that line carries the indentation's spaces,
since every line of a block is indented, empty or not. Comments are gone. Without a syntax or a package the text
starts with the empty line of its first section.

Where Confluent's text could not be read back as it was meant, this one can: weak imports and editions are kept, the
default of a bytes field has quotes, bytes that are no UTF-8 are escaped, a group keeps all that it holds.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.registry.formats.protobuf.elements import (
    MAX_ENUM_NUMBER,
    MAX_FIELD_NUMBER,
    Constant,
    Enum,
    Extend,
    Extensions,
    Field,
    Group,
    Message,
    OneOf,
    Option,
    OptionName,
    ProtoFile,
    Range,
    Reserved,
    Rpc,
    Service,
    Word,
)
from penstock.registry.formats.protobuf.option_printer import option_list, option_text, quoted


def print_file(file: ProtoFile) -> str:
    head = ""
    if file.edition is not None:
        head += f'edition = "{file.edition}";\n'
    if file.syntax is not None:
        head += f'syntax = "{file.syntax}";\n'
    if file.package is not None:
        head += f"package {file.package};\n"
    sections = (
        _imports(file),
        _option_statements(file.options),
        "".join([*map(_message, file.messages), *map(_enum, file.enums)]),
        "".join(map(_extend, file.extends)),
        "".join(map(_service, file.services)),
    )
    return head + "".join("\n" + section for section in sections if section)


def _imports(file: ProtoFile) -> str:
    lines = ""
    for kind in ("", "public", "weak"):
        keyword = f"import {kind} " if kind else "import "
        lines += "".join(f'{keyword}"{each.path}";\n' for each in file.imports if each.kind == kind)
    return lines


def _indented(block: str) -> str:
    return "".join(f"  {line}\n" for line in block.rstrip("\n").split("\n"))


def _block(head: str, sections: Iterable[str]) -> str:
    inner = "".join("\n" + _indented(section) for section in sections if section)
    return f"{head} {{{inner}}}\n"


def _option_statements(options: list[Option]) -> str:
    return "".join(f"option {option_text(each)};\n" for each in options)


def _message(message: Message) -> str:
    return _block(f"message {message.name}", _message_sections(message))


def _message_sections(message: Message) -> Iterable[str]:
    return (
        "".join(_reserved(each, MAX_FIELD_NUMBER) for each in message.reserved),
        _option_statements(message.options),
        "".join(map(_field, message.fields)),
        "".join(map(_oneof, message.oneofs)),
        "".join(map(_group, message.groups)),
        "".join(map(_extensions, message.extensions)),
        "".join(map(_extend, message.extends)),
        "".join([*map(_message, message.messages), *map(_enum, message.enums)]),
    )


def _enum(enum: Enum) -> str:
    reserved = "".join(_reserved(each, MAX_ENUM_NUMBER) for each in enum.reserved)
    constants = "".join(map(_constant, enum.constants))
    return _block(f"enum {enum.name}", [reserved + _option_statements(enum.options) + constants])


def _constant(constant: Constant) -> str:
    return f"{constant.name} = {constant.number}{_bracketed(constant.options)};\n"


def _bracketed(options: list[Option]) -> str:
    return " " + option_list(options) if options else ""


def _field(field: Field) -> str:
    label = f"{field.label} " if field.label else ""
    options = list(field.options)
    if field.default is not None:
        options.append(Option((OptionName("default"),), field.default))
    if field.json_name is not None:
        options.append(Option((OptionName("json_name"),), field.json_name))
    return f"{label}{field.type} {field.name} = {field.number}{_bracketed(options)};\n"


def _oneof(oneof: OneOf) -> str:
    sections = (
        _option_statements(oneof.options),
        "".join(map(_field, oneof.fields)),
        "".join(map(_group, oneof.groups)),
    )
    return _block(f"oneof {oneof.name}", sections)


def _group(group: Group) -> str:
    label = f"{group.label} " if group.label else ""
    head = f"{label}group {group.name} = {group.number}{_bracketed(group.options)}"
    return _block(head, _message_sections(group.message))


def _reserved(reserved: Reserved, maximum: int) -> str:
    return f"reserved {', '.join(_reserved_value(each, maximum) for each in reserved.values)};\n"


def _reserved_value(value: int | Range | str | Word, maximum: int) -> str:
    if isinstance(value, Word):
        return value.text
    return quoted(value) if isinstance(value, str) else _numbers(value, maximum)


def _numbers(value: int | Range, maximum: int = MAX_FIELD_NUMBER) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value.start} to {'max' if value.end >= maximum else value.end}"


def _extensions(extensions: Extensions) -> str:
    numbers = ", ".join(map(_numbers, extensions.values))
    return f"extensions {numbers}{_bracketed(extensions.options)};\n"


def _extend(extend: Extend) -> str:
    sections = ("".join(map(_field, extend.fields)), "".join(map(_group, extend.groups)))
    return _block(f"extend {extend.name}", sections)


def _service(service: Service) -> str:
    return _block(
        f"service {service.name}", (_option_statements(service.options), "".join(map(_rpc, service.rpcs)))
    )


def _rpc(rpc: Rpc) -> str:
    request = ("stream " if rpc.request_streaming else "") + rpc.request
    response = ("stream " if rpc.response_streaming else "") + rpc.response
    options = f" {{\n{_indented(_option_statements(rpc.options))}}}" if rpc.options else ""
    return f"rpc {rpc.name} ({request}) returns ({response}){options};\n"
