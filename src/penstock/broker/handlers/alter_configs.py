"""AlterConfigs and IncrementalAlterConfigs: changes that take effect at once, without a restart.

AlterConfigs (v2 is flexible) replaces all that was set; the incremental one (v1 is flexible) sets, deletes,
appends to and subtracts from single settings. `validate_only` checks everything and changes nothing.

Not done: the resource types for loggers and client metrics.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from penstock.broker.coordination import CoordinationError, TooLarge
from penstock.broker.image_writing import Configs, Decision
from penstock.broker.router import RequestContext, handles
from penstock.controller import znodes
from penstock.controller.changes import Changes
from penstock.errors import ApiError, ErrorCode
from penstock.settings.broker import ALL_BROKER_SETTINGS
from penstock.settings.group_config import GROUP_TABLE
from penstock.settings.kinds import Kind
from penstock.settings.table import Table
from penstock.settings.topic import TOPIC_TABLE
from penstock.wire.messages import alter_configs, incremental_alter_configs

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

TOPIC, BROKER, GROUP = 2, 4, 32
TABLES: Mapping[int, Table] = {TOPIC: TOPIC_TABLE, BROKER: ALL_BROKER_SETTINGS, GROUP: GROUP_TABLE}
SET, DELETE, APPEND, SUBTRACT = range(4)


AnyResource = alter_configs.AlterConfigsResource | incremental_alter_configs.AlterConfigsResource
AnyAnswer = (
    alter_configs.AlterConfigsResourceResponse | incremental_alter_configs.AlterConfigsResourceResponse
)
AnswerT = TypeVar("AnswerT", bound=AnyAnswer)
Times = Counter[tuple[int, str]]


@handles(alter_configs.AlterConfigsRequest, versions=(0, 2))
async def handle_alter_configs(
    broker: "Broker", request: alter_configs.AlterConfigsRequest, context: RequestContext
) -> alter_configs.AlterConfigsResponse:
    responses = []
    times = _times(request.resources)
    for resource in request.resources:
        change = _Change(broker, resource, times, request.validate_only)
        answer = alter_configs.AlterConfigsResourceResponse()
        responses.append(await change.make(partial(_replacement, resource.configs), answer))
    return alter_configs.AlterConfigsResponse(responses=responses)


@handles(incremental_alter_configs.IncrementalAlterConfigsRequest, versions=(0, 1))
async def handle_incremental_alter_configs(
    broker: "Broker",
    request: incremental_alter_configs.IncrementalAlterConfigsRequest,
    context: RequestContext,
) -> incremental_alter_configs.IncrementalAlterConfigsResponse:
    responses = []
    times = _times(request.resources)
    for resource in request.resources:
        change = _Change(broker, resource, times, request.validate_only)
        answer = incremental_alter_configs.AlterConfigsResourceResponse()
        responses.append(await change.make(partial(_changed, broker, resource), answer))
    return incremental_alter_configs.IncrementalAlterConfigsResponse(responses=responses)


class _Change(NamedTuple):
    """What both requests do with one resource, once it is known what is to be set."""

    broker: "Broker"
    resource: AnyResource
    times: Times
    """How often each resource appears in the request."""
    validate_only: bool

    async def make(self, decide: Decision, answer: AnswerT) -> AnswerT:
        kind, name = self.resource.resource_type, self.resource.resource_name
        answer.resource_type, answer.resource_name = kind, name
        try:
            _check_once(self.resource, self.times)
            await self._write(_target(self.broker, kind, name), decide)
        except ApiError as error:
            answer.error_code, answer.error_message = error.code, error.message
        return answer

    async def _write(self, target: "_Target", decide: Decision) -> None:
        def decide_and_check(known: Configs) -> Configs:
            configs = decide(known)
            target.check(configs)
            return configs

        writer = self.broker.image_writer
        try:
            if self.validate_only:
                await writer.try_configs(target.path, decide_and_check)
            else:
                await writer.change_configs(target.path, decide_and_check, target.changes)
        except TooLarge as error:
            raise ApiError(ErrorCode.POLICY_VIOLATION, str(error)) from error
        except CoordinationError as error:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from error


class _Target(NamedTuple):
    """Where the settings of a resource are stored, and what they have to be."""

    path: str
    check: Callable[[Configs], None]
    changes: Changes


def _target(broker: "Broker", resource_type: int, name: str) -> _Target:
    """ApiError if there is no such resource here."""
    configs = broker.configs
    if resource_type == TOPIC:
        broker.topics.existing(name)
        path = znodes.topic_config_path(name)
        return _Target(path, partial(configs.check_topic, name), Changes(topic_configs={name}))
    if resource_type == BROKER:
        configs.check_broker_name(name)
        node = name or znodes.DEFAULT_BROKER
        path = znodes.broker_config_path(node)
        return _Target(path, partial(configs.check_broker, name), Changes(broker_configs={node}))
    if resource_type == GROUP:
        configs.check_group_name(name)
        return _Target(znodes.group_config_path(name), configs.check_group, Changes(group_configs={name}))
    raise ApiError(ErrorCode.INVALID_REQUEST, f"Unsupported resource type: {resource_type}")


def _times(resources: Sequence[AnyResource]) -> Times:
    return Counter((resource.resource_type, resource.resource_name) for resource in resources)


def _check_once(resource: AnyResource, times: Times) -> None:
    if times[resource.resource_type, resource.resource_name] > 1:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
    twice = [name for name, times in Counter(c.name for c in resource.configs).items() if times > 1]
    if twice:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Error due to duplicate config keys: {', '.join(twice)}")


def _replacement(configs: Sequence[alter_configs.AlterableConfig], known: Configs) -> Configs:
    return {config.name: _required(config.name, config.value) for config in configs}


def _required(name: str, value: str | None) -> str:
    if value is None:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {name}")
    return value


def _changed(
    broker: "Broker", resource: incremental_alter_configs.AlterConfigsResource, known: Configs
) -> Configs:
    configs = dict(known)
    for change in resource.configs:
        operation = change.config_operation
        if operation == SET:
            configs[change.name] = _required(change.name, change.value)
        elif operation == DELETE:
            configs.pop(change.name, None)
        elif operation in (APPEND, SUBTRACT):
            configs[change.name] = _changed_list(broker, resource, change, configs)
        else:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown operation {operation} for {change.name}")
    return configs


def _changed_list(
    broker: "Broker",
    resource: incremental_alter_configs.AlterConfigsResource,
    change: incremental_alter_configs.AlterableConfig,
    configs: Configs,
) -> str:
    table = TABLES[resource.resource_type]
    if change.name not in table or table[change.name].kind is not Kind.LIST:
        word = "append" if change.config_operation == APPEND else "subtraction"
        raise ApiError(
            ErrorCode.INVALID_CONFIG, f"Config value {word} is not allowed for config key: {change.name}"
        )
    text = configs.get(change.name)
    if text is None:
        text = (
            broker.configs.default_of_topic(resource.resource_name, change.name)
            if resource.resource_type == TOPIC
            else broker.configs.default_of_broker(change.name)
        )
    items = [item for item in text.split(",") if item]
    given = dict.fromkeys(_required(change.name, change.value).split(","))
    if change.config_operation == APPEND:
        known = set(items)
        items += [item for item in given if item not in known]
    else:
        items = [item for item in items if item not in given]
    return ",".join(items)
