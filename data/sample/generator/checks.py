"""`data/sample/checks`: declared against computed where no agent is involved.

Each check has a subject that agrees, one that does not, and one that is only an aggregate, without any parts.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from generator.text import canonical, json_lines

Money = Decimal


class Subject(NamedTuple):
    """What a check finds for one subject; `parts` None = there are none."""

    check: str
    subject: str
    declared: Decimal | int
    parts: Decimal | int | None


INVOICES = """\
# Invoices of a shop: subtotal and total against the sum of their lines.
schema: govern/checks/v1
sources:
  invoices: {path: invoices.jsonl, key: invoice_id, role: declared}
  lines: {path: invoice_lines.jsonl, key: invoice_id, role: components}
checks:
  - id: invoice_subtotal
    field: subtotal
    declared: invoices.subtotal
    recompute: "sum(lines.net)"
    data_type: currency
    unit: EUR
    epsilon: "0.005"
    epsilon_reason: "half a cent: every line is rounded to cents before it is added"
    escalate_to: finance_owner
  - id: invoice_total
    field: total
    declared: invoices.total
    recompute: "sum(lines.net + lines.tax)"
    data_type: currency
    unit: EUR
    epsilon: "0.005"
    epsilon_reason: "half a cent: every line is rounded to cents before it is added"
    escalate_to: finance_owner
"""
ACCOUNTS = """\
# Accounts: the closing balance against the postings, debits minus credits.
schema: govern/checks/v1
sources:
  accounts: {path: accounts.csv, key: account, role: declared}
  postings: {path: postings.csv, key: account, role: components}
checks:
  - id: account_balance
    field: balance
    declared: accounts.balance
    recompute: "sum(postings.debit) - sum(postings.credit)"
    data_type: currency
    unit: EUR
    epsilon: "0"
    epsilon_reason: "postings are exact to the cent and nothing is rounded"
    escalate_to: ledger_owner
"""
ORDERS = """\
# Orders: the number of items and of positions against the positions themselves.
schema: govern/checks/v1
sources:
  orders: {path: orders.jsonl, key: order_id, role: declared}
  positions: {path: order_positions.jsonl, key: order_id, role: components}
checks:
  - id: item_count
    field: items
    declared: orders.items
    recompute: "sum(positions.quantity)"
    data_type: integer
    unit: items
    epsilon_reason: "items are counted one by one"
    escalate_to: warehouse_owner
  - id: position_count
    field: positions
    declared: orders.positions
    recompute: "count(*)"
    data_type: integer
    unit: positions
    epsilon_reason: "positions are counted one by one"
    escalate_to: warehouse_owner
"""
STOCK = """\
# Stock: the level on the shelf list against everything that came in and went out.
schema: govern/checks/v1
sources:
  stock: {path: stock.csv, key: article, role: declared}
  movements: {path: stock_movements.jsonl, key: article, role: components}
checks:
  - id: stock_level
    field: on_hand
    declared: stock.on_hand
    recompute: "sum(movements.received) - sum(movements.issued)"
    data_type: integer
    unit: pieces
    epsilon_reason: "pieces are counted one by one"
    escalate_to: warehouse_owner
