"""Ed25519 signatures (RFC 8032, section 5.1) in plain Python, for the envelopes of the sample only.

Slow and not constant-time; the keys it signs with are derived from published text, so there is no secret to keep.
"""

from __future__ import annotations

import hashlib

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, PRIME - 2, PRIME) % PRIME
_BASE_Y = 4 * pow(5, PRIME - 2, PRIME) % PRIME

Point = tuple[int, int, int, int]
NEUTRAL: Point = (0, 1, 1, 0)


def public_key(secret: bytes) -> bytes:
    """Give the public key of a 32-byte secret."""
    return _encode(_times(_scalar(secret)[0], _base()))


def sign(secret: bytes, message: bytes) -> bytes:
    """Sign `message`; the same secret and message always give the same 64 bytes."""
    scalar, prefix = _scalar(secret)
    nonce = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % ORDER
    commitment = _encode(_times(nonce, _base()))
    digest = hashlib.sha512(commitment + public_key(secret) + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    return commitment + ((nonce + challenge * scalar) % ORDER).to_bytes(32, "little")


def _scalar(secret: bytes) -> tuple[int, bytes]:
    digest = hashlib.sha512(secret).digest()
    number = int.from_bytes(digest[:32], "little")
    return number & ((1 << 254) - 8) | (1 << 254), digest[32:]


def _base() -> Point:
    square = (_BASE_Y * _BASE_Y - 1) * pow(_D * _BASE_Y * _BASE_Y + 1, PRIME - 2, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if (x * x - square) % PRIME:
        x = x * pow(2, (PRIME - 1) // 4, PRIME) % PRIME
    if x % 2:
        x = PRIME - x
    return (x, _BASE_Y, 1, x * _BASE_Y % PRIME)


def _add(p: Point, q: Point) -> Point:
    a = (p[1] - p[0]) * (q[1] - q[0]) % PRIME
    b = (p[1] + p[0]) * (q[1] + q[0]) % PRIME
    c = 2 * p[3] * q[3] * _D % PRIME
    d = 2 * p[2] * q[2] % PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME)


def _times(factor: int, point: Point) -> Point:
    result = NEUTRAL
    while factor:
        if factor & 1:
            result = _add(result, point)
        point = _add(point, point)
        factor >>= 1
    return result


def _encode(point: Point) -> bytes:
    inverse = pow(point[2], PRIME - 2, PRIME)
    x, y = point[0] * inverse % PRIME, point[1] * inverse % PRIME
    return (y | (x & 1) << 255).to_bytes(32, "little")
