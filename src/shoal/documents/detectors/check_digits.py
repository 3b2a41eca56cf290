"""Check digits: whether a number can be what it looks like. Each takes the number as written and ignores separators."""

import re
from collections.abc import Callable
from datetime import date

_DROP = re.compile(r"[\s.\-/·]")


def bare(text: str) -> str:
    """The letters and digits of a number, in capitals."""
    return _DROP.sub("", text).upper()


def _digits(text: str) -> list[int]:
    return [int(mark) for mark in text if mark.isdigit()]


def _weighted(digits: list[int], weights: tuple[int, ...]) -> int:
    return sum(d * w for d, w in zip(digits, weights))


def luhn(text: str) -> bool:
    """Luhn (1960): cards, and several national numbers."""
    digits = _digits(text)[::-1]
    return len(set(digits)) > 1 and (sum(digits[::2]) + sum(sum(divmod(2 * d, 10)) for d in digits[1::2])) % 10 == 0


def iban(text: str) -> bool:
    """ISO 13616: the first four characters moved to the end, letters as numbers, modulo 97."""
    code = bare(text)
    return 15 <= len(code) <= 34 and int("".join(str(int(mark, 36)) for mark in code[4:] + code[:4])) % 97 == 1


def us_routing(text: str) -> bool:
    """Weights 3, 7, 1 over nine digits, modulo 10."""
    digits = _digits(text)
    return any(digits) and _weighted(digits, (3, 7, 1) * 3) % 10 == 0


def us_ssn(text: str) -> bool:
    """No area 000 or 666, no group 00, no serial 0000; 9xx are taxpayer numbers."""
    code = bare(text)
    return code[:3] not in ("000", "666") and code[3:5] != "00" and code[5:] != "0000"


def uk_nino(text: str) -> bool:
    """The letters that the United Kingdom gives out."""
    code = bare(text)
    return code[:2] not in {"BG", "GB", "NK", "KN", "TN", "NT", "ZZ"} and not set(code[:2]) & set("DFIQUV") and code[1] != "O"


def uk_nhs(text: str) -> bool:
    """Modulo 11 over ten digits."""
    digits = _digits(text)
    check = 11 - _weighted(digits, (10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return len(set(digits)) > 1 and check != 10 and check % 11 == digits[9]


def spain_dni(text: str) -> bool:
    """DNI and NIE: the letter is the number modulo 23."""
    code = bare(text)
    number = {"X": "0", "Y": "1", "Z": "2"}.get(code[0], code[0]) + code[1:-1]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == code[-1]


def france_nir(text: str) -> bool:
    """Thirteen digits and their complement modulo 97; Corsica has letters."""
    code = bare(text)
    number = code[:13].replace("2A", "19").replace("2B", "18")
    return number.isdigit() and 97 - int(number) % 97 == int(code[13:])


def germany_tax(text: str) -> bool:
    """Steuer-Identifikationsnummer: ISO 7064 MOD 11,10; one digit twice or three times among the first ten."""
    digits = _digits(text)
    counts = sorted(digits[:10].count(d) for d in set(digits[:10]))
    return counts[-1] in (2, 3) and counts[:-1] == [1] * (len(counts) - 1) and _mod_11_10(digits)


def _mod_11_10(digits: list[int]) -> bool:
    product = 10
    for digit in digits[:-1]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == digits[-1]


_CF_ODD = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (1, 0, 5, 7, 9, 13, 15, 17, 19, 21) * 2 + (2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
    )
)


def italy_cf(text: str) -> bool:
    """Codice fiscale: odd and even places are weighed apart, modulo 26."""
    code = bare(text)
    even = sum(int(mark) if mark.isdigit() else ord(mark) - 65 for mark in code[1:15:2])
    return chr(65 + (sum(_CF_ODD[mark] for mark in code[0:15:2]) + even) % 26) == code[15]


def netherlands_bsn(text: str) -> bool:
    """The eleven test."""
    digits = _digits(text)
    return any(digits) and (_weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2)) - digits[-1]) % 11 == 0


def portugal_nif(text: str) -> bool:
    digits = _digits(text)
    check = 11 - _weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return digits[-1] == (0 if check > 9 else check)


def poland_pesel(text: str) -> bool:
    digits = _digits(text)
    return 1 <= (digits[2] * 10 + digits[3]) % 20 <= 12 and -_weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10 == digits[10]


def belgium_national(text: str) -> bool:
    """97 minus the number modulo 97; a 2 before it for those born from 2000."""
    code = bare(text)
    return any(97 - int(century + code[:9]) % 97 == int(code[9:]) for century in ("", "2"))


def sweden_personal(text: str) -> bool:
    digits = _digits(text)[-10:]
    return 1 <= digits[2] * 10 + digits[3] <= 12 and luhn("".join(map(str, digits)))


def finland_hetu(text: str) -> bool:
    code = text.upper().strip()
    return "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(code[:6] + code[7:10]) % 31] == code[10]


def denmark_cpr(text: str) -> bool:
    """No check digit since 2007: the first six digits must be a date."""
    code = bare(text)
    return _is_date(2000 + int(code[4:6]), int(code[2:4]), int(code[:2]))


def norway_birth(text: str) -> bool:
    """Two check digits, modulo 11."""
    digits = _digits(text)
    first = -_weighted(digits, (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11
    second = -_weighted(digits, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return digits[9:] == [first, second]


def switzerland_ahv(text: str) -> bool:
    """EAN-13, and begins with 756."""
    digits = _digits(text)
    return -_weighted(digits, (1, 3) * 6) % 10 == digits[12]


def ireland_pps(text: str) -> bool:
    code = bare(text)
    extra = (ord(code[8]) - 64) * 9 if len(code) > 8 and code[8] != "W" else 0
    return "WABCDEFGHIJKLMNOPQRSTUV"[(_weighted(_digits(code[:7]), (8, 7, 6, 5, 4, 3, 2)) + extra) % 23] == code[7]


def brazil_cpf(text: str) -> bool:
    """Two check digits, modulo 11."""
    digits = _digits(text)
    return len(set(digits)) > 1 and all(_weighted(digits[:n], tuple(range(n + 1, 1, -1))) * 10 % 11 % 10 == digits[n] for n in (9, 10))


def china_resident(text: str) -> bool:
    """ISO 7064 MOD 11-2 over seventeen digits that hold a date of birth."""
    code = bare(text)
    born = _is_date(int(code[6:10]), int(code[10:12]), int(code[12:14]))
    return born and "10X98765432"[_weighted(_digits(code[:17]), (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)) % 11] == code[17]


_VERHOEFF_P = ((0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 5, 7, 6, 2, 8, 3, 0, 9, 4))


def _verhoeff_times(a: int, b: int) -> int:
    """The product of two digits in the group of the symmetries of a pentagon."""
    return (a + b) % 5 if a < 5 and b < 5 else 5 + (a + b) % 5 if a < 5 else 5 + (a - b) % 5 if b < 5 else (a - b) % 5


def verhoeff(text: str) -> bool:
    """Verhoeff (1969): India's Aadhaar numbers."""
    check = 0
    for place, digit in enumerate(reversed(_digits(text))):
        for _ in range(place % 8):
            digit = _VERHOEFF_P[1][digit]
        check = _verhoeff_times(check, digit)
    return check == 0


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


Check = Callable[[str], bool]
