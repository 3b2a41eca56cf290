"""The same plan on Spark: every file as by one process."""

import shutil
from importlib.util import find_spec

import pytest

import shoal
from shoal.engines.spark import session_at
from shoal.engines.tasks import spark
from tests.documents.mixed import kept_in, write_mixed

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(find_spec("pyspark") is None, reason="pyspark is not installed: pip install 'shoal[spark]'"),
    pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java"),
]


def test_spark_finds_and_writes_what_one_process_does(tmp_path):
    letters = write_mixed(tmp_path / "letters")
    shoal.detect_documents(letters, tmp_path / "case")
    shoal.redact_documents(tmp_path / "case", tmp_path / "out", seed=3, names="keep")
    with session_at("local[2]") as session:
        found = shoal.detect_documents(letters, tmp_path / "case on spark", workers=spark(session.sparkContext))
        redacted = shoal.redact_documents(
            tmp_path / "case", tmp_path / "out of spark", seed=3, names="keep", workers=spark(session.sparkContext)
        )
    assert list(found["failed"]) == ["broken.docx"]
    assert list(redacted.failed) == ["page.html"]
    assert kept_in(tmp_path / "out of spark") == kept_in(tmp_path / "out")
    on_spark, here = kept_in(tmp_path / "case on spark"), kept_in(tmp_path / "case")
    assert on_spark == {name: content for name, content in here.items() if name in on_spark}
    assert len(on_spark) > len(list(letters.rglob("*.*")))
