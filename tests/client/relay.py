"""A way to a service that can be cut wherever a test wants it to be."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class Relay:
    """It listens, passes on what comes, and loses what it is told to lose."""

    listener: socket.socket
    target: int = 0
    tls: ssl.SSLContext | None = None
    losing: list[tuple[bytes, int | None]] = field(default_factory=list)
    seen: list[bytes] = field(default_factory=list)

    @property
    def port(self) -> int:
        return self.listener.getsockname()[1]

    def lose_answer(self, request: bytes, times: int = 1) -> None:
        """Lose the answers to the next requests that begin like this, once they were done."""
        self.losing += [(request, None)] * times

    def cut(self, request: bytes, after: int) -> None:
        """End the next connection whose request begins like this after so many bytes of it."""
        self.losing.append((request, after))

    def begun(self, request: bytes) -> int:
        """How many requests have begun like this."""
        return sum(one.startswith(request) for one in self.seen)

    def listen(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.pass_on, args=(client,), daemon=True).start()

    def pass_on(self, client: socket.socket) -> None:
        with suppress(OSError), ExitStack() as stack:
            stack.enter_context(client)
            if self.tls is not None:
                client = self.tls.wrap_socket(client, server_side=True)
                stack.enter_context(client)
            head = b""
            while b"\r\n\r\n" not in head:
                piece = client.recv(65536)
                if not piece:
                    return
                head += piece
            self.seen.append(head.split(b"\r\n")[0])
            lost = next((one for one in self.losing if head.startswith(one[0])), None)
            if lost is not None:
                self.losing.remove(lost)
            with socket.create_connection(("127.0.0.1", self.target)) as service:
                if lost is not None and lost[1] is not None:
                    service.sendall(head[: lost[1]])
                    return
                service.sendall(head)
                back = threading.Thread(target=_pump, args=(client, service), daemon=True)
                back.start()
                answer = b""
                while piece := service.recv(65536):
                    if lost is None:
                        client.sendall(piece)
                    answer += piece
                client.shutdown(socket.SHUT_RDWR)


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)


@contextmanager
def relay(tls: ssl.SSLContext | None = None) -> Iterator[Relay]:
    """A relay whose target is not known yet."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Relay(listener=listener, tls=tls)
        threading.Thread(target=made.listen, daemon=True).start()
        yield made
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


@dataclass
class Tunnel:
    """The proxy of a house: it makes the connections that it is asked for."""

    listener: socket.socket
    seen: list[bytes] = field(default_factory=list)

    @property
    def port(self) -> int:
        return self.listener.getsockname()[1]

    def listen(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.pass_on, args=(client,), daemon=True).start()

    def pass_on(self, client: socket.socket) -> None:
        with suppress(OSError), client:
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(65536)
            self.seen.append(head.split(b"\r\n")[0])
            target = self.seen[-1].split()[1].decode()
            with socket.create_connection(("127.0.0.1", int(target.rsplit(":", 1)[1]))) as there:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                threading.Thread(target=_pump, args=(client, there), daemon=True).start()
                _pump(there, client)


@contextmanager
def tunnel() -> Iterator[Tunnel]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Tunnel(listener=listener)
        threading.Thread(target=made.listen, daemon=True).start()
        yield made
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
