"""Dates in many forms, and ages. Months in English, Spanish, French, German, Italian, Portuguese and Dutch."""

import re
from collections.abc import Iterator

from shoal.document import DATE, Finding
from shoal.documents.detectors.zones import DIGIT, search_in, zones

AGE = "age"

MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_OTHERS = (
    "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
    "|janvier|février|fevrier|mars|avril|mai|juin|juillet|août|aout|septembre|octobre|novembre|décembre|decembre"
    "|januar|jänner|februar|märz|juni|juli|oktober|dezember"
    "|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre"
    "|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro"
    "|januari|februari|maart|mei|augustus"
)
_MONTH = rf"(?:{_OTHERS}|{MONTHS})\b\.?"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_NUMBER = r"(?:0?[1-9]|1[0-2])"
_YEAR = r"(?:1[6-9]|20)\d\d"
_SHORT_YEAR = rf"(?:{_YEAR}|['’]?\d\d(?!\d))"
_ROMAN = r"(?:I{1,3}|I?[VX]|VI{1,3}|XI{1,2})"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\.?"
_TIME = r"(?:,?[ T]{1,2}(?:at )?(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?: ?[ap]\.?m\b\.?)?(?: ?(?:Z\b|[+-]\d\d:?\d\d|UTC|GMT|[ECMP][SD]T))?)?"
_NOT_BEFORE, _NOT_AFTER = r"(?<![\w./-])", r"(?![\w]|[./-]\d)"

DATES = re.compile(
    rf"{_NOT_BEFORE}(?:(?:{_WEEKDAY}),? )?(?:"
    rf"(?P<iso>{_YEAR}[-/.]{_NUMBER}[-/.]{_DAY})"
    rf"|(?P<figures>(?:{_DAY}[/.-]{_NUMBER}|{_NUMBER}[/.-]{_DAY})(?P<mark>[/.-])(?:{_YEAR}|\d\d))"
    rf"|(?P<roman>{_DAY}(?P<bar>[/.-]){_ROMAN}(?P=bar)(?:{_YEAR}|\d\d))"
    rf"|(?P<words>{_DAY}(?:st|nd|rd|th|er|º|ª|\.)?[ -](?:of |de |di |den )?{_MONTH}(?:,?[ -](?:de |del |do )?{_SHORT_YEAR})?)"
    rf"|(?P<american>{_MONTH}[ -]{_DAY}(?:st|nd|rd|th)?(?:(?:,? |-){_SHORT_YEAR})?)"
    rf"|(?P<month>{_MONTH}(?:,? | of | de |-)(?:{_YEAR}|['’]\d\d))"
    rf"|(?P<quarter>Q[1-4][ /-]?(?:of )?(?:{_YEAR}|['’]\d\d)|{_YEAR}[ /-]?Q[1-4])"
    rf"){_TIME}{_NOT_AFTER}",
    re.IGNORECASE,
)
# A year alone is a date only where the words before it say so.
YEARS = re.compile(
    rf"\b(?:in|during|since|until|till|before|after|between|around|circa|years?|born(?: in)?|(?:by|from|to|of|and)(?=[ \n](?:19|20)))[ \n](?P<year>{_YEAR}s?)\b"
    rf"(?:[ ]?[-–/][ ]?(?P<end>(?:{_YEAR}|\d\d)\b))?(?![.,]?\d|[%°/-])",
    re.IGNORECASE,
)
# A day and a month alone are a fraction as often: a word before them must say what they are.
DAYS = re.compile(
    r"\b(?:born|died|dies|dead|death|seen|admitted|readmitted|admission|discharged?|reviewed|operated|transferred|presented|attended"
    r"|dated?|dob|dod|on|since|until)(?: (?:on|the|of|again|here|in clinic)){0,2}:? "
    rf"(?P<day>{_DAY}/{_NUMBER}|{_NUMBER}/{_DAY})(?![\w%]|[./-]\d| ?(?:of|doses?|tablets?|inch(?:es)?|pints?|cups?|scale|ago|course)\b)",
    re.IGNORECASE,
)
_UNITS = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth"
_TEENS = "tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth"
_COUNTED = "one|two|three|four|five|six|seven|eight|nine"
_TENS = (
    "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
    f"|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[ -](?:{_COUNTED}))?"
)
_NAMED_MONTH = (  # by its first letter, which is quick to look for
    "(?:[Jj](?i:anuary|une|uly)|[Ff](?i:ebruary)|[Mm](?i:arch|ay)|[Aa](?i:pril|ugust)|[Ss](?i:eptember)|[Oo](?i:ctober)"
    "|[Nn](?i:ovember)|[Dd](?i:ecember))"
)
NAMED_MONTH = re.compile(rf" {_NAMED_MONTH}\b")
SPELT = re.compile(
    rf"\b(?:{_UNITS}|{_TEENS}|twentieth|thirtieth|twenty[ -](?:{_UNITS})|thirty[ -]first) (?:day )?(?:of )?{_NAMED_MONTH}\b"
    rf"(?P<year>,? (?:{_YEAR}|(?:nineteen|twenty)[ -](?:hundred(?: and)? |oh[ -])?(?:{_TENS}|{_COUNTED})"
    rf"|two thousand(?:(?: and)? (?:{_TENS}|{_COUNTED}))?)\b)?",
    re.IGNORECASE,
)
_MARCHED = re.compile(r"(?<!of )(?:may|march)$", re.IGNORECASE)  # the first march, the second may
WEEKDAYS = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\b(?:MON|TUES|WEDNES|THURS|FRI|SATUR|SUN)DAYS?\b")
_NO_AGE = r"(?![.,:/-]?\d| ?(?:%|per|million|percent|hours?|minutes?|days?|miles|km|people))"
AGES = re.compile(
    r"\b(?P<years>\d{1,3})(?:[ -]?(?:years?|yrs?|months?|weeks?|days?)[ -]?olds?\b|[ -]?y/?o\b)"
    rf"|\b(?:aged?|age is|age of|ages|turn|turns|turned|turning)[ :]{{1,2}}(?:of |is )?(?P<aged>\d{{1,3}})\b{_NO_AGE}",
    re.IGNORECASE,
)


