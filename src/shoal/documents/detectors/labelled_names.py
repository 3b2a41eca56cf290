"""Names that the words beside them give away: a title before a person, a legal form after a company, a label, a greeting."""

import re
from collections.abc import Iterator

from shoal.document import LOCATION, ORGANIZATION, PERSON, Finding

_CAPITAL = r"[^\W\d_a-zà-öø-ÿ]"
_WORD = rf"(?:{_CAPITAL}[\w'’-]{{0,40}}|[A-Z]\.)"
_NAME_WORD = rf"(?:(?:[dl]['’])?{_CAPITAL}[^\W\d_]{{0,40}}(?:['’-][^\W\d_]{{1,40}}){{0,3}})"
_PARTICLE = r"(?:van|von|der|den|de|da|di|del|della|dos|du|la|le|el|al|bin|ibn|ben|ter|ten|y|zu)"
_INITIAL = r"[A-Z]\."
_REST = rf"(?:[ ](?:{_INITIAL}|(?:{_PARTICLE}[ ]){{1,2}}{_NAME_WORD}|{_NAME_WORD})){{0,3}}"
_NAME = rf"(?:{_INITIAL}[ ]?){{0,3}}{_NAME_WORD}{_REST}"

_SHORT_TITLES = r"(?:Mr|Mrs|Ms|Mx|Dr|Prof|Rev|Messrs|Sen|Gov|Amb|Capt|Lt|Sgt|Col|Gen|Maj|Adm|Hon|Mme|Mlle)\.?"
_TITLES = r"Miss|Mister|Professor|Senator|Ambassador|Colonel|Captain|Lieutenant|Sergeant|Admiral|Herr|Frau|Señora?|Signora?|Monsieur|Madame"
_OFFICES = (  # words of their own: they belong to a name that is found after them, and make none
    r"Madam|Sir|Dame|Lord|Lady|Doctor|Reverend|Fr\.?|Father|Sister|Brother|Judge|Justice|Rep\.?|Governor|General|Major|Cpl\.?|Pvt\.?|Cmdr\.?"
    r"|Commander|Officer|Detective|Inspector|President|Prime Minister|Minister|Secretary|Chancellor|King|Queen|Prince|Princess|Pope|Cardinal"
    r"|Bishop|Sra?\.?|Don|Doña"
)
TITLE = re.compile(rf"(?<![^\W_])(?:(?:{_SHORT_TITLES}|{_TITLES}|{_OFFICES})[ \t]+)+$")  # before a name, and part of it
# What may follow the first part of a person's name and belongs to it: the rest of a hyphenated name, initials, 'van der' and a name.
LINK = re.compile(
    rf"(?:-[^\W\d_]{{1,40}})?"
    rf"(?:(?:[ ]{_INITIAL}){{0,2}}(?:[ ]{_PARTICLE}){{1,2}}[ ]{_NAME_WORD}|(?:[ ]{_INITIAL}){{1,2}}(?:[ ]{_NAME_WORD}){{1,2}})?"
)

