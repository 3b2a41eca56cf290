"""Identity numbers of many countries: by their form and check digits, and others by the words before them."""

import re
from collections.abc import Callable

from shoal.document import IDENTITY
from shoal.documents.detectors import check_digits as check
from shoal.documents.detectors.forms import CODE, CODE_PARTS, MANY, SOME, Pattern, alone, has_digits, words


def _number(
    because: str, form: str, passes: Callable[[str], bool] | None = None, sure: float = 0.9, after: str = "", gap: int = 30
) -> Pattern:
    context = words(after) if after else None
    return Pattern(IDENTITY, because, alone(form, re.IGNORECASE), passes, context, sure, gap, SOME if after else MANY)


_IDENTITY = words(
    r"passports?|driv(?:er|ing)(?:['’]?s)?[ -]?li[cs]en[cs]e|driving permit|li[cs]en[cs]e|identity(?: card)?|id card|national id"
    r"|residen(?:t|ce) permit|visa|mrn|medical record|medicare|medicaid|dni|nie|nif|nino|cpf|curp|pesel|ppsn?|bsn|tax id|ein|ssn|social security"
)
_HOSPITAL = words(
    r"(?:hosp(?:ital)?|lab(?:oratory)?|pathology|histology|specimen|accession|clinic|unit|nhs|chi)[ ]?(?:no|nr|number|num|ref|id|#|№)\.?"
)
# A code that may begin with the letters of who gave it out: RBX 611920.
_LETTERED = alone(rf"(?:(?-i:[A-Z]{{1,4}})[ ](?=\d))?{CODE_PARTS}", re.IGNORECASE)
# Plates of the United Kingdom, Spain and Germany; their halves may stand on two lines.
_PLATE = r"[A-Z]{2}\d\d\s?[A-Z]{3}|[A-Z]\d{1,3}\s?[A-Z]{3}|[A-Z]{3}\s?\d{1,3}[A-Z]|\d{4}[\s-]?[B-DF-HJ-NP-TV-Z]{3}|[A-Z]{1,3}-[A-Z]{1,2}\s?\d{1,4}"
_DRIVEN = words("li[cs]en[cs]e plate|number plate|plates?|reg(?:istration)?|vehicle|car|van|lorry|taxi|motor(?:bike|cycle)")
_VEHICLE = words("li[cs]en[cs]e plate|number plate|plates?|registration|vin")
_NIR = r"[12] ?\d\d ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d"

IDENTITIES = (
    _number("a United States social security number", r"\d{3}-\d{2}-\d{4}|\d{3} \d{2} \d{4}", check.us_ssn, 0.95),
    _number("a United States social security number", r"\d{3}[-. ]?\d{2}[-. ]?\d{4}", None, 0.9, "ssn|itin|social(?: security)?|taxpayer"),
    _number("a United Kingdom national insurance number", r"[A-Z]{2} ?\d\d ?\d\d ?\d\d ?[A-D]", check.uk_nino, 0.95),
    _number(
        "a number of that form after the words national insurance",
        r"[A-Z]{2} ?\d\d ?\d\d ?\d\d(?: ?[A-Z])?",
        None,
        0.9,
        r"ni|n\.i\.|nino|national insurance",
        16,
    ),
    _number(
        "a United Kingdom health service number, check digit holds", r"\d{3}[ -]?\d{3}[ -]?\d{4}", check.uk_nhs, 0.95, "nhs|health|patient"
    ),
    _number("a Spanish identity number, check letter holds", r"(?:\d{8}|[XYZ]-?\d{7})[ -]?[A-Z]", check.spain_dni, 0.95),
    _number("a French social security number, check digits hold", _NIR, check.france_nir, 0.97),
    _number("a German tax number, check digit holds", r"[1-9]\d ?\d{3} ?\d{3} ?\d{3}", check.germany_tax, 0.8),
    _number("an Italian tax code, check letter holds", r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]", check.italy_cf, 0.99),
    _number(
        "a Dutch service number, check digit holds", r"\d{4}\.?\d\d\.?\d{3}", check.netherlands_bsn, 0.95, "bsn|burgerservicenummer|sofi"
    ),
    _number(
        "a Portuguese tax number, check digit holds", r"[1-35689]\d\d ?\d{3} ?\d{3}", check.portugal_nif, 0.95, "nif|contribuinte|fiscal"
    ),
    _number("a Polish PESEL number, check digit holds", r"\d{11}", check.poland_pesel, 0.85),
    _number("a Belgian national number, check digits hold", r"\d\d\.?(?:0[1-9]|1[0-2])\.?\d\d[- ]?\d{3}[. ]?\d\d", check.belgium_national),
    _number("a Swedish personal number, check digit holds", r"(?:19|20)?\d{6}[-+]\d{4}|(?:19|20)\d{10}", check.sweden_personal),
    _number("a Finnish identity code, check character holds", r"[0-3]\d[01]\d\d\d[-+A]\d{3}[0-9A-Y]", check.finland_hetu, 0.97),
    _number("a Danish personal number", r"[0-3]\d[01]\d\d\d-\d{4}", check.denmark_cpr, 0.85),
    _number("a Norwegian birth number, check digits hold", r"[0-7]\d[0-5]\d{3} ?\d{5}", check.norway_birth),
    _number("a Swiss insurance number, check digit holds", r"756\.?\d{4}\.?\d{4}\.?\d\d", check.switzerland_ahv, 0.97),
    _number("an Irish service number, check letter holds", r"\d{7}[A-W][ABW]?", check.ireland_pps, 0.85),
    _number("a Canadian insurance number, check digit holds", r"\d{3}[- ]\d{3}[- ]\d{3}", check.luhn, 0.8),
    _number("a Brazilian taxpayer number, check digits hold", r"\d{3}\.\d{3}\.\d{3}-\d\d|\d{11}", check.brazil_cpf),
    _number("an Indian identity number, check digit holds", r"[2-9]\d{3} \d{4} \d{4}", check.verhoeff, 0.85),
    _number("an Indian identity number, check digit holds", r"[2-9]\d{11}", check.verhoeff, 0.95, "aadhaar|aadhar|uid"),
    _number("an Indian tax number", r"[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]", None, 0.9, "pan|permanent account"),
    _number("a Chinese resident number, check character holds", r"\d{17}[\dX]", check.china_resident, 0.97),
    Pattern(IDENTITY, "an identity number after a word for it", CODE, has_digits(4), _IDENTITY, 0.85, 16, SOME),
    Pattern(IDENTITY, "a hospital's number after a word for it", _LETTERED, has_digits(4), _HOSPITAL, 0.85, 4, SOME),
    Pattern(IDENTITY, "a vehicle's plate after a word for vehicles", alone(_PLATE), None, _DRIVEN, 0.8, 16, SOME),
    Pattern(IDENTITY, "a vehicle's number after a word for it", CODE, has_digits(2), _VEHICLE, 0.75, 8, SOME),
)
