"""A server that answers as the real one does, up to one message: from there on it lies, floods, or is silent."""

import random
import struct
import time

from proxies import Proxy


def message(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack("!I", len(content) + 4) + content


def row(values: list[bytes]) -> bytes:
    content = b"".join(struct.pack("!I", len(value)) + value for value in values)
    return message(b"D", struct.pack("!H", len(values)) + content)


DESCRIPTION = message(b"T", struct.pack("!H", 2) + 2 * (b"a\0" + struct.pack("!IHIhih", 0, 0, 17, -1, -1, 1)))
NOTICE = message(b"N", b"SNOTICE\0VNOTICE\0C00000\0M" + b"x" * 900 + b"\0\0")
WARNING = message(b"N", b"SWARNING\0VWARNING\0C01000\0Mlook\0\0")
SETTING = message(b"S", b"application_name\0" + b"y" * 900 + b"\0")
# For how long a server goes on that does not stop by itself, in seconds.
PATIENCE = 60


class Liar(Proxy):
    """Behaves as `lie` says once it is to pass on the server's message of this number."""

    LIES = ("rows", "large rows", "notices", "settings", "claim", "drip", "silence", "hang up", "drop", "repeat", "swap",
            "garbage", "warning", "early end", "restart")

    def __init__(self, cluster, generator: random.Random):
        self.lie, self.number = "", 0
        self.generator = generator
        self.held: bytes | None = None
        self.sent = 0
        super().__init__(cluster)

    def deliver(self, side, number, message, sink):
        if side == "client" or not self.lie or number < self.number:
            return sink.sendall(message)
        if self.held is not None:
            held, self.held = self.held, None
            return sink.sendall(message + held)
        if number > self.number:
            return sink.sendall(message)
        method = getattr(self, self.lie.replace(" ", "_"))
        return method(message, sink)

    def endless(self, sink, piece: bytes) -> None:
        piece *= max(1, (256 << 10) // len(piece))
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            sink.sendall(piece)
            self.sent += len(piece)

    def rows(self, message, sink):
        sink.sendall(DESCRIPTION)
        self.endless(sink, row([struct.pack("!Q", 1 << 40), b"x" * 8]))

    def large_rows(self, message, sink):
        sink.sendall(DESCRIPTION)
        self.endless(sink, row([struct.pack("!Q", 0), self.generator.randbytes(256 << 10)]))

    def notices(self, message, sink):
        self.endless(sink, NOTICE)

    def settings(self, message, sink):
        self.endless(sink, SETTING)

    def claim(self, message, sink):
        sink.sendall(self.generator.choice([b"D", b"T", b"d"]) + struct.pack("!I", (1 << 30) - 1) + b"\0\1")
        self.endless(sink, b"\0" * 4096)

    def drip(self, message, sink):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for byte in message or NOTICE:
                sink.sendall(bytes([byte]))
                time.sleep(0.01)
            message = NOTICE

    def silence(self, message, sink):
        time.sleep(PATIENCE)

    def hang_up(self, message, sink):
        raise ConnectionAbortedError

    def drop(self, message, sink):
        pass

    def repeat(self, message, sink):
        sink.sendall(message * self.generator.choice([2, 100]))

    def swap(self, message, sink):
        self.held = message

    def garbage(self, message, sink):
        sink.sendall(self.generator.randbytes(self.generator.choice([1, 100, 100_000])))

    def warning(self, message, sink):
        sink.sendall(WARNING + message)

    def early_end(self, content, sink):
        sink.sendall(message(b"Z", b"I") + content)

    def restart(self, content, sink):
        reason = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"
        sink.sendall(message(b"E", reason))
        raise ConnectionAbortedError
