"""A good node to begin with: from the highest levels down, always the step that loses least, and then steps that trade one column for another."""

from collections.abc import Callable, Iterable, Iterator

from shoal.kernels.lattice.levels import Space, Value

Levels = tuple[int, ...]


def descend(space: Space, value: Callable[[Levels], Value], limit: int, over: Callable[[], bool]) -> Value | None:
    """The best node on the way when no step helps, or when the budget is over; None: not even the highest levels are within the limit."""
    seen: dict[Levels, Value] = {}

    def best_of(here: Value, near: Iterable[Levels]) -> Value:
        best = here
        for levels in near:
            if levels not in seen:
                if over():
                    break
                seen[levels] = value(levels)
            if seen[levels].suppressed <= limit and seen[levels].beats(best):
                best = seen[levels]
        return best

    here = value(space.highest)
    if here.suppressed > limit:
        return None
    while True:
        better = best_of(here, lower(space, here.levels))
        if better is here:
            better = best_of(here, traded(space, here.levels))
        if better is here:
            return here
        here = better


def lower(space: Space, levels: Levels) -> Iterator[Levels]:
    """One column a level down."""
    for j, level in enumerate(levels):
        if level > space.lowest[j]:
            yield (*levels[:j], level - 1, *levels[j + 1 :])


def higher(space: Space, levels: Levels) -> Iterator[Levels]:
    """One column a level up."""
    for j, level in enumerate(levels):
        if level < space.highest[j]:
            yield (*levels[:j], level + 1, *levels[j + 1 :])


def traded(space: Space, levels: Levels) -> Iterator[Levels]:
    """One column a level up, and it alone, or another a level down."""
    for up in higher(space, levels):
        yield up
        for other in lower(space, up):
            if other != levels:
                yield other
