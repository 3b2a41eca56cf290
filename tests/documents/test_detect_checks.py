"""Check digits, against numbers that issuers, standards and encyclopedias publish as examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.documents.detectors import check_digits as check

PUBLISHED = [
    (check.luhn, "4111 1111 1111 1111"),  # a card network's test number
    (check.luhn, "79927398713"),  # the worked example of Luhn's formula
    (check.iban, "GB82 WEST 1234 5698 7654 32"),  # ISO 13616's registry
    (check.iban, "DE89 3704 0044 0532 0130 00"),
    (check.us_routing, "011000015"),  # the Federal Reserve Bank of Boston
    (check.us_ssn, "078-05-1120"),
    (check.uk_nino, "AB 12 34 56 C"),
    (check.uk_nhs, "943 476 5919"),
    (check.spain_dni, "12345678Z"),
    (check.spain_dni, "X1234567L"),
    (check.france_nir, "2 55 08 14 168 025 38"),
    (check.germany_tax, "86095742719"),
    (check.germany_tax, "47036892816"),
    (check.italy_cf, "RSSMRA85T10A562S"),
    (check.netherlands_bsn, "111222333"),
    (check.portugal_nif, "123456789"),
    (check.poland_pesel, "44051401359"),
    (check.belgium_national, "85.07.30-033 28"),
    (check.sweden_personal, "811228-9874"),
    (check.finland_hetu, "131052-308T"),
    (check.denmark_cpr, "070761-4285"),
    (check.norway_birth, "17054026641"),
    (check.switzerland_ahv, "756.9217.0769.85"),
    (check.ireland_pps, "1234567T"),
    (check.ireland_pps, "1234567FA"),
    (check.brazil_cpf, "529.982.247-25"),
    (check.china_resident, "11010519491231002X"),
    (check.verhoeff, "2363"),  # Verhoeff's worked example: 236 and its check digit 3
]
CHECKED = [pair for pair in PUBLISHED if pair[0] not in (check.us_ssn, check.uk_nino, check.denmark_cpr)]  # those have no check digit


@pytest.mark.parametrize(("passes", "number"), PUBLISHED, ids=lambda one: getattr(one, "__name__", one))
def test_published_numbers_pass(passes, number):
    assert passes(number)


@pytest.mark.parametrize(("passes", "number"), CHECKED, ids=lambda one: getattr(one, "__name__", one))
def test_one_wrong_last_character_fails(passes, number):
    others = [number[:-1] + mark for mark in ("0123456789" if number[-1].isdigit() else "ABCDEFGHIJKLMNOPQRSTUVWXYZ") if mark != number[-1]]
    assert sum(map(passes, others)) <= len(others) // 3


@given(st.lists(st.integers(0, 9), min_size=11, max_size=18).filter(any))
def test_luhn_completes_every_number_in_one_way(digits):
    number = "".join(map(str, digits))
    right = [last for last in "0123456789" if check.luhn(number + last)]
    assert len(right) == 1 or len(set(digits)) == 1


@given(st.text("0123456789", min_size=3, max_size=12), st.data())
def test_verhoeff_sees_every_swap_of_neighbours(number, data):
    whole = next(number + last for last in "0123456789" if check.verhoeff(number + last))
    at = data.draw(st.integers(0, len(whole) - 2))
    swapped = whole[:at] + whole[at + 1] + whole[at] + whole[at + 2 :]
    assert swapped == whole or not check.verhoeff(swapped)


@pytest.mark.parametrize("number", ["000-12-3456", "666-12-3456", "123-00-4567", "123-45-0000"])
def test_social_security_numbers_never_given_out(number):
    assert not check.us_ssn(number)
