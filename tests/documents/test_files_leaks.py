"""What counts as a removed text that is still there, and what comes about by chance."""

import pytest

from shoal.documents.leaks import UNSURE, text_leaks


@pytest.mark.parametrize(
    ("removed", "text", "stops"),
    [
        ("South Korean", "South Korea needs rice", False),  # letters that come about where words meet
        ("Kuwaitis", "Kuwait is far", False),
        ("John Smith", "write to johnsmith at once", True),
        ("John Smith", "johnsmith99", True),
        ("Smithson", "S m i t h s o n", True),
        ("555 123 4567", "call 5551234567", True),
    ],
)
def test_letters_run_together(removed, text, stops):
    assert any(leak.variant not in UNSURE for leak in text_leaks(text, [removed])) == stops
