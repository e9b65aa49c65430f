"""How all tests are run: how many examples hypothesis draws, and what coverage looks at."""

import os

from hypothesis import HealthCheck, settings

# A hundred examples, always the same; in `make soak` many more, and others each time (pytest
# --hypothesis-profile).
settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile(
    "soak", settings.get_profile("default"), max_examples=2000, derandomize=False
)
settings.load_profile("default")

# Coverage measures the workers that run the tests, but not the processes that these start: it would
# make them half as slow again, those that are killed tell it nothing, and the command is tested in
# the workers themselves.
if "PYTEST_XDIST_WORKER" in os.environ:
    for name in ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"):
        os.environ.pop(name, None)
