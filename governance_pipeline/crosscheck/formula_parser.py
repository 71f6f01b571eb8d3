"""From the text of a recompute expression to its tree, by way of sqlglot.

What belongs here: parsing. What does not: the tree (`crosscheck.formula`) and its lineage (`crosscheck.lineage`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import ParseError, SqlglotError

from governance_pipeline.crosscheck.formula import (
    ALL_ROWS,
    Aggregate,
    Arithmetic,
    Column,
    Expression,
    FormulaRefused,
    Function,
    Negation,
    Number,
    Operator,
)
from governance_pipeline.strict.excerpt import excerpt
from governance_pipeline.strict.numbers import exact_number, is_number

if TYPE_CHECKING:
    from sqlglot import Token

MAX_CHARACTERS = 4000
MAX_TOKENS = 500
MAX_NESTING = 16
"""Bounds of one expression: far beyond any real one, far below what exhausts the parser's stack."""

_OPERATORS: dict[type[exp.Expression], Operator] = {
    exp.Add: Operator.ADD,
    exp.Sub: Operator.SUBTRACT,
    exp.Mul: Operator.MULTIPLY,
    exp.Div: Operator.DIVIDE,
}
_AGGREGATES: dict[type[exp.Expression], Function] = {
    exp.Sum: Function.SUM,
    exp.Min: Function.MIN,
    exp.Max: Function.MAX,
    exp.Avg: Function.AVG,
}
# Members of sqlglot nodes that say nothing about the expression: how a dialect types its result.
_SILENT = {"big_int", "typed", "safe"}


def parse_expression(text: str, only_source: str | None) -> Expression:
    """Parse a normalised expression; see `formula.parse_formula` for arguments and refusals."""
    tokens = _tokens(text)
    node = _parse(text)
    reader = _Reader(text, _rows_of(node, only_source))
    root = reader.outside(node)
    if not _same_words(reader.words, tokens):
        raise reader.forbidden("it holds words outside the grammar, such as a unary plus, ALL or a second statement")
    if reader.faults:
        raise FormulaRefused(text, list(dict.fromkeys(reader.faults)))
    if not reader.has_aggregate:
        raise FormulaRefused(text, [("no_components", "a constant reads no component; name source.column")])
    return root


def _tokens(text: str) -> list[Token]:
    if len(text) > MAX_CHARACTERS:
        raise _forbidden(text, f"longer than {MAX_CHARACTERS} characters")
    try:
        tokens = list(sqlglot.tokenize(text))
    except SqlglotError as error:
        raise _syntax(text, error) from None
    if any(token.comments for token in tokens) or (not tokens and text):
        raise _forbidden(text, "comments are not part of an expression; use epsilon_reason or a YAML comment")
    depth, deepest = 0, 0
    for token in tokens:
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        deepest = max(deepest, depth)
    if len(tokens) > MAX_TOKENS or deepest > MAX_NESTING:
        raise _forbidden(text, f"more than {MAX_TOKENS} words or {MAX_NESTING} levels of parentheses")
    return tokens


def _parse(text: str) -> exp.Expression:
    try:
        statements = sqlglot.parse(text)
    except RecursionError:
        raise _forbidden(text, "nested too deeply") from None
    except SqlglotError as error:
        raise _syntax(text, error) from None
    if not statements or statements[0] is None:
        raise FormulaRefused(text, [("recompute_syntax", "the expression is empty; write an aggregate of components")])
    if len(statements) > 1 or not isinstance(statements[0], exp.Expression):
        raise _forbidden(text, "it is not one expression")
    return statements[0]


def _rows_of(node: exp.Expression, only_source: str | None) -> str | None:
    """The source whose rows ``count(*)`` counts: the one the expression names, else the only component source."""
    named = {column.table for column in node.find_all(exp.Column)} - {""}
    if not named:
        return only_source
    return named.pop() if len(named) == 1 else None


def _same_words(words: list[Word], tokens: list[Token]) -> bool:
    return len(words) == len(tokens) and all(map(_is_word, words, tokens))


def _is_word(word: Word, token: Token) -> bool:
    if word.is_keyword:
        return token.text.lower() == word.text and token.token_type != TokenType.IDENTIFIER
    return token.text == word.text


def _syntax(text: str, error: SqlglotError) -> FormulaRefused:
    # The message itself marks the place with terminal escapes; its parts do not.
    first = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
    why = f"{first.get('description', 'it cannot be cut into words')} at character {first.get('col', 1)}"
    return FormulaRefused(text, [("recompute_syntax", f"not an expression: {excerpt(why, 160)}")])


def _forbidden(text: str, why: str) -> FormulaRefused:
    return FormulaRefused(text, [("recompute_forbidden", why)])


class Word(NamedTuple):
    """A word the rebuilt tree stands for; keywords are compared without case, names and numbers exactly."""

    text: str
    is_keyword: bool = False