def find_dates(text: str) -> Iterator[Finding]:
    """Whole dates surely, a month and a day or a year nearly so, a year alone with a word before it perhaps."""
    where = zones(text, DIGIT, 40, 45)
    for match in search_in(DATES, text, where):
        if _verb(match[0]):
            continue
        shape = "figures" if match["figures"] or match["iso"] else "words"
        sure = 0.95 if shape == "figures" or re.search(r"\d{4}", match[0]) else 0.8
        stop = match[0].endswith(".") and not match[0].lower().endswith("m.")  # the sentence's, not the month's
        yield Finding(match.start(), match.end() - stop, DATE, sure, "a date")
    for match in search_in(DAYS, text, where):
        yield Finding(match.start("day"), match.end("day"), DATE, 0.6, "a day and a month after a word of time")
    for match in search_in(SPELT, text, zones(text, NAMED_MONTH, 40, 60)):
        if match["year"] or not _MARCHED.search(match[0]):
            yield Finding(match.start(), match.end(), DATE, 0.85, "a date in words")
    for match in WEEKDAYS.finditer(text):
        yield Finding(match.start(), match.end(), DATE, 0.4, "a day of the week")
    for match in search_in(YEARS, text, where):
        yield Finding(
            match.start("year"), match.end("end") if match["end"] else match.end("year"), DATE, 0.5, "a year after a word of time"
        )


def _verb(written: str) -> bool:
    """'may 10' is a verb as often as a month; so are 'mar 1' and 'mars 3' when there is no year."""
    return not re.search(r"\d{4}", written) and bool(re.search(r"\b(?:may|march|mar|mars|mai|mei|dec|sat|sun)\b", written))


def find_ages(text: str) -> Iterator[Finding]:
    """The number of years (months, weeks) of somebody's age."""
    for match in search_in(AGES, text, zones(text, DIGIT, 25, 45)):
        group = "years" if match["years"] else "aged"
        if int(match[group]) <= 125:
            yield Finding(match.start(group), match.end(group), AGE, 0.85, "an age")
