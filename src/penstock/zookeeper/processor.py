"""Frames to actions: the first frame of a connection opens or resumes a session, the others are requests.

Pure like the state it works on: time, session ids and passwords are arguments.
"""

from collections.abc import Callable
from typing import NamedTuple

from penstock.errors import ProtocolError
from penstock.zookeeper.decide import is_overdue
from penstock.zookeeper.handlers import HANDLERS, Call
from penstock.zookeeper.jute import JuteReader
from penstock.zookeeper.protocol import KeeperCode, KeeperError, OpCode
from penstock.zookeeper.sessions import Session, negotiate_timeout
from penstock.zookeeper.state import Client, ServerState
from penstock.zookeeper.tree import SessionRecord
from penstock.zookeeper.txn import CreateSessionTxn, DeleteTxn
from penstock.zookeeper.wire import (
    PASSWORD_BYTES,
    ConnectRequest,
    decode_connect,
    decode_request,
    encode_connect_response,
    encode_reply,
    is_known,
)

_FATAL_CODES = frozenset([KeeperCode.AUTH_FAILED, KeeperCode.UNIMPLEMENTED, KeeperCode.MARSHALLING_ERROR])


class Moment(NamedTuple):
    """Now, on both clocks."""

    monotonic_ms: int
    wall_clock_ms: int


class Processor:
    def __init__(
        self,
        state: ServerState,
        smallest_timeout_ms: int,
        largest_timeout_ms: int,
        next_session_id: int,
        new_password: Callable[[int], bytes],
    ) -> None:
        self.state = state
        self._smallest_timeout_ms = smallest_timeout_ms
        self._largest_timeout_ms = largest_timeout_ms
        self._next_session_id = next_session_id
        self._new_password = new_password

    def handle_frame(self, client: Client, frame: bytes, now: Moment) -> None:
        """Does what a frame asks. Raises `ProtocolError` if the connection is to be closed without an answer."""
        client.received += 1
        if client.session_id == 0:
            self._handle_connect(client, decode_connect(frame), now)
            return
        self.state.sessions.touch(client.session_id, now.monotonic_ms)
        reader = JuteReader(frame)
        xid, opcode = reader.int32(), reader.int32()
        code, body = self._execute(Call(self.state, client, opcode, now.wall_clock_ms), reader)
        self._note(client, opcode, xid)
        self.state.send(client, encode_reply(xid, self.state.tree.last_zxid, code, body))
        if opcode == OpCode.CLOSE_SESSION or code in _FATAL_CODES:
            self.state.end(client)

    def _execute(self, call: Call, reader: JuteReader) -> tuple[KeeperCode, bytes]:
        if not is_known(call.opcode):
            return KeeperCode.UNIMPLEMENTED, b""
        try:
            return KeeperCode.OK, HANDLERS[call.opcode](call, decode_request(call.opcode, reader))
        except KeeperError as error:
            return error.code, b""
        except ProtocolError:
            return KeeperCode.MARSHALLING_ERROR, b""

    def _note(self, client: Client, opcode: int, xid: int) -> None:
        client.last_opcode = opcode
        client.last_xid = xid
        client.last_zxid = self.state.tree.last_zxid

    def _handle_connect(self, client: Client, request: ConnectRequest, now: Moment) -> None:
        if request.last_zxid_seen > self.state.tree.last_zxid:
            raise ProtocolError(f"the client has seen zxid {request.last_zxid_seen:#x}, which is yet to come")
        timeout_ms = negotiate_timeout(
            request.timeout_ms, self._smallest_timeout_ms, self._largest_timeout_ms
        )
        session = (
            self._resume_session(request, timeout_ms)
            if request.session_id
            else self._open_session(timeout_ms, now)
        )
        if session is None:
            refusal = encode_connect_response(0, 0, bytes(PASSWORD_BYTES), request.has_read_only_flag)
            self.state.send(client, refusal)
            self.state.end(client)
            return
        self.state.attach(client, session)
        self.state.sessions.touch(session.session_id, now.monotonic_ms)
        self._note(client, OpCode.CREATE_SESSION, 0)
        response = encode_connect_response(
            timeout_ms, session.session_id, session.password, request.has_read_only_flag
        )
        self.state.send(client, response)

    def _open_session(self, timeout_ms: int, now: Moment) -> Session[Client]:
        session_id = self._next_session_id
        self._next_session_id += 1
        record = SessionRecord(timeout_ms, self._new_password(PASSWORD_BYTES))
        self.state.commit(CreateSessionTxn(session_id, *record), now.wall_clock_ms)
        return self.state.sessions.open(session_id, record, now.monotonic_ms)

    def _resume_session(self, request: ConnectRequest, timeout_ms: int) -> Session[Client] | None:
        session = self.state.sessions.find(request.session_id, request.password)
        if session is not None:
            session.timeout_ms = timeout_ms
        return session

    def expire_sessions(self, now: Moment) -> list[int]:
        """Closes the sessions whose time is up, with their connections."""
        expired = self.state.sessions.expired(now.monotonic_ms)
        for session_id in expired:
            session = self.state.sessions.get(session_id)
            self.state.close_session(session_id, now.wall_clock_ms)
            if session is not None and session.client is not None:
                self.state.end(session.client)
        return expired

    def delete_overdue_nodes(self, now: Moment) -> list[str]:
        """Deletes empty containers and nodes that have outlived their time to live."""
        tree = self.state.tree
        overdue = [path for path in tree.self_deleting() if is_overdue(tree.nodes[path], now.wall_clock_ms)]
        for path in overdue:
            self.state.commit(DeleteTxn(path), now.wall_clock_ms)
        return overdue
