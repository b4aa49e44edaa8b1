"""Everything a running server knows, and the two ways in which it speaks: to the journal and to its clients.

Nothing here waits. A request is executed in memory at once and leaves its traces in the current `Batch`: the
transactions to journal, and the frames to send. The shell takes the batch, makes the transactions durable and only
then sends the frames. Since batches are released in the order in which they were filled, three things follow:

- nobody hears of a write that a crash could undo, neither through the answer to it, nor through a watch, nor through
  a read, whose answer waits in the same batch as the write it has seen or in a later one;
- each client gets its answers in the order of its requests;
- a client hears of a change through its watch before it can read the change.
"""

from dataclasses import dataclass, field

from penstock.zookeeper.acl import Identity, is_permitted
from penstock.zookeeper.decide import Caller
from penstock.zookeeper.protocol import Permission
from penstock.zookeeper.sessions import Session, Sessions
from penstock.zookeeper.tree import Tree
from penstock.zookeeper.txn import CloseSessionTxn, Txn, TxnRecord, encode_record
from penstock.zookeeper.watches import Watches
from penstock.zookeeper.wire import encode_event


class Client:
    """One connection, as the state sees it."""

    def __init__(self, host: str, port: int, connected_at_ms: int) -> None:
        self.host = host
        self.port = port
        self.connected_at_ms = connected_at_ms
        self.identities = frozenset([Identity("ip", host)])
        self.session_id = 0
        self.ended = False
        self.received = 0
        self.sent = 0
        self.last_opcode = 0
        self.last_xid = 0
        self.last_zxid = 0

    @property
    def caller(self) -> Caller:
        return Caller(self.session_id, self.identities)


@dataclass(slots=True)
class Batch:
    """What the requests of a while have led to, to be journalled and then sent."""

    records: list[bytes] = field(default_factory=list)
    last_zxid: int = 0
    frames: dict[Client, list[bytes]] = field(default_factory=dict)
    closing: dict[Client, None] = field(default_factory=dict)
    opened_at_ms: int = 0
    size: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.records or self.frames or self.closing)


class ServerState:
    def __init__(self, tree: Tree, now_ms: int) -> None:
        """`now_ms`, here and below, is monotonic unless a name says otherwise."""
        self.tree = tree
        self.watches: Watches[Client] = Watches()
        self.sessions: Sessions[Client] = Sessions()
        self.clients: dict[Client, None] = {}
        self.batch = Batch(last_zxid=tree.last_zxid)
        for session_id, record in tree.sessions.items():
            self.sessions.open(session_id, record, now_ms)

    def take_batch(self) -> Batch:
        taken, self.batch = self.batch, Batch(last_zxid=self.tree.last_zxid)
        taken.last_zxid = self.tree.last_zxid
        return taken

    def send(self, client: Client, frame: bytes) -> None:
        if not client.ended:
            self.batch.frames.setdefault(client, []).append(frame)
            self.batch.size += len(frame)

    def end(self, client: Client) -> None:
        """Nothing more is taken from or sent to the client; its connection closes after what is already said."""
        if not client.ended:
            client.ended = True
            self.batch.closing[client] = None
            self.forget(client)

    def forget(self, client: Client) -> None:
        """The connection is gone; the session stays until it expires or comes back."""
        client.ended = True
        self.clients.pop(client, None)
        self.watches.remove_watcher(client)
        session = self.sessions.get(client.session_id)
        if session is not None and session.client is client:
            session.client = None

    def attach(self, client: Client, session: Session[Client]) -> None:
        if session.client is not None:
            self.end(session.client)
        session.client = client
        client.session_id = session.session_id

    def commit(self, txn: Txn, wall_clock_ms: int) -> None:
        """Applies a transaction, tells its watchers, and puts it down for the journal."""
        record = TxnRecord(self.tree.last_zxid + 1, wall_clock_ms, txn)
        encoded = encode_record(record)
        self.batch.records.append(encoded)
        self.batch.size += len(encoded)
        for event in self.tree.replay(record):
            for notification in self.watches.trigger(event):
                watcher = notification.watcher
                if is_permitted(notification.acl, Permission.READ, watcher.identities):
                    self.send(watcher, encode_event(notification.kind, notification.path, record.zxid))

    def close_session(self, session_id: int, wall_clock_ms: int) -> None:
        """Ends a session with all its ephemeral nodes, on the client's wish or because it has expired."""
        self.commit(CloseSessionTxn(session_id, self.tree.ephemerals(session_id)), wall_clock_ms)
        self.sessions.close(session_id)
