import socket
from pathlib import Path

import pytest

from fairpool.errors import DataError
from fairpool.server.running import Running


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def test_a_service_that_cannot_be_prepared_does_not_go_on_listening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRPOOL_DATABASE", "postgresql://pool@127.0.0.1:1/pool")
    port = free_port()
    with pytest.raises(DataError, match="FAIRPOOL_DATABASE") as refused:
        Running.prepare(
            tmp_path / "p", host="127.0.0.1", port=port, address=None, is_insecure=False
        )
    # The error still refers to where it was raised, and so to all that was opened there.
    assert refused.traceback
    socket.create_server(("127.0.0.1", port)).close()


def test_a_demonstration_that_cannot_be_prepared_does_not_go_on_listening(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("something else")
    port = free_port()
    with pytest.raises(DataError, match="holds something else") as refused:
        Running.prepare_demo(tmp_path, host="127.0.0.1", port=port)
    assert refused.traceback
    socket.create_server(("127.0.0.1", port)).close()
