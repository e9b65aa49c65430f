"""How many examples hypothesis draws: a hundred of each kind, always the same; in `make soak` many more, and others."""

import os

from hypothesis import HealthCheck, settings

SOAK_EXAMPLES = 2000

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("soak", settings.get_profile("default"), max_examples=SOAK_EXAMPLES, derandomize=False)
settings.load_profile(os.environ.get("FAIRPOOL_TEST_PROFILE", "default"))
