"""What several ask for about a frozen thing, computed for the first of them."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Once:
    """Answers by question; `beside` is the other thing that an answer is about, and another one is another question."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, tuple[object, Any]] = {}

    @property
    def asked(self) -> list[Any]:
        """The questions that have an answer."""
        return list(self._answers)

    def forget(self, what: Hashable) -> None:
        """An answer that nobody will ask for again and that takes much memory."""
        self._answers.pop(what, None)

    def __call__(self, what: Hashable, compute: Callable[[], T], beside: object = None) -> T:
        if what not in self._answers or self._answers[what][0] is not beside:
            self._answers[what] = (beside, compute())
        return cast(T, self._answers[what][1])
