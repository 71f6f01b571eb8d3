"""Claims about showing hostile text: escaped, masked, cut."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from governance_pipeline.strict.excerpt import ELLIPSIS, escape_unprintable, excerpt, is_said, mask_secrets


@pytest.mark.parametrize(
    ("character", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),  # ANSI colour
        ("\x9b31m", "\\x9b31m"),  # the same as one C1 character
        ("\x1b]8;;http://x\x07", "\\x1b]8;;http://x\\x07"),  # terminal link
        ("\x00\x07\x08\x7f", "\\x00\\x07\\x08\\x7f"),
        ("\n\r\t", "\\n\\r\\t"),
        ("\u202e\u2066\u2069\u200f", "\\u202e\\u2066\\u2069\\u200f"),  # bidi
        ("\u200b\u200d\u2060\ufeff\u00ad", "\\u200b\\u200d\\u2060\\ufeff\\xad"),  # zero width, soft hyphen
        ("\u2028\u2029\u0085", "\\u2028\\u2029\\x85"),  # line separators
        ("\u00a0\u3000", "\\xa0\\u3000"),  # spaces that are none
        ("\U000e0041\U000e0100", "\\U000e0041\\U000e0100"),  # tags and variation selectors carry hidden text
        ("\u3164\u115f\uffa0\u2800\ufe0f", "\\u3164\\u115f\\uffa0\\u2800\\ufe0f"),  # print as nothing
        ("\ud800", "\\ud800"),
    ],
)
def test_what_a_screen_would_not_show_is_written_out(character: str, shown: str) -> None:
    assert escape_unprintable(f"a{character}b") == f"a{shown}b"
    assert excerpt(f"a{character}b") == f"a{shown}b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", False), (" \n", False), ("\u200b\u202e", False), ("\u2800\u3164", False), ("\xa0", False), ("\u200bx", True)],
)
def test_a_reason_nobody_can_see_says_nothing(text: str, expected: bool) -> None:
    assert is_said(text) is expected


@pytest.mark.parametrize(
    "text", ["", "plain", "é ñ 日本語 العربية 😀", "<script>alert(1)</script>", "![x](/graphql?query=mutation{wipe})"]
)
def test_printable_text_is_shown_as_text(text: str) -> None:
    assert excerpt(text) == text


def test_bytes_that_are_not_utf8_are_written_out() -> None:
    assert excerpt(b"a\xffb\xed\xa0\x80") == "a\\xffb\\xed\\xa0\\x80"


def test_a_long_text_is_cut_with_an_ellipsis_and_a_fitting_one_is_not() -> None:
    assert excerpt("x" * 160) == "x" * 160
    assert excerpt("x" * 161) == "x" * 159 + ELLIPSIS
    assert excerpt("x" * 161, 10) == "x" * 9 + ELLIPSIS
    assert excerpt(b"x" * 50_000_000, 10) == "x" * 9 + ELLIPSIS
    assert excerpt("\x00" * 10, 8) == "\\x00\\x0" + ELLIPSIS


SECRETS = [
    ("sk-proj-" + "Ab1" * 20, "api_key"),
    ("sk-" + "Ab1" * 16, "api_key"),
    ("sk-or-v1-" + "0a" * 32, "api_key"),
    ("sk-ant-api03-" + "Ab1_" * 20, "anthropic_key"),
    ("ghp_" + "Ab1" * 12, "github_token"),
    ("ghs_" + "Ab1" * 12, "github_token"),
    ("github_pat_" + "Ab1_" * 20, "github_token"),
    ("glpat-" + "Ab1-" * 5, "gitlab_token"),
    ("AKIA" + "ABCDEFGH23456789"[:16], "aws_access_key"),
    ("ASIA" + "ABCDEFGH23456789"[:16], "aws_access_key"),
    ("AIza" + "Ab1_-" * 7, "google_key"),
    ("xoxb-1234567890-1234567890-" + "Ab1" * 8, "slack_token"),
    ("sk_live_" + "Ab1" * 8, "stripe_key"),
    ("hf_" + "Ab" * 17, "huggingface_token"),
    ("npm_" + "Ab1" * 12, "package_token"),
    ("pypi-AgEIcHlwaS5vcmc" + "Ab1-" * 15, "package_token"),
    ("SG." + "Ab1" * 7 + "." + "Ab1" * 14, "service_token"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLTEyMzQ", "jwt"),
]


@pytest.mark.parametrize(("secret", "kind"), SECRETS)
@pytest.mark.parametrize("around", ["{}", "key {} end", '{{"k": "{}"}}', "\\n{}\\n", "({})", "x={};y", "[{},"])
def test_a_credential_is_masked_wherever_it_stands(secret: str, kind: str, around: str) -> None:
    shown = mask_secrets(around.format(secret))
    assert secret not in shown
    assert secret[-12:] not in shown
    assert "[masked:" in shown
    assert kind in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password=hunter2", "password=[masked:secret]"),
        ("DB_PASSWORD: hunter2\nnext", "DB_PASSWORD: [masked:secret]\nnext"),
        ('{"password": "a b\\"c d", "x": 1}', '{"password": "[masked:secret]", "x": 1}'),
        ('{\\"password\\": \\"a b\\", \\"x\\": 1}', '{\\"password\\": \\"[masked:secret]\\", \\"x\\": 1}'),
        ("{'api_key': 'abc', 'n': 1}", "{'api_key': '[masked:secret]', 'n': 1}"),
        ("AWS_SECRET_ACCESS_KEY=abc/def+1", "AWS_SECRET_ACCESS_KEY=[masked:secret]"),
        ("client_secret => 'x'", "client_secret => '[masked:secret]'"),
        ('"password": 12345,', '"password": [masked:secret],'),
        ('"token": "abcdef123456"', '"token": "[masked:token]"'),
        ("access_token=abcdefgh12&x=1", "access_token=[masked:secret]&x=1"),
        ("Authorization: Bearer abc.def-1", "Authorization: Bearer [masked:authorization]"),
        ("-H 'authorization: Basic dXNlcjpwYXNz'", "-H 'authorization: Basic [masked:authorization]'"),
        ('"Authorization": "opaque123"', '"Authorization": "[masked:authorization]"'),
        ("x-api-key: opaque123", "x-api-key: [masked:authorization]"),
        ("sent bearer abcdefgh12345678 to", "sent bearer [masked:bearer_token] to"),
        ("postgres://user:p4ss@host/db", "postgres://user:[masked:url_password]@host/db"),
        ("mysql --password hunter2 -u x", "mysql --password [masked:option] -u x"),
        ("Cookie: sid=1234; b=2", "Cookie: [masked:secret]; b=2"),
        ("password: unfinished and cut", "password: [masked:secret] and cut"),
        ('password: "unfinished and cut', 'password: "[masked:secret]'),
    ],
)
def test_an_assigned_secret_is_masked_and_its_name_stays(text: str, shown: str) -> None:
    assert mask_secrets(text) == shown


@pytest.mark.parametrize("end", ["\n-----END RSA PRIVATE KEY-----", ""])
def test_a_private_key_is_masked_even_when_its_end_is_cut_off(end: str) -> None:
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIE" + "abcd" * 20 + end
    assert mask_secrets("before " + block) == "before [masked:private_key]"
    assert mask_secrets(block.replace("\n", "\\n")) == "[masked:private_key]"


@pytest.mark.parametrize(
    "text",
    [
        '{"input_tokens": 1200, "output_tokens": 5, "total_tokens": 1205}',
        '{"token": 12345}',
        '"token": null, "max_token": "4096"',
        "PWD=/home/agent OLDPWD=/srv",
        "PASS 12 passed, 0 failed",
        "scikit-learn sk-learn task-12345678901234567890",
        "the secret of the password is unknown",
        "https://example.org:8080/a@b",
        "tokenizer: fast-tokenizer",
        "0123456789abcdef0123456789abcdef01234567",
        "bearer of the important message",
    ],
)
def test_what_agent_logs_are_full_of_is_not_taken_for_a_secret(text: str) -> None:
    assert mask_secrets(text) == text


def test_a_credential_across_the_cut_is_masked_not_halved() -> None:
    assert "ghp_" not in excerpt("x" * 150 + " ghp_" + "Ab1" * 12)
    assert "hunter" not in excerpt("x" * 140 + ' "password": "hunter' + "h" * 8000)


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "ey",
            "eyA.",
            "sk-",
            "-----BEGIN ",
            "-----BEGIN PRIVATE KEY-----",
            "password=\\",
            'secret:"',
            "token",
            "://a:",
        ),
        *("\\'", "xoxb-", "SG.a", "bearer ", "authorization:", " --token ", 'password="\\', "ghp_", "\\n", "bearer a"),
    ],
)
def test_masking_hostile_repetition_ends(piece: str) -> None:
    mask_secrets(piece * 20_000)  # a pattern that is not linear would not come back


@given(st.binary(max_size=300) | st.text(max_size=200), st.integers(1, 60))
def test_an_excerpt_of_anything_is_printable_and_fits(data: bytes | str, length: int) -> None:
    shown = excerpt(data, length)
    assert len(shown) <= length
    assert shown.isprintable()
    assert not any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in shown)


@given(
    st.lists(
        st.sampled_from(
            ["password", "token", "secret", "=", ":", '"', "\\", "'", " ", "a1b2c3d4e5", "bearer ", ",", "{", "}"]
        )
        | st.sampled_from([f" {secret} " for secret, _ in SECRETS]),
        max_size=12,
    ).map("".join)
)
@example("password:=password")
def test_masking_twice_is_masking_once(text: str) -> None:
    once = mask_secrets(text)
    assert mask_secrets(once) == once