class _Reader:
    """Rebuilds the tree from a closed list of nodes and notes the words it read, in order."""

    def __init__(self, text: str, rows_of: str | None) -> None:
        self.words: list[Word] = []
        self.faults: list[tuple[str, str]] = []
        self.has_aggregate = False
        self._text = text
        self._rows_of = rows_of

    def forbidden(self, why: str) -> FormulaRefused:
        return _forbidden(self._text, why)

    def outside(self, node: exp.Expression) -> Expression:
        """An expression outside aggregates: arithmetic, literals and aggregates."""
        if isinstance(node, exp.Column):
            column = self._column(node)
            if column.source:
                self._fault("recompute_not_aggregate", f"column {excerpt(column.name, 40)} stands outside an aggregate")
            return column
        if type(node) in _AGGREGATES or isinstance(node, exp.Count):
            self.has_aggregate = True
            return self._count(node) if isinstance(node, exp.Count) else self._aggregate(node)
        return self._arithmetic(node, inside=False)

    def inside(self, node: exp.Expression) -> Expression:
        """An expression inside an aggregate: arithmetic without division, literals and columns."""
        if isinstance(node, exp.Column):
            return self._column(node)
        if isinstance(node, exp.Div):
            raise self.forbidden("division stands outside aggregates")
        return self._arithmetic(node, inside=True)

    def _arithmetic(self, node: exp.Expression, *, inside: bool) -> Expression:
        read = self.inside if inside else self.outside
        operator = _OPERATORS.get(type(node))
        if operator is not None:
            self._only(node, "this", "expression")
            left = read(node.this)
            self._read(operator.value)
            return Arithmetic(operator, left, read(node.expression))
        if isinstance(node, exp.Neg):
            self._only(node, "this")
            self._read("-")
            return Negation(read(node.this))
        if isinstance(node, exp.Paren):
            self._only(node, "this")
            self._read("(")
            inner = read(node.this)
            self._read(")")
            return inner
        if isinstance(node, exp.Literal) and not node.is_string:
            return self._number(node)
        raise self.forbidden(f"{excerpt(node.key, 40)} is not part of the grammar")

    def _number(self, node: exp.Literal) -> Number:
        text = str(node.this)
        value = exact_number(text) if is_number(text) else None
        if value is None:
            raise self.forbidden(f"{excerpt(text, 40)} is not an exact number of at most 30 decimals and 38 digits")
        self._read(text)
        return Number(value)

    def _column(self, node: exp.Column) -> Column:
        self._only(node, "this", "table")
        name, source = node.this, node.args.get("table")
        if not isinstance(name, exp.Identifier) or name.name == ALL_ROWS:
            raise self.forbidden("a star is allowed in count(*) only")
        if source is None:
            self._fault("recompute_unqualified", f"column {excerpt(name.name, 40)} has no source before it")
        elif source.args.get("quoted"):
            raise self.forbidden("the name of a source is never quoted")
        else:
            self._read(source.name, ".")
        self._read(name.name)
        return Column(source.name if source else "", name.name)

    def _aggregate(self, node: exp.Expression) -> Aggregate:
        function = _AGGREGATES[type(node)]
        self._only(node, "this")
        self._read(function.value, "(", keyword=True)
        argument = self.inside(node.this)
        self._read(")")
        return Aggregate(function, self._source_of(node), argument)

    def _count(self, node: exp.Count) -> Aggregate:
        self._only(node, "this")
        self._read("count", "(", keyword=True)
        counted, function = node.this, Function.COUNT
        if isinstance(counted, exp.Distinct):
            self._only(counted, "expressions")
            if len(counted.expressions) != 1:
                raise self.forbidden("count(distinct …) takes one column")
            self._read("distinct", keyword=True)
            counted, function = counted.expressions[0], Function.COUNT_DISTINCT
        if isinstance(counted, exp.Column):
            argument = self._column(counted)
            self._read(")")
            return Aggregate(function, argument.source, argument)
        if not isinstance(counted, exp.Star) or function is Function.COUNT_DISTINCT:
            raise self.forbidden("count takes *, a column or distinct and a column")
        self._only(counted)
        self._read("*", ")")
        if self._rows_of is None:
            self._fault("recompute_unqualified", "count(*) does not say of which source; use count(source.column)")
        return Aggregate(Function.COUNT_ROWS, self._rows_of or "", None)

    def _source_of(self, node: exp.Expression) -> str:
        sources = {column.table for column in node.find_all(exp.Column)}
        if not sources:
            raise self.forbidden("an aggregate of a constant reads no component; name a column or use count(*)")
        if len(sources - {""}) > 1:
            self._fault("recompute_mixed_sources", "one aggregate reads two sources, which are never joined")
        return min(sources)

    def _only(self, node: exp.Expression, *members: str) -> None:
        """Refuse a node that carries anything the grammar does not know (a filter, an alias, a join mark)."""
        extra = {name for name, value in node.args.items() if value and name not in {*members, *_SILENT}}
        if extra:
            raise self.forbidden(f"{excerpt(node.key, 40)} carries {excerpt(', '.join(sorted(extra)), 60)}")

    def _read(self, *texts: str, keyword: bool = False) -> None:
        self.words += [Word(text, keyword) for text in texts]

    def _fault(self, code: str, message: str) -> None:
        self.faults.append((code, message))
