"""A connection that knows which versions its broker speaks, and who it speaks for."""

from __future__ import annotations

from typing import TypeVar

from penstock.errors import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.frames import decode_response_frame, encode_request_frame
from penstock.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from penstock.wire.schema import ApiMessage
from penstock.wire_client.config import ClusterConfig
from penstock.wire_client.errors import UnsupportedVersionError, raise_for
from penstock.wire_client.network import Address, Channel, Network

A = TypeVar("A", bound=ApiMessage)

SOFTWARE_NAME = "penstock"


class Connection:
    def __init__(self, channel: Channel, address: Address, config: ClusterConfig) -> None:
        self.address = address
        self.api_versions = ApiVersionsResponse()
        self.is_closed = False
        self._channel = channel
        self._config = config
        self._versions: dict[int, tuple[int, int]] = {}
        self._correlation_id = 0

    @classmethod
    async def open(cls, network: Network, address: Address, config: ClusterConfig) -> Connection:
        security = config.security
        timeout = config.connection_setup_timeout_ms / 1000
        channel = await network.connect(
            address, timeout, security.tls_context(), address.host if security.uses_tls else None
        )
        connection = cls(channel, address, config)
        try:
            await connection._learn_versions()
            if security.uses_sasl:
                from penstock.wire_client.authentication import authenticate

                await authenticate(connection, security)
        except BaseException:
            connection.close()
            raise
        return connection

    async def _learn_versions(self) -> None:
        request = ApiVersionsRequest(SOFTWARE_NAME, _software_version())
        answer = await self._exchange(request, ApiVersionsResponse, ApiVersionsRequest.VERSIONS[1])
        if answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
            answer = await self._exchange(request, ApiVersionsResponse, 0)
        raise_for(answer.error_code)
        self.api_versions = answer
        self._versions = {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}

    def newest_version(self, message: type[ApiMessage], at_most: int | None = None) -> int:
        """The newest version that both sides have."""
        theirs = self._versions.get(message.API_KEY)
        name = ApiKey(message.API_KEY).name
        if theirs is None:
            raise UnsupportedVersionError(f"The node does not support {name}", ErrorCode.UNSUPPORTED_VERSION)
        ours_first, ours_last = message.VERSIONS
        newest = min(theirs[1], ours_last if at_most is None else min(at_most, ours_last))
        if newest < max(theirs[0], ours_first):
            raise UnsupportedVersionError(
                f"The node does not support {name} with version in range [{ours_first},{ours_last}]. "
                f"The supported range is [{theirs[0]},{theirs[1]}].",
                ErrorCode.UNSUPPORTED_VERSION,
            )
        return newest

    async def ask(
        self,
        request: ApiMessage,
        answer: type[A],
        *,
        at_most: int | None = None,
        timeout_ms: int | None = None,
    ) -> A:
        return await self._exchange(request, answer, self.newest_version(type(request), at_most), timeout_ms)

    async def _exchange(
        self, request: ApiMessage, answer: type[A], version: int, timeout_ms: int | None = None
    ) -> A:
        self._correlation_id += 1
        frame = encode_request_frame(request, version, self._correlation_id, self._config.client_id)
        timeout = (self._config.request_timeout_ms if timeout_ms is None else timeout_ms) / 1000
        try:
            body = await self._channel.exchange(frame, timeout)
        except BaseException:
            self.close()
            raise
        return _decoded(answer, version, body)

    def close(self) -> None:
        self.is_closed = True
        self._channel.close()


def _decoded(answer: type[A], version: int, body: memoryview) -> A:
    if answer is ApiVersionsResponse and int.from_bytes(body[4:6], "big") == ErrorCode.UNSUPPORTED_VERSION:
        version = 0  # a broker that lacks the version answers in the oldest one
    message = decode_response_frame(answer, version, body)[1]
    assert isinstance(message, answer)
    return message


def _software_version() -> str:
    from penstock import __version__

    return __version__
