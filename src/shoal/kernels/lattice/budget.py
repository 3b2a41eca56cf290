"""When a search of the lattice stops before its end."""

import time
from collections.abc import Callable
from math import inf
from typing import NamedTuple

Progress = Callable[[int, int], object]  # nodes done, of so many


class Budget(NamedTuple):
    """So many CPU seconds of this process, or so many combinations passed over, which is the same on every machine."""

    seconds: float = inf
    passed: float = inf

    def share(self, part: float) -> "Budget":
        """A part of both."""
        return Budget(self.seconds * part, self.passed * part)


UNLIMITED = Budget()


class Spending:
    """What is spent of a budget since this was made."""

    def __init__(self, budget: Budget) -> None:
        self.budget, self.passed, self.began = budget, 0, time.process_time()

    def over(self) -> bool:
        """Whether the search has to stop."""
        return self.passed >= self.budget.passed or (self.budget.seconds < inf and time.process_time() - self.began >= self.budget.seconds)
