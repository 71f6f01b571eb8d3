"""Our reading of OpenSSH signatures and that of `ssh-keygen -Y verify` agree, but for what we refuse on purpose."""

from __future__ import annotations

import base64
import random
import shutil
import subprocess

import pytest

from governance_pipeline.trust import sshsig
from governance_pipeline.trust.sshsig import made_by, parse_sshsig, public_key_of

KEYGEN = shutil.which("ssh-keygen")
pytestmark = pytest.mark.skipif(KEYGEN is None, reason="no ssh-keygen on this machine")
MESSAGE = b"DSSEv1 28 application/vnd.in-toto+json 2 {}"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """Two keys, the allowed signers of the first, and signatures of both for our namespace and for git."""
    folder = tmp_path_factory.mktemp("ssh")
    for name in ("ana", "eve"):
        subprocess.run([KEYGEN, "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)], check=True)
    public = (folder / "ana.pub").read_text().split()
    (folder / "allowed").write_text(f'ana namespaces="{sshsig.NAMESPACE}" {public[0]} {public[1]}\n')
    signed = {}
    for name in ("ana", "eve"):
        for namespace in (sshsig.NAMESPACE, "git"):
            for hashed in ("sha256", "sha512"):
                command = [
                    KEYGEN,
                    "-q",
                    "-Y",
                    "sign",
                    "-n",
                    namespace,
                    "-O",
                    f"hashalg={hashed}",
                    "-f",
                    str(folder / name),
                ]
                done = subprocess.run(command, input=MESSAGE, capture_output=True, check=True)
                signed[name, namespace, hashed] = done.stdout
    return folder, public_key_of(base64.b64decode(public[1]))[0], signed


def _theirs(folder, data, message):
    (folder / "sig").write_bytes(data)
    command = [
        KEYGEN,
        "-Y",
        "verify",
        "-f",
        str(folder / "allowed"),
        "-I",
        "ana",
        "-n",
        sshsig.NAMESPACE,
        "-s",
        str(folder / "sig"),
    ]
    return subprocess.run(command, input=message, capture_output=True, check=False).returncode == 0


def _ours(public_key, data, message):
    read = parse_sshsig(data)
    return read is not None and made_by(read, message, public_key, None)


def _changed(data, how, rng):
    if how == "as it is":
        return data
    blob = bytearray(base64.b64decode(b"".join(data.split(b"-----")[2].split())))
    if how == "one bit":
        blob[rng.randrange(len(blob))] ^= 1 << rng.randrange(8)
    elif how == "cut":
        del blob[-rng.randrange(1, 40) :]
    elif how == "grown":
        blob += bytes(rng.randrange(1, 9))
    elif how == "swapped":
        at = rng.randrange(len(blob) - 1)
        blob[at], blob[at + 1] = blob[at + 1], blob[at]
    return b"-----BEGIN SSH SIGNATURE-----\n" + base64.b64encode(bytes(blob)) + b"\n-----END SSH SIGNATURE-----\n"


def _compare(bench, count, seed):
    folder, public_key, signed = bench
    rng = random.Random(seed)
    accepted = 0
    for _ in range(count):
        case = rng.choice(sorted(signed))
        how = rng.choice(["as it is", "one bit", "cut", "grown", "swapped"])
        message = rng.choice([MESSAGE, MESSAGE, MESSAGE + b" ", b""])
        data = _changed(signed[case], how, rng)
        ours, theirs = _ours(public_key, data, message), _theirs(folder, data, message)
        assert ours == theirs, (case, how, message, data)
        accepted += ours
    return accepted


def test_every_kind_of_signature_is_judged_alike(bench):
    folder, public_key, signed = bench
    for (name, namespace, hashed), data in signed.items():
        is_one = (name, namespace) == ("ana", sshsig.NAMESPACE)
        assert _ours(public_key, data, MESSAGE) is _theirs(folder, data, MESSAGE) is is_one, (name, namespace, hashed)


def test_what_was_changed_is_judged_alike(bench):
    assert _compare(bench, 60, seed=7) > 0


@pytest.mark.long
def test_two_thousand_signatures_are_judged_alike(bench):
    assert _compare(bench, 2000, seed=11) > 50
