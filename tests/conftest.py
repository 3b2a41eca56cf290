"""One sweep of generated cases for everybody: the same on every run, so that a failure can be repeated. Wider sweeps: --hypothesis-profile=wide."""

from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("wide", max_examples=2000, deadline=None)
settings.load_profile("steady")
