"""The configuration is read from the account's own place or a named file, and from nowhere else."""

from __future__ import annotations

import os
import pwd

import pytest

from governance_pipeline.errors import StorageError, UsageError
from governance_pipeline.trust.config import GateConfig, default_config_path, load_config, write_config

PRINT = "ab" * 32


def _config(folder, **changed) -> GateConfig:
    values = {
        "root": folder / "trust-root.json",
        "root_fingerprint": PRINT,
        "ledger": folder / "ledger.sqlite",
        "policy": None,
        "source": folder / "conf" / "gate.toml",
        **changed,
    }
    return GateConfig(**values)


def test_a_written_configuration_is_read_back_and_closed_to_others(tmp_path):
    for config in (_config(tmp_path), _config(tmp_path, policy=tmp_path / 'p "q"\\é.json', source=tmp_path / "g.toml")):
        write_config(config)
        assert load_config(config.source) == config
        assert config.source.stat().st_mode & 0o777 == 0o600


def test_an_existing_configuration_is_never_overwritten(tmp_path):
    write_config(_config(tmp_path))
    with pytest.raises(UsageError, match="never overwritten"):
        write_config(_config(tmp_path, root_fingerprint="cd" * 32))


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "conf").write_text("a file")
    with pytest.raises(StorageError):
        write_config(_config(tmp_path))


def test_the_place_comes_from_the_account_database_only(tmp_path, monkeypatch):
    for name in ("HOME", "XDG_CONFIG_HOME", "GOVERN_CONFIG", "GATE_CONFIG"):
        monkeypatch.setenv(name, str(tmp_path / "evil"))
    home = pwd.getpwuid(os.getuid()).pw_dir
    assert str(default_config_path()) == f"{home}/.config/governance-pipeline/gate.toml"


def test_a_file_in_the_working_directory_or_the_environment_is_not_looked_for(tmp_path, monkeypatch):
    write_config(_config(tmp_path, source=tmp_path / "cwd" / "gate.toml"))
    write_config(_config(tmp_path, source=tmp_path / "home" / ".config" / "governance-pipeline" / "gate.toml"))
    monkeypatch.chdir(tmp_path / "cwd")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    account = pwd.struct_passwd(("x", "x", 0, 0, "", str(tmp_path / "account"), ""))
    monkeypatch.setattr(pwd, "getpwuid", lambda _uid: account)
    with pytest.raises(UsageError, match="not_found"):
        load_config()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_configuration_that_others_can_write_is_refused(tmp_path, mode):
    config = _config(tmp_path)
    write_config(config)
    config.source.chmod(mode)
    with pytest.raises(UsageError, match="written by others"):
        load_config(config.source)


def test_a_configuration_of_somebody_else_is_refused(tmp_path, monkeypatch):
    config = _config(tmp_path)
    write_config(config)
    if os.getuid() == 0:
        os.chown(config.source, 12345, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(UsageError, match="another user"):
        load_config(config.source)


def test_a_linked_configuration_is_refused(tmp_path):
    config = _config(tmp_path)
    write_config(config)
    (tmp_path / "link.toml").symlink_to(config.source)
    with pytest.raises(UsageError, match="symlink"):
        load_config(tmp_path / "link.toml")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not toml",
        'schema = "govern/gate-config/v1"',
        'schema = "govern/gate-config/v2"\nroot = "/r"\nroot_fingerprint = "{p}"\nledger = "/l"',
        'schema = "govern/gate-config/v1"\nroot = "r"\nroot_fingerprint = "{p}"\nledger = "/l"',
        'schema = "govern/gate-config/v1"\nroot = "/r"\nroot_fingerprint = "{p}"\nledger = "./l"',
        'schema = "govern/gate-config/v1"\nroot = "/r"\nroot_fingerprint = "{p}\\n"\nledger = "/l"',
        'schema = "govern/gate-config/v1"\nroot = "/r"\nroot_fingerprint = "x"\nledger = "/l"',
        'schema = "govern/gate-config/v1"\nroot = 1\nroot_fingerprint = "{p}"\nledger = "/l"',
        'schema = "govern/gate-config/v1"\nroot = "/r"\nroot_fingerprint = "{p}"\nledger = "/l"\nfail_open = "yes"',
    ],
)
def test_a_configuration_that_is_not_exactly_one_is_refused(tmp_path, text):
    path = tmp_path / "gate.toml"
    path.write_text(text.replace("{p}", PRINT))
    with pytest.raises(UsageError):
        load_config(path)


def test_a_huge_or_binary_configuration_is_refused(tmp_path):
    path = tmp_path / "gate.toml"
    for data in (b"#" * 20_000, b"\xff\xfe"):
        path.write_bytes(data)
        with pytest.raises(UsageError):
            load_config(path)


def test_a_relative_place_is_not_written(tmp_path):
    from pathlib import Path

    with pytest.raises(UsageError, match="no absolute path"):
        write_config(_config(tmp_path, ledger=Path("ledger.sqlite")))
