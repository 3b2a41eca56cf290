"""By what a release was made: shoal, Python and the libraries that compute."""

import platform
from importlib.metadata import PackageNotFoundError, version

import shoal

COMPUTING = ("numpy", "pyarrow", "numba", "scipy")


def made_by() -> dict[str, str]:
    """The version of each, where it has one."""
    found = {"shoal": shoal.__version__, "python": platform.python_version()}
    for package in COMPUTING:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # vendored or frozen builds carry no metadata
            continue
    return found
