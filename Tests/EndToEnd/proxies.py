"""A proxy between the command and a PostgreSQL server that counts messages, keeps them, or cuts the connection.

Messages are those of PostgreSQL's frontend/backend protocol, version 3 (its documentation, chapter 55).
"""

import socket
import threading

from postgres import database_url, free_port


def stop_accepting(listener, thread):
    """Closes a listener once the thread that waits for its connections has ended. Otherwise the thread waits on: a
    signal, as os.seteuid sends to all threads, lets it try again, and take what connects to the next socket that has
    the same number."""
    listener.shutdown(socket.SHUT_RDWR)
    thread.join(10)
    listener.close()


class Proxy:
    """Forwards to a cluster's socket. `cut` is (side, number): the connection is cut before that message of a side, the
    client's or the server's, is passed on."""

    def __init__(self, cluster):
        self.target = str(cluster.folder / f".s.PGSQL.{cluster.port}")
        self.cluster = cluster
        self.port = free_port()
        self.cut = None
        # Whether no connection is accepted after the next cut.
        self.isAwayAfterCut = False
        self.connections = 0
        self.cuts = 0
        self.bytes = bytearray()
        self.messages = []
        self._lock = threading.Lock()
        self.open()

    def url(self, vault="team", **options):
        return database_url(vault, "vault", "127.0.0.1", self.port, {"sslmode": "disable", **options})

    def forget(self):
        with self._lock:
            self.messages, self.connections, self.cuts = [], 0, 0
            self.bytes.clear()

    @property
    def flights(self):
        """How often the client has waited for the server, once it was connected: the number of its Sync messages."""
        return self.messages.count(("client", "S"))

    def open(self):
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def deliver(self, side, number, message, sink):
        """Passes a message on, the first of a side having the number 0."""
        sink.sendall(message)

    def close(self):
        stop_accepting(self._listener, self._accepting)

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.isAwayAfterCut and self.cuts:
                client.close()
                continue
            self.connections += 1
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.target)
            except OSError:
                # The server is away.
                client.close()
                continue
            state = {"client": 0, "server": 0}
            for side, source, sink in (("client", client, server), ("server", server, client)):
                threading.Thread(target=self._forward, args=(side, source, sink, state), daemon=True).start()

    def _forward(self, side, source, sink, state):
        # The client's first message has no type.
        pending, isTyped = b"", side == "server"
        try:
            while data := source.recv(1 << 16):
                with self._lock:
                    self.bytes += data
                pending += data
                while True:
                    start = 1 if isTyped else 0
                    if len(pending) < start + 4:
                        break
                    length = start + int.from_bytes(pending[start:start + 4], "big")
                    if len(pending) < length:
                        break
                    kind = pending[:1].decode() if isTyped else "startup"
                    message, pending, isTyped = pending[:length], pending[length:], True
                    with self._lock:
                        self.messages.append((side, kind))
                        isCut = self.cut == (side, state[side])
                        if isCut:
                            self.cut = None
                            self.cuts += 1
                    state[side] += 1
                    if isCut:
                        raise ConnectionAbortedError
                    self.deliver(side, state[side] - 1, message, sink)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
