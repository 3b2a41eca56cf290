"""Labels: classes that a method may look at while it forms groups, and what that asks for when they are confidential."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from shoal.arrays import IntArray
from shoal.errors import DataError, ParameterError, counted, did_you_mean
from shoal.methods.coordinates import ColumnMethod
from shoal.roles import Roles
from shoal.table import Table

MOST_CLASSES = 255


class Labelled(ColumnMethod):
    """A method whose prototypes may be moved by the classes of a column (wLVQ2, Bennani 1999)."""

    labels: str | None = Field(None, description="Column whose classes move the prototypes (the ++ form); absent: none")

    def reads(self, roles: Roles) -> tuple[str, ...]:
        """Also the labels."""
        return (*super().reads(roles), *(() if self.labels is None else (self.labels,)))

    def classes(self, table: Table, roles: Roles, columns: tuple[str, ...]) -> IntArray | None:
        """The class of each record, missing being one more; None where no labels are asked for."""
        if self.labels is None:
            return None
        if self.labels not in table.columns:
            raise DataError(f"{self.name}: the table has no column '{self.labels}'.{did_you_mean(self.labels, table.columns)}")
        if self.labels in columns or self.labels in roles.identifier:
            raise ParameterError(
                f"{self.name}: column '{self.labels}' is a column to protect or an identifier, so it cannot be the labels. Name another."
            )
        codes = table.codes(self.labels)
        distinct = int(codes.max(initial=0)) + 1
        if distinct < 2:
            raise DataError(f"{self.name}: the labels '{self.labels}' have one class only, so there is nothing to learn. Leave labels out.")
        if distinct > MOST_CLASSES:
            raise DataError(
                f"{self.name}: the labels '{self.labels}' have {counted(distinct, 'class', 'classes')}. Group them into at most {MOST_CLASSES}."
            )
        if self.labels in roles.confidential:
            self.allow_confidential(self.labels)
        return codes.astype(np.int64)

    def allow_confidential(self, column: str) -> None:
        """Refuse, unless the method keeps the label diverse."""
        raise ParameterError(f"{leaning(self.name, column)} {self.name} cannot keep it diverse. Use c-tca with l, or leave labels out.")


def leaning(name: str, column: str) -> str:
    """Why a confidential label is a danger."""
    return (
        f"{name}: '{column}' is confidential, and records grouped by it share it: whoever is known to be in a group would be known to have "
        "its value."
    )
