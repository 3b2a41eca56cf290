"""Documents by several processes: the same files as by one, and nothing is left where one of them is killed."""

import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass

import pytest

import shoal
from shoal.engines.tasks import processes
from shoal.errors import DataError, OutputError
from tests.documents.mixed import kept_in, write_mixed


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """Looked through by this process."""
    place = tmp_path_factory.mktemp("jobs")
    shoal.detect_documents(write_mixed(place / "letters"), place / "case", drop=("room 3", "nowhere to be found"))
    return place / "case"


def test_two_processes_find_what_one_finds(case, tmp_path):
    drop = ("room 3", "nowhere to be found")
    found = shoal.detect_documents(case.parent / "letters", tmp_path / "case", drop=drop, workers=processes(2))
    assert found["documents"] == 11
    assert list(found["failed"]) == ["broken.docx"]
    assert found["unused"] == [2]
    assert kept_in(tmp_path / "case") == kept_in(case)


@pytest.mark.parametrize("names", ["number", "keep"])
def test_two_processes_write_what_one_writes(case, tmp_path, names):
    """Also where a document has changed, and where two would be called the same: the first in their order is written."""
    letters, held = tmp_path / "letters", tmp_path / "case"
    shutil.copytree(case.parent / "letters", letters)
    shoal.detect_documents(letters, held)
    (letters / "letter-2.txt").write_text("Something else.")
    one = shoal.redact_documents(held, tmp_path / "one", seed=3, names=names)
    two = shoal.redact_documents(held, tmp_path / "two", seed=3, names=names, workers=processes(2))
    assert set(one.failed) == {"letter-2.txt"} | ({"page.html"} if names == "keep" else set())
    assert list(one.failed) == list(two.failed)
    assert two.failed["letter-2.txt"] == one.failed["letter-2.txt"]
    assert kept_in(tmp_path / "two") == kept_in(tmp_path / "one")
    first, second = sorted((held / "private" / "redactions").iterdir())
    assert (first / "map.json").read_bytes() == (second / "map.json").read_bytes()


def test_rows_of_a_table_are_looked_through_by_two_processes(tmp_path):
    table = tmp_path / "notes.csv"
    table.write_text("note\n" + "".join(f"Dear Maria Gonzalez {number}\n" for number in range(20)))
    shoal.detect_documents(table, tmp_path / "one", column="note")
    shoal.detect_documents(table, tmp_path / "two", column="note", workers=processes(2))
    assert kept_in(tmp_path / "one") == kept_in(tmp_path / "two")


def test_one_file_that_cannot_be_read_is_an_error_as_before(case, tmp_path):
    with pytest.raises(DataError, match="broken"):
        shoal.detect_documents(case.parent / "letters" / "broken.docx", tmp_path / "case", workers=processes(2))


# ---- faults -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Deadly:
    """A task that kills its process at the fifth document."""

    task: Callable
    name: str = "letter-2.txt"

    def __call__(self, item):
        if getattr(item, "name", item) == self.name:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.task(item)


def killed(task, items):
    return processes(2)(Deadly(task), items)


def test_a_killed_process_leaves_nothing_behind(case, tmp_path):
    shutil.copytree(case, tmp_path / "case")
    before = kept_in(tmp_path)
    with pytest.raises(OutputError, match=r"was killed, .* Nothing was written"):
        shoal.detect_documents(case.parent / "letters", tmp_path / "new", workers=killed)
    with pytest.raises(OutputError, match=r"was killed, .* Nothing was written"):
        shoal.redact_documents(tmp_path / "case", tmp_path / "out", workers=killed)
    assert kept_in(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["case"]
    assert multiprocessing.active_children() == []


def test_who_stops_early_leaves_nobody_at_work(case, tmp_path):
    from shoal.documents.case import Settings
    from shoal.runs.documents import detect_to_case

    def impatient(what, done, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        detect_to_case(Settings(source=str(case.parent / "letters")), tmp_path / "new", impatient, processes(2))
    assert list(tmp_path.iterdir()) == []
    assert multiprocessing.active_children() == []


def test_what_comes_back_is_in_order_and_little_is_sent_ahead():
    sent = []

    def numbers():
        for number in range(40):
            sent.append(number)
            yield -number

    with processes(2)(abs, numbers()) as found:
        assert next(found) == 0
        assert len(sent) < 15
        assert list(found) == list(range(1, 40))
