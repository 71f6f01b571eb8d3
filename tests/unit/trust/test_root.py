"""A trust root keeps its rules however it was made, and answers who controls whom."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from governance_pipeline.errors import UsageError
from governance_pipeline.trust.keys import fingerprint
from governance_pipeline.trust.principals import Key, Kind, Role
from governance_pipeline.trust.root import Revocation, TrustRoot, first_root

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize("role", [Role.ROOT, Role.APPROVER, Role.DISMISSER])
@pytest.mark.parametrize("kind", [Kind.AGENT, Kind.VALIDATOR, Kind.SERVICE])
def test_no_program_fills_a_human_slot(make_principal, make_root, role, kind):
    with pytest.raises(UsageError, match="only a human"):
        make_root(make_principal("bot", role, kind=kind))


@pytest.mark.parametrize("roles", [(Role.ROOT, Role.APPROVER), (Role.LOG, Role.VALIDATOR)])
def test_root_and_log_stand_alone(make_principal, make_root, roles):
    with pytest.raises(UsageError, match="stands alone"):
        make_root(make_principal("ana", *roles))


def test_one_key_belongs_to_one_principal(make_principal, make_root, signer):
    shared = (Key(signer("ana").public_key),)
    with pytest.raises(UsageError, match="is listed for 'ana' and 'ben'"):
        make_root(make_principal("ana", keys=shared), make_principal("ben", keys=shared))
    with pytest.raises(UsageError, match="is listed for"):
        make_root(make_principal("ana", keys=shared * 2))


@pytest.mark.parametrize("other", ["ANA", "\u0430na", "an\u200ba", "ana "])
def test_two_principals_have_names_nobody_can_mix_up(make_principal, make_root, other):
    with pytest.raises(UsageError):
        make_root(make_principal("ana", keys=()), make_principal(other, keys=()))
    with pytest.raises(UsageError):
        make_root(make_principal("ana", keys=()), make_principal("ben", keys=(), aliases=(other,)))


@pytest.mark.parametrize("name", ["", "\u200b", "a\nb", "a\u202eb", "a\x1b[0m"])
def test_a_name_is_what_a_screen_shows(make_principal, make_root, name):
    with pytest.raises(UsageError, match="no name"):
        make_root(make_principal(name, keys=()))
    with pytest.raises(UsageError, match="no name"):
        make_root(make_principal("ana", keys=(), controller=name or "\u200b"))


@pytest.mark.parametrize("raw", [b"\x01" + bytes(31), bytes(32), b"\xec" + b"\xff" * 30 + b"\x7f"])
def test_a_key_of_small_order_is_nobodys(make_principal, make_root, raw):
    with pytest.raises(UsageError, match="small order"):
        make_root(make_principal("ana", keys=(Key(raw),)))


def test_controllers_never_go_in_a_circle(make_principal, make_root):
    with pytest.raises(UsageError, match="circle"):
        make_root(
            make_principal("a", keys=(), controller="b"),
            make_principal("b", keys=(), controller="c"),
            make_principal("c", keys=(), controller="a"),
        )


def test_somebody_must_be_able_to_sign_the_next_version(make_principal):
    with pytest.raises(UsageError, match="role root"):
        TrustRoot(1, NOON, False, (make_principal("ana", Role.APPROVER),))
    with pytest.raises(UsageError, match="role root"):
        TrustRoot(1, NOON, False, (make_principal("ana", Role.ROOT, keys=()),))


@pytest.mark.parametrize("changed", [{"thresholds": {Role.APPROVER: 0}}, {"thresholds": {Role.APPROVER: -1}}])
def test_no_threshold_lets_nobody_pass(make_root, changed):
    with pytest.raises(UsageError, match="below 1"):
        make_root(**changed)


def test_versions_start_at_one(make_root, signer):
    root = first_root("ana", signer("ana").public_key, NOON)
    with pytest.raises(UsageError, match="versions start at 1"):
        TrustRoot(0, root.expires, False, root.principals)


def test_a_threshold_that_is_left_out_is_one(make_root):
    root = make_root(thresholds={Role.APPROVER: 2})
    assert (root.threshold(Role.APPROVER), root.threshold(Role.VALIDATOR)) == (2, 1)


def test_controllers_are_followed_to_the_end(make_principal, make_root):
    root = make_root(
        make_principal("ana", Role.APPROVER),
        make_principal("runner", kind=Kind.SERVICE, controller="ana", keys=()),
        make_principal("coder-5", kind=Kind.AGENT, controller="Runner", keys=(), aliases=("claude",)),
        make_principal("free", kind=Kind.AGENT, keys=()),
    )
    assert {root.controller(name) for name in ("ana", "runner", "coder-5", "CLAUDE", "\u0441oder-5")} == {"ana"}
    assert root.controller("free") == "free"
    assert root.controller("Unknown") == root.controller("unknown") != root.controller("ana")


def test_a_controller_outside_the_root_is_one_too(make_principal, make_root):
    root = make_root(
        make_principal("a", kind=Kind.AGENT, keys=(), controller="Acme"),
        make_principal("b", kind=Kind.AGENT, keys=(), controller="acme"),
    )
    assert root.controller("a") == root.controller("b")


def test_a_name_stands_for_its_principal_under_every_alias(make_principal, make_root):
    root = make_root(make_principal("checker-4", Role.VALIDATOR, kind=Kind.VALIDATOR, aliases=("nightly check",)))
    assert root.principal("Nightly Check").id == "checker-4"
    assert root.identity("nightly check") == root.identity("CHECKER-4")
    assert root.principal("nobody") is None


def test_the_next_version_has_the_new_principal(make_principal, make_root):
    root = make_root()
    grown = root.with_principal(make_principal("ana", Role.APPROVER))
    assert (grown.version, [p.id for p in grown.principals]) == (root.version + 1, ["owner", "ana"])


def test_what_is_new_about_a_principal_is_added(make_principal, make_root, signer):
    root = make_root(make_principal("ana", Role.APPROVER))
    added = make_principal("ana", Role.DISMISSER, keys=(Key(signer("second").public_key),), aliases=("a.",))
    ana = root.with_principal(added).principal("ana")
    assert (ana.roles, len(ana.keys), ana.aliases) == ({Role.APPROVER, Role.DISMISSER}, 2, ("a.",))


@pytest.mark.parametrize("changed", [{"kind": Kind.SERVICE}, {"controller": "acme"}])
def test_a_principal_does_not_change_what_it_is(make_principal, make_root, changed):
    root = make_root(make_principal("ana", Role.VALIDATOR))
    with pytest.raises(UsageError, match="is there as a human"):
        root.with_principal(make_principal("ana", Role.LOG, **changed))


def test_adding_what_is_there_changes_nothing_and_says_so(make_principal, make_root):
    root = make_root(make_principal("ana", Role.APPROVER))
    with pytest.raises(UsageError, match="already"):
        root.with_principal(make_principal("ana", Role.APPROVER))


def test_only_a_key_of_the_root_is_revoked(make_root, signer):
    root = make_root()
    print_of = fingerprint(signer("owner").public_key)
    gone = root.with_revocation(Revocation(print_of, NOON, "lost"))
    assert (gone.version, gone.is_revoked(print_of, NOON), root.is_revoked(print_of, NOON)) == (2, True, False)
    assert not gone.is_revoked(print_of, NOON - timedelta(seconds=1))
    with pytest.raises(UsageError, match="no key"):
        root.with_revocation(Revocation("00" * 32, NOON, "lost"))
