"""Groups of so many different persons, where the rows of one person differ."""

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
        found = super().asked(counts, roles)
        if roles.person:
            persons = counts.table.codes(roles.person[0]).astype(np.int32)
            self.enough_rows(int(persons.max(initial=-1)) + 1, self.k, "person")
            self._refuse_in_persons(counts, roles, persons)
            found.append(Asked(persons, self.k))
        return found

    def _refuse_in_persons(self, counts: Counts, roles: Roles, persons: Int32Array) -> None:
        """Different values are of different persons only where each has one; entropy and closeness are counted in rows here."""
        if self.entropy > 1 or self.t < 1:
            raise ParameterError(
                f"{self.name}: rows of one person differ in what is protected, and {'entropy' if self.entropy > 1 else 't'} in persons would need "
                "one row of each. Ask for k and l, which count different persons, or release one row a person."
            )
        for column in roles.confidential if self.l > 1 else ():
            codes = real_codes(counts.table, roles, column, self.missing)
            pairs = np.unique(np.stack([persons, codes])[:, codes >= 0], axis=1)
            if (np.diff(pairs[0]) == 0).any():
                raise ParameterError(
                    f"{self.name}: l cannot be promised in persons: rows of one person differ in what is protected, and '{column}' differs "
                    "between them too. Make it one value a person, or ask for k alone.",
                    about=column,
                )
