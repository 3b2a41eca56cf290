"""Every benchmark, one after the other. Each prints ratios, both sides run in the same process."""

from importlib import import_module

PARTS = (
    "bars",
    "start",
    "classes",
    "anonymity",
    "linkage",
    "learned_linkage",
    "exact_linkage",
    "microaggregation",
    "maps",
    "trees",
    "mondrian",
    "anti_unification",
    "recoding",
    "local_recoding",
    "special_uniques",
    "detection",
    "variants",
    "risk_terms",
    "documents",
    "semantic",
    "collections",
)

if __name__ == "__main__":
    for name in PARTS:
        part = import_module(f"benchmarks.{name}")
        print(f"\n{(part.__doc__ or '').strip().splitlines()[0]}")
        part.main()
