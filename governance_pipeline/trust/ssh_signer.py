"""Signing with a key of OpenSSH: in a file, in an agent, or in a FIDO authenticator, through `ssh-keygen -Y sign`.

What belongs here: finding the public half, running OpenSSH, and checking what it gave. What does not: the format
(`sshsig`). The private half is never read here; OpenSSH asks for passphrases and touches itself, on the terminal.
"""

from __future__ import annotations

import base64
import binascii
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.strict.files import open_regular
from governance_pipeline.trust.keys import KEY_FILE_BYTES
from governance_pipeline.trust.points import is_sound_point
from governance_pipeline.trust.sshsig import NAMESPACE, made_by, parse_sshsig, public_key_of

if TYPE_CHECKING:
    from pathlib import Path

SSH_AGENT: Final = "ssh_agent"
PRESENCE: Final = "presence"
"""Assurances of the two kinds of key (spec/gate.md §3)."""

_PRIVATE: Final = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_PUBLIC: Final = (b"ssh-ed25519 ", b"sk-ssh-ed25519@openssh.com ")


@dataclass(frozen=True)
class SshSigner:
    """A signer whose key OpenSSH holds; `path` is its private file, or the public half of a key in an agent."""

    path: Path
    public_key: bytes
    application: str | None

    @property
    def assurance(self) -> str:
        """`presence` for an authenticator's key, which must be made with verify-required; else `ssh_agent`."""
        return SSH_AGENT if self.application is None else PRESENCE

    def sign(self, message: bytes) -> bytes:
        """Have OpenSSH sign a message; the armored signature.

        Raises:
            UsageError: there is no OpenSSH here, it did not sign, or it signed with another key.
        """
        program = shutil.which("ssh-keygen")
        if program is None:
            raise UsageError("there is no ssh-keygen on this machine; use a key file of `govern trust add --new-key`")
        done = subprocess.run(  # noqa: S603 - the user's own OpenSSH and key file, no shell
            [program, "-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(self.path)],
            input=message,
            stdout=subprocess.PIPE,
            check=False,
        )
        signature = parse_sshsig(done.stdout)
        if done.returncode != 0 or signature is None:
            raise UsageError(
                f"ssh-keygen did not sign with {self.path} (exit {done.returncode}); see what it said above"
            )
        if not made_by(signature, message, self.public_key, self.application):
            raise UsageError(f"ssh-keygen signed with another key than {self.path}; load that one into the agent")
        return done.stdout


def is_ssh_key(data: bytes) -> bool:
    """Tell whether the content of a key file is of OpenSSH."""
    return data.startswith(_PRIVATE) or data.lstrip().startswith(_PUBLIC)


def ssh_signer(path: Path) -> SshSigner:
    """Give the signer of an OpenSSH key: of a private file (its `.pub` lies beside it), or of a public one.

    Raises:
        UnreadableError: there is no public half, or it is of another kind than Ed25519.
    """
    with open_regular(path) as stream:
        is_private = stream.read(len(_PRIVATE)) == _PRIVATE
    public = path.with_name(f"{path.name}.pub") if is_private else path
    return SshSigner(path, *read_ssh_public_key(public))


def read_ssh_public_key(path: Path) -> tuple[bytes, str | None]:
    """Read the public half of an OpenSSH key: raw Ed25519 bytes, and the application of an authenticator's key.

    Raises:
        UnreadableError: no regular file, or no Ed25519 key in one line of OpenSSH.
    """
    with open_regular(path) as stream:
        parts = stream.read(KEY_FILE_BYTES).split()
    try:
        kind, blob = parts[0].decode("ascii"), base64.b64decode(parts[1], validate=True)
        raw, application = public_key_of(blob)
        is_named = blob.startswith(len(kind).to_bytes(4, "big") + kind.encode())
    except (LookupError, ValueError, binascii.Error):
        raise UnreadableError(f"{path} holds no Ed25519 public key of OpenSSH; `ssh-keygen -y` writes one") from None
    if not is_named:
        raise UnreadableError(f"{path} names another kind of key than it holds")
    if not is_sound_point(raw):
        raise UnreadableError(f"{path} holds no key: its bytes are no point of Ed25519, or one of small order")
    return raw, application
