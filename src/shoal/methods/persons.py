"""k persons in every group, where rows of one person differ in what is protected: their numbers are as many different ones as k says."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.arrays import Int32Array
from shoal.counts import Counts
from shoal.errors import ParameterError
from shoal.methods.diversity import Asked, real_codes
from shoal.methods.generalization import CloseGeneralization
from shoal.roles import Roles


class GeneralizationOfPersons(CloseGeneralization):
    """Groups that hold k different persons: where rows are told to be a person's, whose each is counts as one more value that must differ."""

    counts_persons: ClassVar[bool] = True

    def reads(self, roles: Roles) -> tuple[str, ...]:
        """Also whose each row is: k persons are k different numbers of persons."""
        return (*super().reads(roles), *roles.person)

    def asked(self, counts: Counts, roles: Roles) -> list[Asked]:
        """Also k persons, where rows are told to be a person's."""
        return [*super().asked(counts, roles), *k_persons(self, counts, roles)]


def k_persons(method: CloseGeneralization, counts: Counts, roles: Roles) -> list[Asked]:
    """What groups must keep of the numbers of persons; nothing where no column says whose each row is."""
    if not roles.person:
        return []
    persons = counts.table.codes(roles.person[0]).astype(np.int32)
    method.enough_rows(int(persons.max(initial=-1)) + 1, method.k, "person")
    _refuse_in_persons(method, counts, roles, persons)
    return [Asked(persons, method.k)]


def _refuse_in_persons(method: CloseGeneralization, counts: Counts, roles: Roles, persons: Int32Array) -> None:
    """Different values are of different persons only where each has one; entropy and closeness are counted in rows here."""
    if method.entropy > 1 or method.t < 1:
        raise ParameterError(
            f"{method.name}: rows of one person differ in what is protected, and {'entropy' if method.entropy > 1 else 't'} in persons would need "
            "one row of each. Ask for k and l, which count different persons, or release one row a person."
        )
    for column in roles.confidential if method.l > 1 else ():
        codes = real_codes(counts.table, roles, column, method.missing)
        pairs = np.unique(np.stack([persons, codes])[:, codes >= 0], axis=1)
        if (np.diff(pairs[0]) == 0).any():
            raise ParameterError(
                f"{method.name}: l cannot be promised in persons: rows of one person differ in what is protected, and '{column}' differs "
                "between them too. Make it one value a person, or ask for k alone.",
                about=column,
            )
