"""Column lineage of a recompute expression, by sqlglot: which columns its number can come from.

What belongs here: asking sqlglot. What does not: which columns may be read (`crosscheck.independence`).

The question is asked of the text, as a query over the component sources, and not of our own tree: the proof does not
rest on the parser it is meant to judge. Names keep their case; `count(*)` reaches the rows of a source, no column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from governance_pipeline.crosscheck.formula import ALL_ROWS, Column

if TYPE_CHECKING:
    from governance_pipeline.crosscheck.formula import Formula

RESULT: Final = "computed"
_CASE_SENSITIVE: Final = ", normalization_strategy=case_sensitive"


def reachable_columns(formula: Formula) -> frozenset[Column] | None:
    """Return every component column the number of an expression can come from.

    Args:
        formula: an accepted expression; its sources are the tables of the query.

    Returns:
        The columns sqlglot finds, and the rows (``*``) of each source whose rows are counted; None when it cannot
        tell, which is no proof.
    """
    # Here, because the optimizer costs a quarter of a second to import, and records need no proof.
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError
    from sqlglot.lineage import lineage
    from sqlglot.schema import MappingSchema

    tables: dict[str, Any] = {source: {} for source in sorted(formula.sources)}
    for column in formula.columns:
        tables[column.source][column.name] = "decimal"
    expression = parse_one(formula.text)
    for identifier in expression.find_all(exp.Identifier):
        identifier.set("quoted", True)
    named = [exp.Table(this=exp.to_identifier(source, quoted=True)) for source in tables]
    query = exp.select(exp.alias_(expression, RESULT)).from_(named[0])
    for table in named[1:]:
        query = query.join(table, join_type="cross")
    # Normalizing would read a column name as SQL once more; ours are names, whatever they hold.
    schema = MappingSchema(tables, dialect=_CASE_SENSITIVE, normalize=False)
    try:
        nodes = list(lineage(RESULT, query, schema=schema, dialect=_CASE_SENSITIVE).walk())
    except SqlglotError:
        return None
    leaves = (parse_one(node.name, into=exp.Column) for node in nodes if isinstance(node.expression, exp.Table))
    rows = (column for column in formula.columns if column.name == ALL_ROWS)
    return frozenset([*(Column(leaf.table, leaf.name) for leaf in leaves), *rows])
