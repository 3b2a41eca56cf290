"""Compiled kernels: numbers in, numbers out; no Table.

numba caches compiled code per source file and looks at that file alone: code that was compiled against another kernel, since changed, would
still be loaded. So a kernel's cache is emptied when it, or a kernel it imports, is not what the cache was made from. Where shoal is installed
read-only the code is kept in a folder named after all kernels at once: in the user's cache, or for want of a home in a temporary folder.
"""

import hashlib
import os
import re
import stat
import sys
import tempfile
from pathlib import Path

_IMPORT = re.compile(r"^\s*(?:from|import) shoal\.kernels([\w.]*)(?: import ([^#\n]+))?", re.MULTILINE)


def _prepare_cache(folder: Path) -> None:
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    if _writable(folder):
        _forget_stale_code(folder)
        return
    elsewhere = str(_cache_elsewhere(folder))
    os.environ["NUMBA_CACHE_DIR"] = elsewhere  # numba reads it when it is imported, and so do further processes
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = elsewhere


def _writable(folder: Path) -> bool:
    """Whether numba can put compiled code beside every kernel."""
    rooms = {path.parent for path in folder.rglob("*.py")}
    return all(os.access(cache if (cache := room / "__pycache__").exists() else room, os.W_OK) for room in rooms)


def _cache_elsewhere(folder: Path) -> Path:
    """A folder of the user's own that holds code of exactly these kernels; loading code that others could write would be running it."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))).hexdigest()[:16]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path(os.path.expanduser("~"), ".cache"), "shoal")
    if home.is_absolute() and _own(home) and _own(home / digest):
        return home / digest
    place = Path(tempfile.gettempdir()) / f"shoal-{os.getuid() if hasattr(os, 'getuid') else 'kernels'}-{digest}"
    known = place.exists()
    if not _own(place):  # somebody else has made it
        known, place = False, Path(tempfile.mkdtemp(prefix="shoal-"))
    if not known:
        sys.stderr.write(
            f"Neither shoal's folder nor a home can be written, so compiled code is kept in {place}. "
            "Set NUMBA_CACHE_DIR to a folder that stays, or it is compiled again when that one is gone.\n"
        )
    return place


def _own(folder: Path) -> bool:
    """Make the folder, or see that it is the user's own and nobody else can write there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    mine = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
    return stat.S_ISDIR(found.st_mode) and mine and os.access(folder, os.W_OK)


def _forget_stale_code(folder: Path) -> None:
    mark = folder / "__pycache__" / "kernels.stamp"
    try:
        sources = {".".join(path.relative_to(folder).with_suffix("").parts): path for path in sorted(folder.rglob("*.py"))}
        stamps = {name: f"{name} {path.stat().st_mtime_ns} {path.stat().st_size}" for name, path in sources.items()}
        before = mark.read_text().split("\n") if mark.exists() else []
        now = list(stamps.values())
        if before == now:
            return
        stale = {name for name, stamp in stamps.items() if stamp not in before}
        imported = {name: _imported(path.read_text()) for name, path in sources.items()}
        while more := {name for name in stamps if name not in stale and imported[name] & stale}:
            stale |= more
        for name in stale:
            for old in (sources[name].parent / "__pycache__").glob(f"{sources[name].stem}.*.nb[ic]"):
                old.unlink(missing_ok=True)
        mark.parent.mkdir(exist_ok=True)
        mark.write_text("\n".join(now))
    except OSError:  # another process is at it, or the disk is full: numba will say so
        return


def _imported(text: str) -> set[str]:
    """The kernels a file imports, as room.kernel; `from shoal.kernels.room import kernel` names one, too."""
    found = set()
    for dotted, names in _IMPORT.findall(text):
        module = dotted.strip(".")
        found |= {module, *(f"{module}.{name}".strip(".") for name in re.findall(r"\w+", names))}
    return found


_prepare_cache(Path(__file__).parent)
