"""Declared numbers of a foreign log, and the parts they can be recomputed from.

What belongs here: the rows of `core_declared` and `core_components`. What does not: which members of a format are
which. A part the log does not know is there as missing, so that a sum over it is unknown and not smaller.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from governance_pipeline.ingest.extraction import value_kind, value_raw
from governance_pipeline.vocabulary import ANY_SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from governance_pipeline.ingest.extraction import Extraction
    from governance_pipeline.ingest.formats.places import Place
    from governance_pipeline.vocabulary import DataType


@dataclass(frozen=True)
class Field:
    """One kind of declared number of a format."""

    name: str
    data_type: DataType
    unit: str


@dataclass
class Subject:
    """What declared numbers are about; `parts` are the files its components come from."""

    out: Extraction
    format: str
    subject_id: str
    parts: Iterable[str]

    def declare(self, place: Place, field: Field, value: Any) -> None:
        """Add a declared number found at `place`; a value that is no number is kept as what it is."""
        place.add(
            self.out,
            "core_declared",
            subject_id=self.subject_id,
            field=field.name,
            value_raw=value_raw(value),
            value_kind=value_kind(value).value,
            data_type=field.data_type.value,
            unit=field.unit,
            format=self.format,
            component_paths=json.dumps({ANY_SOURCE: sorted(set(self.parts))}, ensure_ascii=False),
        )

    def component(
        self,
        source: str,
        row_index: int,
        columns: Mapping[str, tuple[Place, Any]],
        elsewhere: Mapping[str, Any] | None = None,
    ) -> None:
        """Add one component row: column name -> where it stands and what is there (None: the log does not know).

        `elsewhere` is path, file_sha256 and line of a row that stands in a file another format has read.
        """
        for column, (place, value) in columns.items():
            place.add(
                self.out,
                "core_components",
                subject_id=self.subject_id,
                source=source,
                row_index=row_index,
                column=column,
                value_raw=value_raw(value),
                value_kind=value_kind(value).value,
                format=self.format,
                **(elsewhere or {}),
            )
