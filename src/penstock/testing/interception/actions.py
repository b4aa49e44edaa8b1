"""What becomes of a request that a rule takes."""

from collections.abc import Callable

from penstock.errors import ErrorCode
from penstock.testing.interception.exchange import Exchange
from penstock.testing.interception.rules import Action, Rule
from penstock.testing.interception.seen import SeenRequest
from penstock.wire.schema import ApiMessage


def answering_error(code: ErrorCode, message: str | None) -> Action:
    async def act(rule: Rule, exchange: Exchange) -> ApiMessage | None:
        return exchange.error(code, message)

    return act


def answering(function: Callable[[SeenRequest], ApiMessage | None]) -> Action:
    async def act(rule: Rule, exchange: Exchange) -> ApiMessage | None:
        return function(exchange.seen) or await exchange.handle()

    return act


def changing(function: Callable[[SeenRequest, ApiMessage], ApiMessage | None]) -> Action:
    async def act(rule: Rule, exchange: Exchange) -> ApiMessage | None:
        answer = await exchange.handle()
        return answer if answer is None else function(exchange.seen, answer) or answer

    return act


def delaying(seconds: float) -> Action:
    async def act(rule: Rule, exchange: Exchange) -> ApiMessage | None:
        await rule.hold(seconds)
        return await exchange.handle()

    return act


def dropping(*, handled: bool, silent: bool) -> Action:
    async def act(rule: Rule, exchange: Exchange) -> ApiMessage | None:
        if handled:
            await exchange.handle()
        if silent:
            await rule.hold(None)
        exchange.close()
        return None

    return act
