"""Plays the vectors of this folder through the library and through the command line, each answering with one code.

A vector is `{"id", "row", "input", "expect_code"}`; `expect_code` null: it is sound. What `input` holds is said at the
player of its file. The vectors of the gate are played by `tests/unit/gate/scenario.py`.
"""

from __future__ import annotations

import copy
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from governance_pipeline.cli.main import run
from governance_pipeline.errors import GovernError, UnreadableError, UsageError
from governance_pipeline.ledger.checkpoint import signed_checkpoint
from governance_pipeline.ledger.head import Head
from governance_pipeline.ledger.held import hold_to
from governance_pipeline.ledger.ledger import Ledger
from governance_pipeline.ledger.log_principal import log_principal
from governance_pipeline.ledger.proofs import check_proof, consistency_proof, inclusion_proof
from governance_pipeline.ledger.trusted_root import TRUST_ROOT, remember_root, trusted_root
from governance_pipeline.strict.records import Refused, read_json_lines
from governance_pipeline.trust import dsse
from governance_pipeline.trust.config import GateConfig, load_config, write_config
from governance_pipeline.trust.keys import KeyFileSigner, fingerprint
from governance_pipeline.trust.principals import Key, Kind, Principal, Role
from governance_pipeline.trust.reasons import Refusal
from governance_pipeline.trust.root import Revocation, TrustRoot, first_root
from governance_pipeline.trust.root_document import ROOT_PAYLOAD_TYPE, root_bytes, sign_root

if TYPE_CHECKING:
    from pathlib import Path

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
YEAR = timedelta(days=365)
EVENTS = 9


def signer(name: str) -> KeyFileSigner:
    """Give the key of a name: made from the name."""
    seed = name.encode().ljust(32, b".")[:32]
    return KeyFileSigner(Ed25519PrivateKey.from_private_bytes(seed), is_encrypted=False)


class Answers:
    """Runs a command and reads its JSON."""

    def __init__(self, capture: Any) -> None:
        self.capture = capture

    def __call__(self, *arguments: str) -> tuple[int, Any, str]:
        self.capture.readouterr()
        code = run([*arguments, "--json"])
        printed = self.capture.readouterr()
        return code, json.loads(printed.out) if printed.out else None, printed.err


class LedgerPlayer:
    """A ledger somebody changed.

    `sql` (done to the file), `drop_triggers`, `cut_clean` (a whole file of so many events put in its place),
    `rewrite` (another one of the same size), `head` `before` (of the untouched ledger, kept elsewhere), `checkpoint`
    (signed by the log, of this head).
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700)
        self.ledger = _filled(folder / "ledger.sqlite", EVENTS)
        first = first_root("owner", signer("owner").public_key, NOON + YEAR)
        self.root = TrustRoot(
            1, first.expires, False, (*first.principals, log_principal(signer("log").public_key, NOON - YEAR))
        )
        self.config = GateConfig(
            folder / "root.json", fingerprint(signer("owner").public_key), self.ledger.path, None, folder / "gate.toml"
        )
        _private(self.config.root, sign_root(self.root, signer("owner")))
        write_config(self.config)

    def prepare(self, given: dict[str, Any]) -> None:
        before = self.ledger.head()
        self.heads = [before] if given.get("head") == "before" else []
        for size, is_other in ((given.get("cut_clean"), False), (EVENTS if given.get("rewrite") else None, True)):
            if size is not None:
                for end in ("", "-wal", "-shm"):
                    self.ledger.path.with_name(self.ledger.path.name + end).unlink(missing_ok=True)
                _filled(self.ledger.path, size, is_other=is_other)
        _tamper(self.ledger.path, given.get("sql"), is_kept=not given.get("drop_triggers"))
        self.notes = []
        if (head := given.get("checkpoint")) is not None:
            self.notes = [signed_checkpoint(Head(**head), self.config, signer("log"))]

    def library(self) -> tuple[str | None, int | None]:
        faults = self.ledger.verify(self.heads)
        faults += hold_to(self.ledger, [note.encode() for note in self.notes], self.root).faults
        return (faults[0].code, faults[0].seq) if faults else (None, None)

    def command(self, answers: Answers) -> tuple[str | None, int | None]:
        arguments = ["ledger", "verify"]
        arguments += [part for head in self.heads for part in ("--head", f"{head.size}:{head.root}")]
        for number, note in enumerate(self.notes):
            (self.folder / f"{number}.note").write_text(note)
            arguments += ["--checkpoint", str(self.folder / f"{number}.note")]
        where = ("--config", str(self.config.source)) if self.notes else ("--ledger", str(self.ledger.path))
        code, document, _ = answers(*arguments, *where)
        assert code == (1 if document["faults"] else 0)
        first = document["faults"][0] if document["faults"] else {"code": None, "seq": None}
        return first["code"], first["seq"]


class ProofPlayer:
    """`kind`, and what is changed: members `set`, numbers added to members, or one of the words of `_changed`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        self.folder, self.ledger = folder, _filled(folder / "ledger.sqlite", EVENTS)

    def prepare(self, given: dict[str, Any]) -> None:
        made = inclusion_proof(self.ledger, 4) if given["kind"] == "inclusion" else consistency_proof(self.ledger, 3)
        self.proofs = [json.dumps(proof).encode() for proof in _changed(made, given)]

    def library(self) -> tuple[str | None, None]:
        return _only({_judged(data) for data in self.proofs}), None

    def command(self, answers: Answers) -> tuple[str | None, None]:
        found = set()
        for data in self.proofs:
            (self.folder / "proof.json").write_bytes(data)
            code, document, _ = answers("ledger", "check-proof", str(self.folder / "proof.json"))
            found.add("unreadable" if code == 3 else None if document["is_proof"] else "no proof")
        return _only(found), None


