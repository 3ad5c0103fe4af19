"""What a site is made of: folders of stored rows, verdicts on entries, and assessments."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reconbench.benchmarks.assess.report import FORMAT
from reconbench.benchmarks.game.result import Result
from reconbench.benchmarks.submissions.verdict import Verdict


class SiteError(ValueError):
    """Something that a site cannot be made of, or a folder that it cannot be written to."""


@dataclass(frozen=True)
class StoredRow:
    """A row with its key in the store and the hash of the code that made it.

    ``attack`` and ``mechanism`` are the specs that were played, files without their folders.
    """

    key: str
    code: str
    row: Result
    attack: str = ""
    mechanism: str = ""


@dataclass(frozen=True)
class ResultFolder:
    """An output folder of `reconbench run`: its name, and its rows in the order of the store.

    ``suite`` is the name of the suite that was run.
    """

    name: str
    rows: tuple[StoredRow, ...]
    suite: str
    description: str = ""

    @property
    def slug(self) -> str:
        return make_slug(self.name)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


Number = float | str | None
Text = Annotated[str, Field(max_length=10_000)]


class Share(_Part):
    value: float
    margin: float | None = None


class AssessedAttack(_Part):
    attack: Text
    real: Share


class AssessedCeiling(_Part):
    mean: float
    high: float | None


class AssessedBudget(_Part):
    epsilon: Number
    guarantee: Text
    prior_real: float
    attacks: tuple[AssessedAttack, ...]
    ceiling: AssessedCeiling | None
    noise_sd: float | None = None


class AssessedQuestion(_Part):
    epsilon: Number
    delta: float
    k: int | None
    metric: Text
    max_risk: float | None
    measure: Text
    threshold: int
    reps: int
    seed: int
    attacks: tuple[Text, ...]


class AssessedSource(_Part):
    table: Text
    records: int
    prior: Text
    fitted: bool
    release: Text | None
    held_out: Text | None = None


class AssessedMechanism(_Part):
    name: Text = "gaussian-marginals"
    options: dict[Text, bool | int | float | Text] = {}
    access: Text = "table"
    relation: Text = "replace-one"


class AssessedProof(_Part):
    scope: Text
    epsilon: Number


class Assessed(_Part):
    """What a site shows of a document of `reconbench assess`; kinds of records are left out."""

    source: AssessedSource
    targets: tuple[Text, ...]
    known: tuple[Text, ...]
    question: AssessedQuestion
    mechanism: AssessedMechanism = AssessedMechanism()
    budgets: tuple[AssessedBudget, ...]
    proved: tuple[AssessedProof, ...]
    versions: dict[Text, Text]


@dataclass(frozen=True)
class Assessment:
    """A document of `reconbench assess`, by the name of its folder."""

    name: str
    document: Assessed

    @classmethod
    def from_json(cls, name: str, raw: Mapping[str, Any]) -> Assessment:
        if raw.get("format") != FORMAT:
            raise SiteError(f"{name}: format must be {FORMAT!r}, got {str(raw.get('format'))[:60]}")
        try:
            return cls(name, Assessed.model_validate(raw))
        except ValidationError as error:
            first = error.errors()[0]
            field_name = ".".join(map(str, first["loc"]))
            raise SiteError(f"{name}: {field_name}: {first['msg']}"[:400]) from None

    @property
    def slug(self) -> str:
        return make_slug(self.name)


@dataclass(frozen=True)
class SiteContent:
    """Everything on a site.

    ``columns`` are those of installed data sets, by the data's hash, and ``shipped`` the names of
    the suites that `reconbench run` knows by name.
    """

    title: str
    folders: tuple[ResultFolder, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    assessments: tuple[Assessment, ...] = ()
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shipped: frozenset[str] = frozenset()

    def find_spec(self, suite: str) -> str:
        """What `reconbench run` takes for a suite."""
        return suite if suite in self.shipped else "path/to/suite.toml"


def identify_options(options: Mapping[str, Any]) -> str:
    """A text that tells options apart."""
    return json.dumps(dict(options), sort_keys=True, default=str)


def make_slug(name: str) -> str:
    """A file name for any name: what is plain in it, and a hash that keeps names apart."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-")
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{plain}-{digest}" if plain else digest
