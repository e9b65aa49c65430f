"""Of `web/watching.py`: what whatever watches the service asks for."""

from tests.server.lines.line import line
from tests.server.world import NOBODY, SIGNED_IN

LINES = {
    "GET /healthz": line([NOBODY, *SIGNED_IN], for_all=True),
    # There is no worker in this world.
    "GET /readyz": line([NOBODY, *SIGNED_IN], 503, for_all=True),
    # Nobody here asks from the service's own machine.
    "GET /metrics": line([NOBODY, *SIGNED_IN], 404, for_all=True),
}
