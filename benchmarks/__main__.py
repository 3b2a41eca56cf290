"""Every benchmark, one after the other. Each prints ratios, both sides run in the same process."""

from benchmarks import anonymity, classes, linkage, microaggregation, mondrian, start, trees

if __name__ == "__main__":
    for part in (start, classes, anonymity, linkage, microaggregation, trees, mondrian):
        print(f"\n{(part.__doc__ or '').strip().splitlines()[0]}")
        part.main()
