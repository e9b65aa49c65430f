"""A service that is killed and started again; and workers that wait until they may go on."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from fairpool.compute.files import make_private_folder
from fairpool.consortium.rounds.releasing import one_at_a_time
from tests.server.browser.people import Viewer
from tests.server.served import Served, served


@dataclass(kw_only=True)
class Kept:
    """A service on a folder, at one address for as long as this lasts.

    Attributes:
        folder: Where everything is kept.
        more: Arguments of `fairpool serve`.
        now: The one that runs.
    """

    folder: Path
    more: tuple[str, ...]
    now: Served
    stack: ExitStack

    @property
    def address(self) -> str:
        """Where it is."""
        return self.now.address

    def kill(self, *viewers: Viewer, with_workers: bool) -> None:
        """End it by kill -9, and start it again.

        Args:
            viewers: Who looks; that nobody answered meanwhile is no fault of a page.
            with_workers: Whether they die with it; otherwise each gives back what it has.
        """
        if with_workers:
            self.now.kill()
        else:
            self.now.process.kill()
            self.now.process.wait(60)
        again = served(self.folder, *self.more, "--port", str(self.now.port))
        self.now = self.stack.enter_context(again)
        for viewer in viewers:
            viewer.forget()

    @contextmanager
    def nobody_computes(self, path: str) -> Iterator[None]:
        """For as long as this lasts, workers wait as if another program worked on the folder.

        Args:
            path: Of a page of the collaboration.
        """
        collaboration = self.folder / "collaborations" / path.split("/")[2]
        make_private_folder(collaboration)
        with one_at_a_time(collaboration):
            yield


@contextmanager
def kept(folder: Path, *more: str) -> Iterator[Kept]:
    """A service that can be killed.

    Args:
        folder: Where everything is kept.
        more: Arguments of `fairpool serve`.
    """
    with ExitStack() as stack:
        first = stack.enter_context(served(folder, *more))
        yield Kept(folder=folder, more=more, now=first, stack=stack)
