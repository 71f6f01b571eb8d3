"""A lock has one holder, dies with it, and is refused where it would mean nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from governance_pipeline.errors import StorageError
from governance_pipeline.storage import lock
from governance_pipeline.storage.lock import descriptor_held, exclusive, file_system_of, is_held, refuse_network

HOLDER = """
import sys, time
from filelock import UnixFileLock
with UnixFileLock(sys.argv[1], fallback_to_soft=False):
    print("held", flush=True)
    time.sleep(60)
"""

MOUNTS = """\
21 1 0:20 / / rw,relatime - ext4 /dev/vda1 rw
30 21 0:31 / /data rw,relatime shared:3 - nfs4 server:/export rw
31 30 0:32 / /data/local\\040disk rw,relatime - xfs /dev/vdb1 rw
32 21 0:33 / /home rw - fuse.sshfs host: rw
broken line
"""


@pytest.fixture
def holder(tmp_path):
    """Start another process that holds the lock; gives the lock file and the process."""
    path = tmp_path / "f.lock"
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield path, process
    process.kill()
    process.communicate()


def test_a_lock_held_elsewhere_is_waited_for_and_then_named(holder):
    path, _ = holder
    with (
        pytest.raises(StorageError, match=r"f\.lock is still held by another process after 0\.2 s"),
        exclusive(path, wait_s=0.2),
    ):
        pytest.fail("two holders")


def test_a_lock_is_free_as_soon_as_its_holder_is_killed(holder):
    path, process = holder
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with exclusive(path, wait_s=5):
        assert path.is_file()


@pytest.mark.parametrize("make", [lambda p: p.symlink_to("/dev/null"), lambda p: p.mkdir()])
def test_a_link_or_folder_is_no_lock(tmp_path, make):
    path = tmp_path / "f.lock"
    make(path)
    with pytest.raises(StorageError, match=r"f\.lock"), exclusive(path, wait_s=0.2):
        pytest.fail("locked")


def test_a_fifo_in_its_place_does_not_hang(tmp_path):
    path = tmp_path / "f.lock"
    os.mkfifo(path)
    with exclusive(path, wait_s=0.2), pytest.raises(StorageError), exclusive(path, wait_s=0.1):
        pytest.fail("two holders")


def test_a_lock_is_given_back_after_an_error(tmp_path):
    path = tmp_path / "f.lock"
    with pytest.raises(ValueError, match="mine"), exclusive(path):
        raise ValueError("mine")
    with exclusive(path, wait_s=0):
        pass


def test_a_lock_by_descriptor_is_the_same_lock(holder):
    path, process = holder
    assert is_held(path)
    with descriptor_held(path, wait_s=0.1) as descriptor:
        assert descriptor is None
    process.kill()
    process.wait()
    with descriptor_held(path, wait_s=5) as descriptor:
        assert descriptor is not None
        assert is_held(path)
        with pytest.raises(StorageError, match="still held"), exclusive(path, wait_s=0.1):
            pytest.fail("two holders")
    assert not is_held(path)


def test_a_process_that_inherited_the_descriptor_keeps_the_lock(tmp_path):
    path = tmp_path / "f.lock"
    child = None
    holder = os.fork()
    if holder == 0:
        with descriptor_held(path) as descriptor:
            subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(descriptor,))
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(holder, 0)
    # The pipe of the killed one is closed, so its child ends by itself; then nobody holds the lock.
    with descriptor_held(path, wait_s=10) as descriptor:
        assert descriptor is not None
    assert child is None


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_none(tmp_path, monkeypatch):
    path = tmp_path / "f.lock"
    told = iter([False, True])
    monkeypatch.setattr(lock, "_is_still_there", lambda *_: next(told))
    with descriptor_held(path, wait_s=5) as descriptor:
        assert descriptor is not None
    assert next(told, None) is None


@pytest.mark.parametrize("make", [lambda p: p.symlink_to("/dev/null"), lambda p: p.mkdir(), os.mkfifo])
def test_what_is_no_plain_file_is_no_lock_by_descriptor(tmp_path, make):
    path = tmp_path / "f.lock"
    make(path)
    with pytest.raises(StorageError, match=r"f\.lock cannot be locked"), descriptor_held(path, wait_s=0):
        pytest.fail("locked")


def test_looking_at_a_lock_makes_no_file(tmp_path):
    assert not is_held(tmp_path / "f.lock")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/", "ext4"),
        ("/database", "ext4"),
        ("/data", "nfs4"),
        ("/data/lake", "nfs4"),
        ("/data/local disk/lake", "xfs"),
        ("/home/a", "fuse.sshfs"),
    ],
)
def test_the_file_system_of_a_folder_is_that_of_its_longest_mount_point(folder, kind):
    assert file_system_of(Path(folder), MOUNTS) == kind


def test_a_network_file_system_is_refused_and_named():
    with pytest.raises(StorageError, match=r"/data/lake is on a network file system \(nfs4\).*local disk"):
        refuse_network(Path("/data/lake"), MOUNTS)
    refuse_network(Path("/data/local disk/lake"), MOUNTS)
    refuse_network(Path("/data/lake"), "")


def test_without_a_mount_table_nothing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_MOUNTS", tmp_path / "absent")
    refuse_network(tmp_path)
