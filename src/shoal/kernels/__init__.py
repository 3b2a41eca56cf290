"""Compiled kernels: numpy and numba only, no Table.

numba caches compiled code per source file and looks at that file alone: code that was compiled against another kernel, since changed, would
still be loaded. So a kernel's cache is emptied when it, or a kernel it imports, is not what the cache was made from.
"""

import re
from pathlib import Path

_IMPORT = re.compile(r"^\s*(?:from|import) shoal\.kernels([\w.]*)(?: import ([^#\n]+))?", re.MULTILINE)


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
    except OSError:  # a read-only installation, whose sources do not change either
        return


def _imported(text: str) -> set[str]:
    """The kernels a file imports, as room.kernel; `from shoal.kernels.room import kernel` names one, too."""
    found = set()
    for dotted, names in _IMPORT.findall(text):
        module = dotted.strip(".")
        found |= {module, *(f"{module}.{name}".strip(".") for name in re.findall(r"\w+", names))}
    return found


_forget_stale_code(Path(__file__).parent)
