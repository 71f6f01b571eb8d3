"""Which 32 bytes are a public key that only its holder can sign for: points of large order, written one way.

What belongs here: reading the bytes as RFC 8032 does (5.1.3), and refusing what it leaves open. What does not: signing
and verifying, which is the library's. With one of the eight points of small order as a key, anybody can write a
signature that verifies for some messages without holding anything (the check comes down to 0 = 0), and verifiers do not
agree on points written in a second way; so neither is a key here (libsodium's `crypto_core_ed25519_is_valid_point`
refuses the same; "Taming the many EdDSAs", SSR 2020).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

POINT_BYTES: Final = 32

_P: Final = 2**255 - 19
_D: Final = -121665 * pow(121666, -1, _P) % _P
_ROOT_OF_MINUS_ONE: Final = pow(2, (_P - 1) // 4, _P)
_SIGN: Final = 1 << 255
_COFACTOR_DOUBLINGS: Final = 3  # the small orders are 1, 2, 4 and 8


@lru_cache(maxsize=4096)
def is_sound_point(data: bytes) -> bool:
    """Tell whether bytes are the one spelling of a point on the curve whose order is not 1, 2, 4 or 8; never raises."""
    point = _point_of(data)
    if point is None:
        return False
    for _ in range(_COFACTOR_DOUBLINGS):
        point = _doubled(*point)
    return point != (0, 1)


def _point_of(data: bytes) -> tuple[int, int] | None:
    """Read a point; None for bytes that are none, or another spelling of one."""
    if len(data) != POINT_BYTES:
        return None
    number = int.from_bytes(data, "little")
    y, is_odd = number & (_SIGN - 1), bool(number & _SIGN)
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P  # d is no square, so the divisor is never 0
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * _ROOT_OF_MINUS_ONE % _P
    if x * x % _P != square or (x == 0 and is_odd):
        return None
    return (_P - x if bool(x & 1) != is_odd else x), y


def _doubled(x: int, y: int) -> tuple[int, int]:
    product = _D * x * x * y * y % _P
    return (
        2 * x * y * pow(1 + product, -1, _P) % _P,
        (y * y + x * x) * pow(1 - product, -1, _P) % _P,
    )
