"""The inbox takes its port on every loopback address, or not at all."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from governance_pipeline.errors import UsageError
from governance_pipeline.gate.inbox.site import Site, loopback_sockets


def test_it_listens_on_loopback_addresses_only():
    taken = loopback_sockets(0)
    try:
        assert {each.getsockname()[0] for each in taken} <= {"127.0.0.1", "::1"}
        assert len({each.getsockname()[1] for each in taken}) == 1
    finally:
        for each in taken:
            each.close()


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_port_somebody_else_answers_on_is_not_taken_by_half(family, address):
    try:
        other = socket.create_server((address, 0), family=family)
    except OSError:
        pytest.skip(f"this machine has no {address}")
    with closing(other):
        port = other.getsockname()[1]
        with pytest.raises(UsageError, match="taken"):
            loopback_sockets(port)
    for again in loopback_sockets(port):
        again.close()


def test_its_origin_is_a_name_because_passkeys_know_no_numbers():
    assert (Site(8733).host, Site(8733).origin) == ("localhost:8733", "http://localhost:8733")
