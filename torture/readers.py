"""Every kind of file that shoal reads, with the command that reads it and the damage that suits it."""

from __future__ import annotations

import io
import os
import random
import re
import shutil
import tomllib
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from torture.mutations import damaged, damaged_json, damaged_lines, damaged_zip
from torture.subjects import LETTER, PAGE, ROLES, pdf_file, shoal, table, word_file, write_originals

Damage = Callable[[bytes, bytes, random.Random], bytes]


@dataclass(frozen=True)
class Reader:
    """A file inside a folder that is sound otherwise, how it is damaged, and what is done with it."""

    folder: str
    file: str
    use: Callable[[Path], object]
    damage: Damage = damaged

    def path(self, place: Path) -> Path:
        """Where the file is in a folder like this one; `*` stands for a name that was drawn."""
        return next(place.glob(self.file)) if "*" in self.file else place / self.file


def prepare(stage: Path) -> None:
    """Sound folders: originals with a run, a case with its redaction, a space with its release; and single files."""
    originals = stage / "tables"
    originals.mkdir()
    write_originals(originals)
    for folder, commands in {
        "tables": (["key", "key"], ["run", "recipe.toml", "-o", "run", "--sign", "key"]),
        "cases": (
            ["documents", "detect", "../tables/letters", "-o", "case"],
            ["documents", "mark", "case", "Helen", "--by", "somebody"],
            ["documents", "redact", "case", "-o", "out"],
        ),
        "spaces": (
            ["collection", "build", "../tables/texts.jsonl", "--column", "text", "-p", "least=1", "-p", "keep=all", "-o", "space"],
            ["collection", "protect", "space", "-m", "spherical", "-p", "k=2", "-o", "shared"],
        ),
    }.items():
        _made(stage / folder, commands)
    documents = stage / "documents"
    documents.mkdir()
    for ending, raw in {
        "txt": LETTER.encode(),
        "md": LETTER.encode(),
        "html": PAGE.encode(),
        "docx": word_file(),
        "pdf": pdf_file(),
    }.items():
        (documents / f"letter.{ending}").write_bytes(raw)
    shutil.copy(originals / "letters/c.eml", documents / "letter.eml")
    _parquet(originals)


def _made(folder: Path, commands: Sequence[list[str]]) -> None:
    folder.mkdir(exist_ok=True)
    here = Path.cwd()
    os.chdir(folder)
    try:
        for command in commands:
            said = io.StringIO()
            if shoal(command, said):
                raise RuntimeError(f"{command} does not work: {said.getvalue()}")
    finally:
        os.chdir(here)


def _parquet(folder: Path) -> None:
    import pyarrow.csv as csv
    import pyarrow.parquet as parquet

    parquet.write_table(csv.read_csv(io.BytesIO(table().encode())), folder / "patients.parquet")


# ---- tables -----------------------------------------------------------------------------------------------------------------------


def _protect(file: str) -> Callable[[Path], None]:
    """Read, protected and written; measured and attacked a little."""

    def use(work: Path) -> None:
        from shoal.registry import make
        from shoal.roles import Roles
        from shoal.runs.recipe import Recipe
        from shoal.runs.run import protect_to_folder

        roles = Roles.parse(tomllib.loads(ROLES), work)
        measures, attacks = (make("measure", "k-anonymity"),), (make("attack", "distance-linkage"),)
        protect_to_folder(Recipe(work / file, roles, (make("method", "mondrian", {"k": 2}),), measures, attacks), work / "new")

    return use


def _look(file: str) -> Callable[[Path], None]:
    def use(work: Path) -> None:
        from shoal.files import read_table
        from shoal.suggest import look, suggest_roles

        read = read_table(work / file)
        look(read), suggest_roles(read)

    return use


def _roles(work: Path) -> None:
    from shoal.files import read_table
    from shoal.runs.recipe import ready, roles_from

    ready(read_table(work / "patients.csv"), roles_from(work / "roles.toml"), ())


def _recipe(work: Path) -> None:
    from shoal.files import read_table
    from shoal.runs.recipe import Recipe, apply_steps, ready

    recipe = Recipe.read(work / "recipe.toml")
    recipe.toml(work)
    if recipe.input.name.startswith("patients"):
        original, roles = ready(read_table(recipe.input, **recipe.reading), recipe.roles, recipe.steps)
        apply_steps(original, roles, recipe.steps, 7)


def _hierarchy(work: Path) -> None:
    from shoal.files import read_table
    from shoal.runs.recipe import roles_from

    roles = roles_from(None, tables={"hierarchies": {"diagnosis": str(work / "hierarchy.csv")}}, quasi=["diagnosis"], identifier=["name"])
    roles.check(roles.read(read_table(work / "patients.csv"), []))


def _run(work: Path) -> None:
    from shoal.runs.run import load_run

    load_run(work / "run")


def _report(work: Path) -> None:
    from shoal.runs.run import load_run, refresh

    refresh(load_run(work / "run"))


def _verify(release: str, certificate: str) -> Callable[[Path], None]:
    """As the command does, with all it prints."""

    def use(work: Path) -> None:
        from shoal.cli import verbs
        from shoal.engines.choice import Choice

        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            verbs.verify(work / release, work / certificate, None, Choice(), False)

    return use


def _signed(work: Path) -> None:
    from shoal.checks.verify import verify

    verify(work / "run", work / "run/certificate.json", work / "key.pub")


def _sign(work: Path) -> None:
    from shoal.signing import SigningKey

    (work / "key").chmod(0o600)
    SigningKey.read(work / "key").sign(b"{}")


# ---- documents, cases, collections ------------------------------------------------------------------------------------------------


