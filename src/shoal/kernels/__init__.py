"""Compiled kernels: numpy and numba only, no Table.

numba caches compiled code per source file and looks at that file alone: code that was compiled against another kernel, since changed, would
still be loaded. So when any kernel's source is not the one the cache was made from, the cache is emptied.
"""

from pathlib import Path


def _forget_stale_code(folder: Path) -> None:
    sources = sorted(folder.glob("*.py"))
    stamp = "\n".join(f"{path.name} {path.stat().st_mtime_ns} {path.stat().st_size}" for path in sources)
    cache = folder / "__pycache__"
    mark = cache / "kernels.stamp"
    try:
        if mark.exists() and mark.read_text() == stamp:
            return
        for old in cache.glob("*.nb[ic]"):
            old.unlink(missing_ok=True)
        cache.mkdir(exist_ok=True)
        mark.write_text(stamp)
    except OSError:  # a read-only installation, whose sources do not change either
        return


_forget_stale_code(Path(__file__).parent)
