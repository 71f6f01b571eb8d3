"""Where the verifier keeps what it trusts: one small TOML file outside of everything it audits.

What belongs here: finding, reading and writing `gate.toml`. What does not: the things it points to. The file is the
one of the account (home by the account database, never by a variable) or the one a person names; a file in the working
directory, in the environment or in the audited tree is never looked for (in-toto's CVE-2023-32076 was exactly that).
"""

from __future__ import annotations

import json
import os
import pwd
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.trust.new_files import write_new
from governance_pipeline.trust.owned_files import owned_bytes
from governance_pipeline.vocabulary import SHA256_PATTERN

if TYPE_CHECKING:
    from collections.abc import Mapping

CONFIG_SCHEMA: Final = "govern/gate-config/v1"
CONFIG_BYTES: Final = 16 * 1024
"""Largest configuration that is read; ours has some hundred bytes."""

_MEMBERS: Final = ("schema", "root", "root_fingerprint", "ledger")
_OPTIONAL: Final = ("policy", "log_key", "notifications")
_FINGERPRINT: Final = re.compile(SHA256_PATTERN, re.ASCII)
_PRIVATE_FOLDER: Final = 0o700


class GateConfig(NamedTuple):
    """What a verifier trusts: paths of root and ledger, the pinned fingerprint of the root key, the gate policy.

    `source` is the file it was read from; `policy` is None where the shipped policy holds; `log_key` is the file of the
    key that signs checkpoints, None on a machine that only verifies, and for a ledger without one;
    `notifications` is the file that says who is told of requests, None where nobody is.
    """

    root: Path
    root_fingerprint: str
    ledger: Path
    policy: Path | None
    source: Path
    log_key: Path | None = None
    notifications: Path | None = None


def default_config_path() -> Path:
    """Give the place of the configuration of this account, by the account database."""
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    return home / ".config" / "governance-pipeline" / "gate.toml"


def load_config(path: Path | None = None) -> GateConfig:
    """Read the configuration; None means the one of this account.

    Raises:
        UsageError: there is none (make one with `govern trust init`), it is no regular file, others than its owner may
            write it or its folder, it belongs to somebody else, or it is not what it must be.
    """
    source = (default_config_path() if path is None else path).absolute()
    members = _parsed(_owned_bytes(source), source)
    unknown = sorted(members.keys() - {*_MEMBERS, *_OPTIONAL})
    missing = sorted(set(_MEMBERS) - members.keys())
    if unknown or missing:
        raise UsageError(
            f"configuration {source} has unknown {unknown}, missing {missing}; keys are {[*_MEMBERS, *_OPTIONAL]}"
        )
    texts = {name: value for name, value in members.items() if isinstance(value, str)}
    if len(texts) < len(members) or texts["schema"] != CONFIG_SCHEMA:
        raise UsageError(f'configuration {source} is not one; every value is a text, and schema is "{CONFIG_SCHEMA}"')
    if not _FINGERPRINT.fullmatch(texts["root_fingerprint"]):
        raise UsageError(f"configuration {source} is not one; root_fingerprint is no SHA-256 in lower-case hex")
    return GateConfig(
        root=_place(texts["root"], source),
        root_fingerprint=texts["root_fingerprint"],
        ledger=_place(texts["ledger"], source),
        policy=_place(texts["policy"], source) if "policy" in texts else None,
        source=source,
        log_key=_place(texts["log_key"], source) if "log_key" in texts else None,
        notifications=_place(texts["notifications"], source) if "notifications" in texts else None,
    )


def write_config(config: GateConfig) -> None:
    """Write a configuration to `config.source`, making its folder; an existing file is never overwritten.

    Raises:
        UsageError: the file exists, or a path is not absolute.
        StorageError: it could not be written.
    """
    try:
        config.source.parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"folder {config.source.parent} cannot be made: {error.strerror}") from error
    write_new(config.source, _config_bytes(config))


def replace_config(old: GateConfig, new: GateConfig) -> None:
    """Put another configuration in the place of one that is still what was read.

    Raises:
        UsageError: the file holds something else by now; it is left as it is.
        StorageError: it could not be written; the old one is then still there.
    """
    if load_config(old.source) != old:
        raise UsageError(f"{old.source} was changed meanwhile; look at it, then try again")
    AtomicWriter(old.source.parent).write(old.source, _config_bytes(new))


def _config_bytes(config: GateConfig) -> bytes:
    names = ("root", "ledger", "policy", "log_key", "notifications")
    places: dict[str, Path | None] = {name: getattr(config, name) for name in names}
    members = {
        "schema": CONFIG_SCHEMA,
        "root_fingerprint": config.root_fingerprint,
        **{name: str(_place(str(path), config.source)) for name, path in places.items() if path is not None},
    }
    lines = ["# What this verifier trusts. Keep it away from agents: whoever writes it decides who may approve."]
    lines += [f"{name} = {_toml_text(value)}" for name, value in members.items()]
    return ("\n".join(lines) + "\n").encode()


def _owned_bytes(source: Path) -> bytes:
    """Read the file, refusing one that somebody else could have written."""
    data = owned_bytes(source, "configuration (`govern trust init` makes one)", CONFIG_BYTES)
    if len(data) > CONFIG_BYTES:
        raise UsageError(f"{source} is larger than {CONFIG_BYTES} bytes; no configuration is")
    return data


def _parsed(data: bytes, source: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{source} is no TOML: {error}") from None


def _place(text: str, source: Path) -> Path:
    """Give a path of the configuration; a relative one would depend on the working directory."""
    place = Path(text)
    if not place.is_absolute() or "\0" in text:
        raise UsageError(f"configuration {source} holds {text!r}, which is no absolute path")
    return place


def _toml_text(value: str) -> str:
    """Write a basic string of TOML; JSON's escapes are a part of TOML's, but for DEL, which no path of ours holds."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