_TITLED = re.compile(rf"(?<![^\W_])(?:(?:{_SHORT_TITLES}|{_TITLES})[ ])+(?P<name>{_NAME})")
_INTRODUCED = re.compile(
    r"(?<![^\W_])(?:(?i:my name is|name is|i am called|name's|signed by|on behalf of|called|named|c/o|attn:?|attention:?)[ ]"
    r"|(?i:full name|first name|last name|given name|surname|name|patient|employee|customer|contact person|applicant|beneficiary|sender"
    rf"|recipient|author|attendees?)[ ]?:[ ]*)(?P<name>{_NAME})"
)
_GREETED = re.compile(
    r"(?:^|\n)[ >]*(?i:dear|hi|hello|hey|sincerely|regards|best|thanks|cheers|love|yours (?:truly|sincerely|faithfully))"
    rf"(?:,?[ ]|,\s{{0,3}}\n\s{{0,3}})(?P<name>{_NAME})(?=[,:!]|\s*(?:\n|$))"
)
_FORMS = (
    r"Inc|Incorporated|Ltd|Limited|LLC|LLP|L\.L\.C|PLC|plc|Corp|Corporation|Company|Co|GmbH|AG|SE|S\.?A\.?|SpA|S\.p\.A|SARL|S\.?L\.?|BV|B\.V"
    r"|NV|N\.V|AB|ASA|Oy|Oyj|A/S|ApS|Pty|KG|Group|Holdings|Partners|Associates|Bros|Foundation|Institute|University|College|Hospital|Clinic"
    r"|Bank|Ministry|Department|Agency"
)
_COMPANY = re.compile(
    rf"(?<![^\W_])(?:\d{{1,4}}[ ])?{_WORD}(?:(?:[ ]|,[ ](?=(?:Inc|Ltd|LLC|and\b))|[ ](?:&|and|of)[ ]){_WORD}){{0,5}}?"
    rf",?[ ](?:{_FORMS})(?![^\W_]|[ ]\d)\.?(?:[ ](?:{_FORMS})(?![^\W_])\.?)?"
)
_FIRM = re.compile(rf"(?<![^\W_]){_WORD}, {_WORD}(?:,)? (?:and|&) {_WORD}(?![^\W_])")
_SCHOOL = re.compile(
    r"(?<![^\W_])(?:University|College|Bank|Ministry|Department|Embassy|Institute|Church|Hospital|School|Republic|Bureau|House) of (?:the )?"
    rf"{_WORD}(?:(?: | and | of ){_WORD}){{0,3}}"
)
_PLACE_FORMS = (
    r"Square|Park|River|Lake|Mountains?|Valley|Islands?|County|Province|District|Airport|Bridge|Bay|Harbou?r|Beach|Forest|Desert|Canyon"
    r"|Peninsula|Sea|Ocean|Strait|Gulf"
)
_PLACE = re.compile(rf"(?<![^\W_]){_WORD}(?:[ ]{_WORD}){{0,2}}[ ](?:{_PLACE_FORMS})(?:[ ](?:{_PLACE_FORMS}))?(?![^\W_])")
_FIRST = re.compile(r"(\w+)[ ]")
_NOT_NAMES = frozenset(
    """
    The This That These Those A An And Or But If When While In On At By For From To Of With Our Your Their His Her My Its We You He She They
    It I As Is Are Was No Not All Any Each Every Some Sir Madam Team Everyone There Sirs Committee Colleagues Friends Customer Please Thanks
    Dear President Secretary Chairman Ambassador Minister Speaker Mayor Senator Chair
    """.split()  # noqa: SIM905 - a list of words reads better as words
)

FORMS = (
    (_TITLED, PERSON, "capitalised words after a title", 0.9),
    (_INTRODUCED, PERSON, "capitalised words after a word that introduces a name", 0.75),
    (_GREETED, PERSON, "capitalised words in a greeting", 0.75),
    (_COMPANY, ORGANIZATION, "capitalised words and a form of organizations", 0.8),
    (_FIRM, ORGANIZATION, "names joined as firms join them", 0.5),
    (_SCHOOL, ORGANIZATION, "a form of organizations and capitalised words", 0.8),
    (_PLACE, LOCATION, "capitalised words and a form of places", 0.7),
)


def find_names(text: str) -> Iterator[Finding]:
    """Persons after a title (which belongs to the finding), an introduction or a greeting; organizations by their form; places by theirs."""
    for form, kind, because, sure in FORMS:
        for match in form.finditer(text):
            start, end = match.span("name" if kind == PERSON else 0)
            while (word := _FIRST.match(text, start, end)) and word[1] in _NOT_NAMES:
                start = word.end()
            if kind == ORGANIZATION and TITLE.search(text, max(0, start - 40), start):
                joint = text.find(" of ", start, end)  # Prof. Smith of Imagine University: the person is not part of it
                start = joint + 4 if joint >= 0 else end
            named = text[start:end]
            if named in _NOT_NAMES or (kind != PERSON and " " not in named):
                continue
            yield Finding(match.start() if form is _TITLED else start, end, kind, sure, because)
