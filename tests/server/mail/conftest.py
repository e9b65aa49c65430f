from tests.server.work.conftest import without_pictures

__all__ = ["without_pictures"]