def _document(ending: str) -> Callable[[Path], None]:
    """Read, its names found, written anew without a word of it."""

    def use(work: Path) -> None:
        from shoal.document import Edit
        from shoal.documents.formats.read import open_file
        from shoal.documents.formats.write import write_redacted

        file = open_file(work / f"letter.{ending}")
        edits = [Edit(*word.span(), "Word_1") for word in re.finditer("Dear", file.document.text)]
        write_redacted(file, "one", edits, work / "new")

    return use


def _case(work: Path) -> None:
    from shoal.documents.case import Case
    from shoal.documents.pipeline.originals import Originals
    from shoal.documents.review import questions

    case = Case(work / "case")
    list(questions(case, Originals(case.settings).read, "all"))
    case.undo()
    _redact(work)


def _redact(work: Path) -> None:
    from shoal.runs.documents import redact_documents

    redact_documents(work / "case", work / "new")


def _evaluate(queries: str) -> Callable[[Path], None]:
    def use(work: Path) -> None:
        from shoal.runs.documents import evaluate_documents

        evaluate_documents(work / "case", work / queries)

    return use


def _map(work: Path) -> None:
    (work / "queries.toml").write_text('[[utility]]\nname = "a"\nwords = "hospital"\n')
    _evaluate("queries.toml")(work)


def _queries(work: Path) -> None:
    from shoal.documents.risk.queries import compare, read_queries
    from shoal.text.search import SearchEngine

    asked = read_queries(work / "queries.toml")
    engine = SearchEngine(["a.txt", "b.txt"], [LETTER, "hospital treatment"])
    compare(engine, engine, asked.utility, asked.random), compare(engine, engine, asked.risk, asked.random)


def _kinds(work: Path) -> None:
    from shoal.document import Document
    from shoal.documents.detectors.kinds import read_kinds

    read_kinds(work / "kinds.toml").detect(Document("a", LETTER))


def _terms(work: Path) -> None:
    from shoal.documents.risk.terms import RiskTerms, read_senses, read_terms

    read_senses(work / "terms.txt")
    RiskTerms(read_terms(work / "terms.txt"), None).find(LETTER)


def _texts(work: Path) -> None:
    from shoal.collections.build import Builder
    from shoal.runs.collections import build_space

    build_space(work / "texts.jsonl", work / "new", Builder(least=1, keep="all"), column="text")


def _space(work: Path) -> None:
    from shoal.collections.space import Space

    Space.read(work / "space").take(slice(0, 3))


def _collection(work: Path) -> None:
    from shoal.collections.queries import answers, query_words
    from shoal.collections.release import CollectionRelease

    answers(CollectionRelease.read(work / "shared/release.npz"), query_words("oil price", None), 5)


def _collection_run(work: Path) -> None:
    from shoal.runs.collections import load_collection

    load_collection(work / "shared")


READERS = {
    "csv": Reader("tables", "patients.csv", _protect("patients.csv")),
    "csv looked at": Reader("tables", "patients.csv", _look("patients.csv")),
    "parquet": Reader("tables", "patients.parquet", _protect("patients.parquet")),
    "roles": Reader("tables", "roles.toml", _roles),
    "recipe": Reader("tables", "recipe.toml", _recipe),
    "hierarchy": Reader("tables", "hierarchy.csv", _hierarchy),
    "release of a run": Reader("tables", "run/release.csv", _verify("run/release.csv", "run/certificate.json")),
    "certificate": Reader("tables", "run/certificate.json", _verify("run/release.csv", "run/certificate.json"), damaged_json),
    "certificate of a run": Reader("tables", "run/certificate.json", _report, damaged_json),
    "recipe of a run": Reader("tables", "run/recipe.toml", _run),
    "run.json": Reader("tables", "run/private/run.json", _run, damaged_json),
    "source_rows.npy": Reader("tables", "run/private/source_rows.npy", _run),
    "signature": Reader("tables", "run/certificate.sig", _signed),
    "public key": Reader("tables", "key.pub", _signed),
    "private key": Reader("tables", "key", _sign),
    "queries": Reader("tables", "queries.toml", _queries),
    "kinds": Reader("tables", "kinds.toml", _kinds),
    "terms": Reader("tables", "terms.txt", _terms),
    "texts.jsonl": Reader("tables", "texts.jsonl", _texts, damaged_lines),
    "case.toml": Reader("cases", "case/case.toml", _case),
    "findings.jsonl": Reader("cases", "case/findings.jsonl", _case, damaged_lines),
    "decisions.jsonl": Reader("cases", "case/decisions.jsonl", _case, damaged_lines),
    "map.json": Reader("cases", "case/private/redactions/*/map.json", _map, damaged_json),
    "written.json": Reader("cases", "case/private/redactions/*/written.json", _map, damaged_json),
    "secret.json": Reader("cases", "case/private/secret.json", _redact, damaged_json),
    "certificate of documents": Reader("cases", "out/certificate.json", _verify("out", "out/certificate.json"), damaged_json),
    "space": Reader("spaces", "space/space.npz", _space, damaged_zip),
    "release.npz": Reader("spaces", "shared/release.npz", _collection, damaged_zip),
    "release.npz verified": Reader("spaces", "shared/release.npz", _verify("shared/release.npz", "shared/certificate.json"), damaged_zip),
    "run of a collection": Reader("spaces", "shared/private/run.json", _collection_run, damaged_json),
    "txt": Reader("documents", "letter.txt", _document("txt")),
    "md": Reader("documents", "letter.md", _document("md")),
    "html": Reader("documents", "letter.html", _document("html")),
    "eml": Reader("documents", "letter.eml", _document("eml")),
    "docx": Reader("documents", "letter.docx", _document("docx"), damaged_zip),
    "pdf": Reader("documents", "letter.pdf", _document("pdf")),
}
