"""How many examples hypothesis draws: a hundred, always the same; many more, and others each time, in `make soak`."""

from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("soak", settings.get_profile("default"), max_examples=2000, derandomize=False)
settings.load_profile("default")  # pytest --hypothesis-profile takes another one later
