"""A pytest plug-in for `make check`: tests that would begin after so many seconds are left to `make test`, and counted as skipped."""

import time

import pytest

SECONDS = 20
BEGUN = time.monotonic()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if time.monotonic() - BEGUN > SECONDS:
        pytest.skip(f"{SECONDS} seconds are over: left to make test")
