r"""What a credential looks like: the closed list of shapes that are masked before people see a text.

What belongs here: patterns with their source. What does not: applying them (`strict.excerpt`). Each pattern is
linear in the text (bounded repeats, or a start that cannot begin again inside its own run), because the text is
hostile. Lengths are lower bounds, not exact ones: masking too much costs a reader little, a key shown costs a key.

Sources: *gitleaks* is the rule of that id in ``config/gitleaks.toml`` of github.com/gitleaks/gitleaks (MIT), loosened
as said above; *RFC* is the grammar of the standard; *own* is a habit seen in agent logs.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Credential(NamedTuple):
    """One shape.

    `kind` is the name shown in the mask; `hints` are lower-case texts one of which stands in every match, so that a
    text without them need not be searched; `replacement` is the template put in place of a match.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    replacement: str
    source: str


# A word begins here: also behind an escape of JSON, where the "n" of a line feed would pass for a letter of the word.
_START = r"(?:(?<![\w-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"

# What a secret is called when it is assigned. "token" alone is apart: in agent logs it mostly counts tokens.
_NAMES = (
    r"passw(?:or)?d|passphrase|pwd(?!\W{0,8}[/~])|secret|api[_-]?key|(?:access|private|secret|account|auth)[_-]?key"
    r"|access[_-]?key[_-]?id|(?:auth|access|refresh|session|id|bot)[_-]?token|credentials?|cookie"
)
_NOT_A_COUNT = r"(?!\W{0,8}(?:[\d.,]+|true|false|null|None)(?:\W|\Z))"
# Atomic: what stands behind ":=" is never looked at again as a value that begins with "=".
_IS = r"""["'\\]{0,8}\s{0,4}(?>:=|=>|=|:)\s{0,4}"""
# A quoted value up to its own closing quote (escaped quotes when JSON stands in JSON), a bare one up to a delimiter.
_VALUE = (
    r"""(?:(?P<quote>["'])(?:\\.|(?!(?P=quote))[^\\])+"""
    r"""|(?P<escaped>\\+["'])(?!(?P=escaped)).+?(?=(?P=escaped)|\Z)"""
    r"""|(?!["'\\])[^\s,;&"'}\])\\]{BARE,})"""
)
_MASKED = r"""(?!\\*["']?\[masked:)"""


def _shape(kind: str, hints: str, pattern: str, source: str) -> Credential:
    """A shape that is masked whole; `head`, where the pattern has one, stays."""
    head = r"\g<head>" if "(?P<head>" in pattern else ""
    return Credential(kind, tuple(hints.split()), re.compile(pattern), f"{head}[masked:{kind}]", source)


def _assigned(kind: str, hints: str, names: str, bare: int, source: str) -> Credential:
    """A named secret: name and quotes stay; a value without quotes has at least `bare` characters."""
    pattern = rf"(?P<head>(?i:{names}){_IS}){_MASKED}" + _VALUE.replace("BARE", str(bare))
    replacement = rf"\g<head>\g<quote>\g<escaped>[masked:{kind}]"
    return Credential(kind, tuple(hints.split()), re.compile(pattern, re.DOTALL), replacement, source)


CREDENTIALS: tuple[Credential, ...] = (
    _shape(
        "private_key",
        "private",
        r"-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?"
        r"(?:-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----|\Z)",
        "gitleaks private-key; RFC 7468; the end may be cut off",
    ),
    _shape(
        "jwt",
        ".ey",
        _START + r"ey[A-Za-z0-9_-]{10,}\.ey[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*){0,3}",
        "gitleaks jwt; RFC 7519",
    ),
    _shape("anthropic_key", "sk-ant-", _START + r"sk-ant-[\w-]{16,}", "gitleaks anthropic-api-key, -admin-api-key"),
    _shape("api_key", "sk-", _START + r"sk-(?=[\w-]*\d)[\w-]{16,}", "gitleaks openai-api-key; others copy the prefix"),
    _shape(
        "github_token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}",
        "gitleaks github-pat, github-oauth, github-app-token, github-fine-grained-pat",
    ),
    _shape("gitlab_token", "gl", r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[\w-]{16,}", "gitleaks gitlab-pat and its kin"),
    _shape(
        "aws_access_key",
        "a3t akia asia abia acca",
        _START + r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])",
        "gitleaks aws-access-token",
    ),
    _shape(
        "google_key",
        "aiza ya29.",
        _START + r"(?:AIza[\w-]{30,}|ya29\.[\w-]{20,})",
        "gitleaks gcp-api-key; OAuth access tokens of the same vendor",
    ),
    _shape(
        "slack_token",
        "xox xapp- hooks.slack",
        r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}"
        r"|hooks\.slack\.com/(?:services|workflows|triggers)/[\w/+]{20,}",
        "gitleaks slack-bot-token, slack-user-token, slack-app-token, slack-webhook-url",
    ),
    _shape(
        "stripe_key",
        "k_test_ k_live_ k_prod_ whsec_",
        _START + r"(?:(?:sk|rk)_(?:test|live|prod)_[A-Za-z0-9]{10,}|whsec_\w{16,})",
        "gitleaks stripe-access-token",
    ),
    _shape("huggingface_token", "hf_", _START + r"hf_[A-Za-z0-9]{30,}", "gitleaks huggingface-access-token"),
    _shape(
        "package_token",
        "npm_ pypi-",
        _START + r"(?:npm_[A-Za-z0-9]{30,}|pypi-AgE[\w-]{30,})",
        "gitleaks npm-access-token, pypi-upload-token",
    ),
    _shape(
        "service_token",
        "sg. dop_v1_ doo_v1_ dor_v1_ hvs. hvb.",
        _START + r"(?:SG\.[\w-]{16,}\.[\w-]{16,}|do[opr]_v1_[a-f0-9]{40,}|hv[sb]\.[\w-]{24,})",
        "gitleaks sendgrid-api-token, digitalocean-pat, vault-service-token",
    ),
    _shape(
        "authorization",
        "authorization x-api-key",
        rf"(?P<head>(?i:authorization|x-api-key){_IS}"
        r"""["'\\]{0,8}(?:(?i:bearer|basic|token|digest|negotiate)\s{1,4})?+)(?!\[masked:)[^\s"'\\,;\[\]{}]{4,}""",
        "RFC 9110 §11.6.2; gitleaks curl-auth-header",
    ),
    _shape(
        "bearer_token",
        "bearer",
        r"(?P<head>(?i:bearer)\s{1,4})(?=[A-Za-z0-9._~+/=-]*\d)[A-Za-z0-9._~+/=-]{16,}",
        "RFC 6750 §2.1",
    ),
    _shape(
        "url_password", "://", r"(?P<head>://[^/\s:@\"']{0,64}:)(?!\[masked:)[^@/\s\"']{1,256}(?=@)", "RFC 3986 §3.2.1"
    ),
    _assigned(
        "secret", "passw passphrase pwd secret key token credential cookie", _NAMES, 1, "gitleaks generic-api-key"
    ),
    _assigned("token", "token", rf"token(?=\W){_NOT_A_COUNT}", 8, "gitleaks generic-api-key"),
    _shape(
        "option",
        "-pass -token -secret -api",
        r"(?P<head>(?<!\S)--?(?i:password|passwd|passphrase|token|secret|api-?key)[ =]{1,4})(?![-\[])\S+",
        "own: secrets given to a command as an option",
    ),
)
