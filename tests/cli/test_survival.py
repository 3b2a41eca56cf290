"""What is on the disk when a run ends, and in which order it got there: files before their folder, what is private before what is public."""

import errno
import os
import stat

import pytest

from shoal import folders
from tests.cli.conftest import ROLES, check_folder, listing

MDAV = ("-m", "mdav", "-p", "k=3")


@pytest.fixture
def done(monkeypatch):
    """What a command tells the disk, in order: fsync of a path, and moves to one."""
    said: list[tuple[str, str]] = []
    fsync, rename, exchange = os.fsync, os.rename, folders._renameat2

    def told(handle):
        said.append(("fsync", os.readlink(f"/proc/self/fd/{handle}")))
        fsync(handle)

    def moved(old, new, **how):
        rename(old, new, **how)
        said.append(("move", str(new)))

    def exchanged(one, other):
        there = exchange(one, other)
        said.append(("move", str(other)))
        return there

    monkeypatch.setattr(os, "fsync", told)
    monkeypatch.setattr(os, "rename", moved)
    monkeypatch.setattr(folders, "_renameat2", exchanged)
    return said


needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not say which file a number is")


@needs_proc
@pytest.mark.parametrize("verb", ["protect", "report"])
def test_a_folder_is_on_the_disk_before_it_is_in_its_place(shoal, table, desk, done, verb):
    run = desk / "run"
    assert shoal("protect", table, *ROLES, *MDAV, "-o", run).code == 0
    if verb == "report":
        done.clear()
        assert shoal("report", run).code == 0
    move = done.index(("move", str(run)))
    before = [path for what, path in done[:move] if what == "fsync"]
    written = {"certificate.json", "report.html", "private/report.html"}
    written |= {"release.csv", "recipe.toml", "private/run.json", "private/source_rows.npy"} if verb == "protect" else set()
    for name in sorted(written):
        assert any(path.endswith(f"/run/{name}") for path in before), f"{name} was not told to the disk"
    for folder in ("/run", "/run/private"):
        assert any(path.endswith(folder) for path in before)
    assert ("fsync", str(desk)) in done[move:], "the new name is on the disk, too"


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_modes_are_set_whatever_the_umask(shoal, table, desk, umask):
    before = os.umask(umask)
    try:
        assert shoal("protect", table, *ROLES, *MDAV, "-o", desk / "run").code == 0
        assert shoal("report", desk / "run").code == 0
    finally:
        os.umask(before)
    check_folder(desk / "run")
    for path in [desk / "run", *(desk / "run").rglob("*")]:
        private = "private" in path.relative_to(desk).parts
        right = (0o700 if private else 0o755) if path.is_dir() else (0o600 if private else 0o644)
        assert stat.S_IMODE(path.stat().st_mode) == right, path.name


def test_a_report_that_fails_leaves_the_old_one_whole(shoal, table, desk, monkeypatch):
    assert shoal("protect", table, *ROLES, *MDAV, "-o", desk / "run").code == 0
    recipe = desk / "run" / "recipe.toml"
    recipe.write_text('name = "Patients, named anew"\n' + recipe.read_text())
    before, at, count = listing(desk), 0, 0

    def full(handle, real=os.fsync):
        nonlocal count
        count += 1
        if count == at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    while True:
        at, count = at + 1, 0
        ran = shoal("report", desk / "run")
        if count < at:  # every one has failed once
            break
        assert ran.code == 2, at
        assert "the disk is full" in ran.err
        assert "What was there still is" in ran.err
        assert listing(desk) == before, at
    assert ran.code == 0
    assert at > 5
    changed = {name for name, raw in listing(desk).items() if before.get(name) != raw}
    assert changed == {"run/certificate.json", "run/report.html", "run/private/report.html"}
    assert shoal("verify", desk / "run", desk / "run" / "certificate.json").code == 0


@needs_proc
def test_who_is_behind_the_numbers_is_kept_before_anything_leaves(shoal, desk, done, monkeypatch):
    (desk / "letters").mkdir()
    (desk / "letters" / "a.txt").write_text("Dear Mr Robert Brown, Alice Zimmerwald has written.")
    assert shoal("documents", "detect", desk / "letters", "-o", desk / "case").code == 0
    kept, out = desk / "case" / "private" / "redactions", desk / "out"
    rename = os.rename

    def no(old, new, **how):
        if str(new) == str(out):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rename(old, new, **how)

    with monkeypatch.context() as broken:
        broken.setattr(os, "rename", no)
        ran = shoal("documents", "redact", desk / "case", "-o", out)
    assert ran.code == 2
    assert not out.exists()
    assert not list(kept.iterdir()), "what never left needs no key"
    done.clear()
    assert shoal("documents", "redact", desk / "case", "-o", out).code == 0
    moves = [path for what, path in done if what == "move"]
    (first,) = kept.iterdir()
    assert moves.index(str(first)) < moves.index(str(out))
    assert {path.name for path in first.iterdir()} == {"map.json", "written.json", "report.html"}
    assert ("fsync", str(kept)) in done[: done.index(("move", str(out)))]
