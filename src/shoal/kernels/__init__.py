"""Compiled kernels: numpy and numba only, no Table.

numba caches compiled code per source file and looks at that file alone: code that was compiled against another kernel, since changed, would
still be loaded. So a kernel's cache is emptied when it, or a kernel it imports, is not what the cache was made from.
"""

import re
from pathlib import Path

_IMPORT = re.compile(r"^\s*(?:from|import) shoal\.kernels(?:\.(\w+)| import (.+))", re.MULTILINE)


def _forget_stale_code(folder: Path) -> None:
    cache = folder / "__pycache__"
    mark = cache / "kernels.stamp"
    try:
        sources = sorted(folder.glob("*.py"))
        stamps = {path.stem: f"{path.stem} {path.stat().st_mtime_ns} {path.stat().st_size}" for path in sources}
        before = mark.read_text().split("\n") if mark.exists() else []
        now = list(stamps.values())
        if before == now:
            return
        stale = {name for name, stamp in stamps.items() if stamp not in before}
        imported = {path.stem: set(re.findall(r"\w+", " ".join(map(" ".join, _IMPORT.findall(path.read_text()))))) for path in sources}
        while more := {name for name in stamps if name not in stale and imported[name] & stale}:
            stale |= more
        for name in stale:
            for old in cache.glob(f"{name}.*.nb[ic]"):
                old.unlink(missing_ok=True)
        cache.mkdir(exist_ok=True)
        mark.write_text("\n".join(now))
    except OSError:  # a read-only installation, whose sources do not change either
        return


_forget_stale_code(Path(__file__).parent)
