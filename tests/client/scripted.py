"""Something that listens where a service should be, and answers what a test wants."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

import fairpool as fp

TOKEN = "fp_" + "t" * 43


@dataclass
class Scripted:
    """It gives each connection the next answer; None: it ends it without a word."""

    listener: socket.socket
    port: int
    answers: list[bytes | None]
    heads: list[bytes] = field(default_factory=list)
    received: int = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> fp.Client:
        made = fp.Client(self.address, TOKEN)
        made.connection = replace(made.connection, pauses=(0.01, 0.01))
        return made

    def listen(self) -> None:
        for answer in self.answers:
            connection, _ = self.listener.accept()
            with suppress(OSError), connection:
                self._read(connection)
                if answer is not None:
                    connection.sendall(answer)
        self.listener.close()

    def _read(self, connection: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(65536)
        head, _, body = head.partition(b"\r\n\r\n")
        self.heads.append(head)
        length = 0
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b": ")
            if name.lower() == b"content-length":
                length = int(value)
        self.received = len(body)
        while self.received < length:
            self.received += len(connection.recv(1 << 20))


def said(status: str, body: bytes | str = b"", *heads: str) -> bytes:
    """An answer of HTTP."""
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", *heads, "", ""]
    return "\r\n".join(lines).encode() + content


@contextmanager
def scripted(*answers: bytes | None) -> Iterator[Scripted]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Scripted(listener=listener, port=listener.getsockname()[1], answers=list(answers))
        thread = threading.Thread(target=made.listen, daemon=True)
        thread.start()
        yield made
