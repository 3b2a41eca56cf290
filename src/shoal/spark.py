"""Protect from Python what lives on a cluster: a Spark DataFrame goes in, and a DataFrame of the released rows comes out.

The run folder must be on storage that this machine and all workers read under one path: the cluster writes the rows into its hidden part, tasks
read them there, and the released files are written there. pyspark is loaded when it is used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.api import roles_given, steps_given
from shoal.contracts import Elsewhere, Method, Progress, quiet
from shoal.errors import DataError
from shoal.folders import RELEASE, refuse_existing
from shoal.roles import Rest, Roles
from shoal.runs.parts import protect_rows
from shoal.runs.recipe import Recipe


def protect(
    df: Any,
    *steps: Method | str,
    out: str | Path = "run",
    roles: Roles | None = None,
    quasi: str | Sequence[str] = (),
    confidential: str | Sequence[str] = (),
    identifier: str | Sequence[str] = (),
    target: str | None = None,
    rest: Rest = "leave-out",
    seed: int | None = None,
    progress: Progress = quiet,
    **parameters: Any,
) -> Any:
    """Protect a DataFrame of pyspark on its own cluster, by methods that rows which do not fit into memory allow; the released rows, as a DataFrame
    that is read from the run folder `out`.

    Methods, roles and `seed` are those of `shoal.protect`. `out` appears whole or not at all, with certificate and report; `out/private` never
    leaves. It holds no recipe, since a DataFrame is no file that a recipe could name. What a time of a zone is released as is what the session's
    clock shows. Cells that may be sets are lists of texts.
    """
    session = _session_of(df)
    place = Path(out)
    refuse_existing(place)
    recipe = Recipe(
        Path(),  # there is no file
        roles_given(roles, {"quasi": quasi, "confidential": confidential, "identifier": identifier}, target, rest),
        tuple(steps_given(steps, parameters)),
    )

    def opened(aside: Path) -> Elsewhere:
        from shoal.engines.choice import Choice
        from shoal.engines.spark import SparkEngine
        from shoal.engines.staging import opened

        engine, staged = SparkEngine(session, aside), aside / "dataframe"
        engine.staged(df, staged)
        return replace(opened(engine, [staged], aside, Choice().limit, {}, progress), given=())

    protect_rows(recipe, opened, place, seed=seed, progress=progress)
    return session.read.parquet(f"file://{os.path.abspath(place / RELEASE)}")


def _session_of(df: Any) -> Any:
    """The session of a DataFrame, if that is what it is."""
    try:
        from pyspark.sql import DataFrame
    except ImportError:
        raise DataError("Spark needs an extra: pip install 'shoal[spark]', and Java 17 or newer.") from None
    if not isinstance(df, DataFrame):
        raise DataError(f"A Spark DataFrame is needed, got {type(df).__name__}. shoal.protect takes pandas, polars and Arrow.")
    session = df.sparkSession
    if not hasattr(session, "sparkContext"):  # Spark Connect
        raise DataError(
            "A session of Spark Connect runs no tasks of shoal's. Use one of the cluster itself, as SparkSession.builder.master makes."
        )
    by_case = str(session.conf.get("spark.sql.caseSensitive")).lower() == "true"
    names = df.columns if by_case else [name.lower() for name in df.columns]
    if len(set(names)) < len(names):
        raise DataError("Two columns of the DataFrame have the same name" + ("." if by_case else ", but for capitals.") + " Rename one.")
    return session