class RootPlayer:
    """A trust root and what lies around it.

    `add` (a human approver of this name), `owner` and `signed_by` (names of keys), `replace` and `replace_payload`
    (in the bytes, after and before signing), `seen` (version recorded), `forged` (version recorded by somebody),
    `revoke`, `expires_hours`, `mode` (of files), `beside` (files in the working directory).
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        self.folder, self.ledger = folder, Ledger.create(folder / "ledger.sqlite")
        self.pinned = fingerprint(signer("owner").public_key)

    def prepare(self, given: dict[str, Any]) -> None:
        now = datetime.now(UTC)
        expires = now + (timedelta(hours=given["expires_hours"]) if "expires_hours" in given else YEAR)
        root = first_root("owner", signer(given.get("owner", "owner")).public_key, expires)
        honest = sign_root(first_root("owner", signer("owner").public_key, now + YEAR), signer("owner"))
        if given.get("seen") == 1:
            remember_root(
                self.ledger, root, actor="owner", ts=now, data=sign_root(root, signer("owner")), pinned=self.pinned
            )
        elif "seen" in given:
            grown = root.with_principal(Principal("x", Kind.AGENT, "x"))
            data = sign_root(grown, signer("owner"))
            remember_root(self.ledger, grown, actor="owner", ts=now, data=data, pinned=self.pinned)
        if "forged" in given:
            self.ledger.append(TRUST_ROOT, "forger", {"version": given["forged"], "sha256": "f" * 64}, ts=now)
        config = GateConfig(self.folder / "root.json", self.pinned, self.ledger.path, None, self.folder / "gate.toml")
        write_config(config)
        _private(config.root, _root_file(root, given, now))
        for name, mode in given.get("mode", {}).items():
            (self.folder / name).chmod(mode)
        self.beside = given.get("beside", [])
        self.junk = honest

    def library(self) -> tuple[str | None, None]:
        try:
            trusted_root(load_config(self.folder / "gate.toml"), self.ledger, datetime.now(UTC))
        except Refusal as refusal:
            return str(refusal.code), None
        except UsageError:
            return "usage", None
        return None, None

    def command(self, answers: Answers, monkeypatch: Any) -> tuple[str | None, None]:
        place = self.folder / "cwd"
        place.mkdir()
        for name in self.beside:  # what an agent would like to be believed
            (place / name).write_bytes(b"root = '/nowhere'\n")
        monkeypatch.chdir(place)
        code, _, err = answers("trust", "show", "--config", str(self.folder / "gate.toml"))
        if code == 0:
            return None, None
        return ("usage" if code == 2 else next(word for word in err.replace(":", " ").split() if word.isupper())), None


class LinePlayer:
    """One line of a log between two sound ones: `text`, `hex`, `repeat` (part, times, end) or `keys` (so many)."""

    def __init__(self, folder: Path) -> None:
        (folder / "logs").mkdir(parents=True)
        self.folder = folder / "logs"

    def prepare(self, given: dict[str, Any]) -> None:
        if "repeat" in given:
            part, times, end = given["repeat"]
            line = (part * times + end).encode()
        elif "keys" in given:
            line = json.dumps({f"k{number}": 1 for number in range(given["keys"])}).encode()
        else:
            line = bytes.fromhex(given["hex"]) if "hex" in given else given["text"].encode("utf-8", "surrogatepass")
        (self.folder / "session.jsonl").write_bytes(SOUND + b"\n" + line + b"\n" + SOUND + b"\n")

    def library(self) -> tuple[str | None, int | None]:
        records = list(read_json_lines(self.folder / "session.jsonl"))
        assert len(records) == 3
        refused = [record for record in records if isinstance(record, Refused)]
        return (refused[0].code, refused[0].line) if refused else (None, None)

    def command(self, answers: Answers) -> tuple[str | None, int | None]:
        _, document, _ = answers("audit", str(self.folder), "--fail-on", "never")
        (file,) = document["files"]
        assert file["lines_in"] == file["accepted"] + file["quarantined"] + file["blank"] + file["duplicates"] == 3
        reasons = document["quarantine_reasons"]
        return next(iter(reasons.values()), None), 2 if reasons else None


SOUND = b'{"type":"user","sessionId":"s-1","uuid":"u","message":{"role":"user","content":"hi"}}'
PLAYERS = {"ledger": LedgerPlayer, "proofs": ProofPlayer, "root": RootPlayer, "lines": LinePlayer}


def _filled(path: Path, size: int, *, is_other: bool = False) -> Ledger:
    ledger = Ledger.create(path)
    for number in range(1, size + 1):
        ledger.append("NOTE", "ana", {"n": number, **({"other": True} if is_other else {})}, ts=NOON)
    return ledger


def _private(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    path.chmod(0o600)


def _tamper(path: Path, statements: list[str] | None, *, is_kept: bool) -> None:
    if statements is None:
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, text in triggers if is_kept else ():
            connection.execute(text)


def _changed(proof: dict[str, Any], given: dict[str, Any]) -> list[dict[str, Any]]:
    change, made = given.get("change"), copy.deepcopy(proof) | given.get("set", {})
    if change is None:
        return [made]
    if isinstance(change, dict):
        return [made | {name: made[name] + number for name, number in change.items()}]
    path = made["path"]
    if change == "each node of the path":
        return [made | {"path": [*path[:at], _flipped(path[at]), *path[at + 1 :]]} for at in range(len(path))]
    return [
        {
            "path cut": made | {"path": path[:-1]},
            "path grown": made | {"path": [*path, path[-1]]},
            "short hash": made | {"path": [path[0][:-2], *path[1:]]},
            "event": made | {"event": made.get("event", "").replace("ana", "eve")},
        }[change]
    ]


def _flipped(text: str) -> str:
    return f"{int(text[0], 16) ^ 1:x}{text[1:]}"


def _judged(data: bytes) -> str | None:
    try:
        return "no proof" if check_proof(data) is None else None
    except UnreadableError:
        return "unreadable"


def _only(found: set[str | None]) -> str | None:
    assert len(found) == 1, found
    return next(iter(found))


def _root_file(root: TrustRoot, given: dict[str, Any], now: datetime) -> bytes:
    if "add" in given:
        person = Principal(
            given["add"], Kind.HUMAN, given["add"], frozenset({Role.APPROVER}), (Key(signer("x").public_key),)
        )
        root = root.with_principal(person)
    if "revoke" in given:
        root = root.with_revocation(Revocation(fingerprint(signer(given["revoke"]).public_key), now, "lost"))
    payload = root_bytes(root)
    for old, new in [given["replace_payload"]] if "replace_payload" in given else []:
        payload = payload.replace(old.encode(), new.encode())
    data = dsse.sign(payload, ROOT_PAYLOAD_TYPE, signer(given.get("signed_by", "owner")))
    if "replace" in given:
        envelope = dsse.parse_envelope(data)
        old, new = (part.encode() for part in given["replace"])
        data = dsse.envelope_bytes(envelope._replace(payload=envelope.payload.replace(old, new)))
    return data


assert GovernError