"""

INVOICE_LINES = {
    "R-2025-0107": (("19.90", "3.78"), ("45.00", "8.55"), ("7.50", "1.43")),
    "R-2025-0108": (("120.00", "22.80"), ("15.40", "2.93")),
    "R-2025-0110": (("64.00", "12.16"), ("9.99", "1.90")),
}
INVOICE_HEADS = (
    ("R-2025-0107", "72.40", "86.16"),
    ("R-2025-0108", "135.40", "161.31"),
    ("R-2025-0109", "88.00", "104.72"),
    ("R-2025-0110", "73.90", "88.05"),
)
POSTINGS = {
    "1200": (("2500.00", "0.00"), ("0.00", "431.17"), ("118.06", "0.00")),
    "1400": (("980.00", "0.00"), ("0.00", "160.00")),
}
BALANCES = (("1200", "2186.89"), ("1400", "840.00"), ("1600", "-75.20"))
POSITIONS = {"A-311": (2, 1, 4), "A-312": (1, 6), "A-314": (3, 3)}
ORDER_HEADS = (("A-311", 7, 3), ("A-312", 8, 2), ("A-313", 5, 2), ("A-314", 6, 3))
MOVEMENTS = {"bolt-m6": ((500, 0), (0, 120), (0, 84)), "nut-m6": ((400, 0), (0, 95))}
LEVELS = (("bolt-m6", 296), ("nut-m6", 300), ("washer-m6", 1000))


def check_files() -> dict[str, bytes]:
    """Give the check files and their sources: path below `checks/` -> bytes."""
    invoice_lines = [
        {"invoice_id": invoice, "net": Money(net), "tax": Money(tax)}
        for invoice, lines in INVOICE_LINES.items()
        for net, tax in lines
    ]
    heads = [{"invoice_id": i, "subtotal": Money(s), "total": Money(t)} for i, s, t in INVOICE_HEADS]
    positions = [
        {"order_id": order, "position": number, "quantity": quantity}
        for order, quantities in POSITIONS.items()
        for number, quantity in enumerate(quantities, 1)
    ]
    orders = [{"order_id": o, "items": items, "positions": count} for o, items, count in ORDER_HEADS]
    movements = [
        {"article": article, "received": received, "issued": issued}
        for article, rows in MOVEMENTS.items()
        for received, issued in rows
    ]
    postings = [(account, *row) for account, rows in POSTINGS.items() for row in rows]
    return {
        "accounts.csv": _csv(("account", "balance"), BALANCES),
        "accounts.yaml": ACCOUNTS.encode(),
        "invoice_lines.jsonl": json_lines(invoice_lines),
        "invoices.jsonl": json_lines(heads),
        "invoices.yaml": INVOICES.encode(),
        "order_positions.jsonl": json_lines(positions),
        "orders.jsonl": json_lines(orders),
        "orders.yaml": ORDERS.encode(),
        "postings.csv": _csv(("account", "debit", "credit"), postings),
        "stock.csv": _csv(("article", "on_hand"), [(article, str(level)) for article, level in LEVELS]),
        "stock.yaml": STOCK.encode(),
        "stock_movements.jsonl": json_lines(movements),
    }


def check_answers() -> list[dict[str, Any]]:
    """Give the record each subject of each check must get."""
    return [_answer(file, subject) for file, subjects in _subjects().items() for subject in subjects]


def _subjects() -> dict[str, list[Subject]]:
    nets = {i: sum((Money(net) for net, _ in lines), Money(0)) for i, lines in INVOICE_LINES.items()}
    taxes = {i: sum((Money(tax) for _, tax in lines), Money(0)) for i, lines in INVOICE_LINES.items()}
    totals = {i: nets[i] + taxes[i] for i in nets}
    balances = {a: sum((Money(d) - Money(c) for d, c in rows), Money(0)) for a, rows in POSTINGS.items()}
    levels = {a: sum(received - issued for received, issued in rows) for a, rows in MOVEMENTS.items()}
    return {
        "accounts.yaml": [Subject("account_balance", a, Money(b), balances.get(a)) for a, b in BALANCES],
        "invoices.yaml": [Subject("invoice_subtotal", i, Money(s), nets.get(i)) for i, s, _ in INVOICE_HEADS]
        + [Subject("invoice_total", i, Money(t), totals.get(i)) for i, _, t in INVOICE_HEADS],
        "orders.yaml": [
            Subject("item_count", o, items, sum(POSITIONS[o]) if o in POSITIONS else None)
            for o, items, _ in ORDER_HEADS
        ]
        + [
            Subject("position_count", o, count, len(POSITIONS[o]) if o in POSITIONS else None)
            for o, _, count in ORDER_HEADS
        ],
        "stock.yaml": [Subject("stock_level", a, level, levels.get(a)) for a, level in LEVELS],
    }


def _answer(file: str, subject: Subject) -> dict[str, Any]:
    delta = None if subject.parts is None else Decimal(subject.declared) - Decimal(subject.parts)
    status = "unverifiable" if delta is None else "mismatch" if delta else "match"
    return {
        "file": f"checks/{file}",
        "check_id": subject.check,
        "subject_id": subject.subject,
        "declared": canonical(subject.declared),
        "computed": None if subject.parts is None else canonical(subject.parts),
        "delta": None if delta is None else canonical(delta),
        "status": status,
        "reason_code": "components_missing" if delta is None else None,
    }


def _csv(header: tuple[str, ...], rows: Any) -> bytes:
    return "".join(",".join(row) + "\n" for row in [header, *rows]).encode()
