"""Rounds of the billing project: features, some validated by a second agent."""

from __future__ import annotations

from generator.model import Plan

PLANS = (
    Plan(
        1,
        "Invoices can carry a second tax line",
        "The sum of both tax lines is the tax on the invoice, cent for cent",
        "python -m pytest tests/invoices/test_second_tax.py -q",
        (
            (("services/invoices/taxes.py", 46, 8), ("services/invoices/totals.py", 12, 5)),
            (("api/v2/invoices.py", 9, 2), ("tests/invoices/test_second_tax.py", 52, 0)),
        ),
        mode="final",
        has_scout=True,
        orphan=True,
    ),
    Plan(
        2,
        "Credit notes refer to the invoice they reverse",
        "A credit note without its invoice is refused",
        "python -m pytest tests/invoices/test_credit_notes.py -q",
        (
            (("services/invoices/credit_notes.py", 9, 3),),
            (("tests/invoices/test_credit_notes.py", 8, 0),),
        ),
        kind="claude_code",
    ),
    Plan(
        3,
        "Dunning letters are grouped per customer",
        "Three overdue invoices of one customer give one letter with three lines",
        "python -m pytest tests/dunning/test_grouping.py -q",
        (
            (("services/dunning/letters.py", 38, 17),),
            (("services/dunning/schedule.py", 11, 4), ("tests/dunning/test_grouping.py", 36, 0)),
        ),
    ),
    Plan(
        4,
        "Payment terms can be set per customer",
        "The due date of an invoice follows the terms valid on its date",
        "python -m pytest tests/terms/test_due_dates.py -q",
        (
            (("services/terms/model.py", 44, 0), ("services/terms/due_dates.py", 21, 9)),
            (("tests/terms/test_due_dates.py", 40, 0),),
        ),
        mode="final",
    ),
    Plan(
        5,
        "Refunds post to the ledger on the value date",
        "A refund booked on a Sunday has the value date of the Monday after",
        "python -m pytest tests/ledger/test_refunds.py -q",
        (
            (("services/ledger/refunds.py", 27, 10),),
            (("services/ledger/calendar.py", 14, 0), ("tests/ledger/test_refunds.py", 33, 0)),
        ),
        mode="final",
    ),
    Plan(
        6,
        "Foreign-currency invoices show the rate used",
        "Rate, source and date are printed below the total",
        "python -m pytest tests/invoices/test_rates.py -q",
        (
            (("services/rates/lookup.py", 31, 6), ("services/invoices/layout.py", 18, 3)),
            (("tests/invoices/test_rates.py", 29, 0),),
            (("api/v2/rates.py", 16, 0),),
        ),
        baseline_version="1.1.0",
        has_scout=True,
    ),
    Plan(
        7,
        "Recurring invoices pause with the contract",
        "No invoice is created for a month in which the contract rests",
        "python -m pytest tests/recurring/test_pauses.py -q",
        (
            (("services/recurring/schedule.py", 8, 4),),
            (("tests/recurring/test_pauses.py", 9, 0),),
        ),
        kind="claude_code",
        baseline_version="1.1.0",
    ),
    Plan(
        8,
        "Statement export includes open items",
        "Each open item of the period is on the statement once",
        "python -m pytest tests/statements/test_export.py -q",
        (
            (("services/statements/export.py", 35, 12),),
            (("tests/statements/test_export.py", 27, 0),),
        ),
        baseline_version="1.1.0",
    ),
    Plan(
        9,
        "Discounts apply before tax",
        "A ten per cent discount lowers the tax base by ten per cent",
        "python -m pytest tests/invoices/test_discounts.py -q",
        (
            (("services/invoices/discounts.py", 23, 8), ("services/invoices/totals.py", 7, 7)),
            (("tests/invoices/test_discounts.py", 30, 0),),
        ),
        baseline_version="1.1.0",
    ),
    Plan(
        10,
        "Direct debits are batched per mandate",
        "One batch holds the debits of one mandate and one due date",
        "python -m pytest tests/debits/test_batches.py -q",
        (
            (("services/debits/batches.py", 41, 13),),
            (("tests/debits/test_batches.py", 37, 0),),
        ),
        mode="final",
        baseline_version="1.1.0",
    ),
    Plan(
        11,
        "Invoice numbers stay gapless per year",
        "A cancelled draft gives its number to the next invoice",
        "python -m pytest tests/invoices/test_numbers.py -q",
        (
            (("services/invoices/numbers.py", 8, 3),),
            (("tests/invoices/test_numbers.py", 9, 0),),
        ),
        kind="mini_swe_agent",
        baseline_version="1.1.0",
    ),
    Plan(
        12,
        "Partial payments settle the oldest item first",
        "A payment of half the balance closes the oldest item and leaves the newest",
        "python -m pytest tests/ledger/test_partial.py -q",
        (
            (("services/ledger/settlement.py", 36, 15),),
            (("services/ledger/items.py", 9, 3),),
            (("tests/ledger/test_partial.py", 34, 0),),
        ),
        baseline_version="1.1.0",
    ),
)
