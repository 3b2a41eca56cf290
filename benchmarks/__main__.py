"""Every benchmark, one after the other. Each prints ratios, both sides run in the same process."""

from benchmarks import (
    anonymity,
    anti_unification,
    classes,
    exact_linkage,
    learned_linkage,
    linkage,
    maps,
    microaggregation,
    mondrian,
    start,
    trees,
)

if __name__ == "__main__":
    for part in (
        start,
        classes,
        anonymity,
        linkage,
        learned_linkage,
        exact_linkage,
        microaggregation,
        maps,
        trees,
        mondrian,
        anti_unification,
    ):
        print(f"\n{(part.__doc__ or '').strip().splitlines()[0]}")
        part.main()
