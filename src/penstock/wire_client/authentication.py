"""SASL over a connection: the handshake names the mechanism, then its conversation goes on until it is done."""

from penstock.errors import ErrorCode
from penstock.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from penstock.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from penstock.wire_client.connection import Connection
from penstock.wire_client.errors import raise_for
from penstock.wire_client.sasl import conversation
from penstock.wire_client.security import Security


async def authenticate(connection: Connection, security: Security) -> None:
    handshake = await connection.ask(SaslHandshakeRequest(security.mechanism), SaslHandshakeResponse)
    if handshake.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        takes = ", ".join(handshake.mechanisms)
        raise_for(
            handshake.error_code,
            f"sasl.mechanism: got {security.mechanism}, {connection.address} takes {takes}",
        )
    raise_for(handshake.error_code)
    talk = conversation(security)
    say = next(talk)
    while True:
        answer = await connection.ask(SaslAuthenticateRequest(say), SaslAuthenticateResponse)
        raise_for(answer.error_code, answer.error_message)
        try:
            say = talk.send(bytes(answer.auth_bytes))
        except StopIteration:
            return
