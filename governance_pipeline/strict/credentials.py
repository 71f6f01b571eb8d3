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
    """One shape: name shown in the mask, pattern, template that replaces a match, where the shape is described."""

    kind: str
    pattern: re.Pattern[str]
    replacement: str
    source: str


def _shape(kind: str, pattern: str, source: str) -> Credential:
    """A shape that is masked whole; `head`, where the pattern has one, stays."""
    head = r"\g<head>" if "(?P<head>" in pattern else ""
    return Credential(kind, re.compile(pattern), f"{head}[masked:{kind}]", source)


# What a secret is called when it is assigned. "token" alone is apart: in agent logs it mostly counts tokens.
_NAMES = (
    r"passw(?:or)?d|passphrase|pwd(?!\W{0,8}[/~])|secret|api[_-]?key|(?:access|private|secret|account|auth)[_-]?key"
    r"|access[_-]?key[_-]?id|(?:auth|access|refresh|session|id|bot)[_-]?token|credentials?|cookie"
)
_IS = r"""["'\\]{0,8}\s{0,4}(?::=|=>|=|:)\s{0,4}"""
# A quoted value up to its own closing quote (escaped quotes when JSON stands in JSON), a bare one up to a delimiter.
_VALUE = (
    r"""(?:(?P<quote>["'])(?:\\.|(?!(?P=quote))[^\\])+"""
    r"""|(?P<escaped>\\+["'])(?!(?P=escaped)).+?(?=(?P=escaped)|\Z)"""
    r"""|(?!["'\\])[^\s,;&"'}\])\\]{BARE,})"""
)
_MASKED = r"""(?!\\*["']?\[masked:)"""


def _assigned(kind: str, names: str, bare: int, source: str) -> Credential:
    pattern = rf"(?P<head>(?i:{names}){_IS}){_MASKED}" + _VALUE.replace("BARE", str(bare))
    return Credential(kind, re.compile(pattern, re.DOTALL), rf"\g<head>\g<quote>\g<escaped>[masked:{kind}]", source)


CREDENTIALS: tuple[Credential, ...] = (
    _shape(
        "private_key",
        r"-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?"
        r"(?:-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----|\Z)",
        "gitleaks private-key; RFC 7468; the end may be cut off",
    ),
    _shape(
        "jwt",
        r"(?<![A-Za-z0-9_-])ey[A-Za-z0-9_-]{10,}\.ey[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*){0,3}",
        "gitleaks jwt; RFC 7519",
    ),
    _shape("anthropic_key", r"(?<![\w-])sk-ant-[\w-]{16,}", "gitleaks anthropic-api-key, anthropic-admin-api-key"),
    _shape("api_key", r"(?<![\w-])sk-(?=[\w-]*\d)[\w-]{16,}", "gitleaks openai-api-key; other vendors copy the prefix"),
    _shape("github_token", r"gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}", "gitleaks github-pat, -oauth, -app-token"),
    _shape("gitlab_token", r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[\w-]{16,}", "gitleaks gitlab-pat and its kin"),
    _shape("aws_access_key", r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b", "gitleaks aws-access-token"),
    _shape("google_key", r"\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}", "gitleaks gcp-api-key; Google OAuth access token"),
    _shape(
        "slack_token",
        r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}"
        r"|hooks\.slack\.com/(?:services|workflows|triggers)/[\w/+]{20,}",
        "gitleaks slack-bot-token, -user-token, -app-token, -webhook-url",
    ),
    _shape(
        "stripe_key", r"\b(?:sk|rk)_(?:test|live|prod)_[A-Za-z0-9]{10,}|\bwhsec_\w{16,}", "gitleaks stripe-access-token"
    ),
    _shape("huggingface_token", r"\bhf_[A-Za-z0-9]{30,}", "gitleaks huggingface-access-token"),
    _shape(
        "package_token", r"\bnpm_[A-Za-z0-9]{30,}|\bpypi-AgE[\w-]{30,}", "gitleaks npm-access-token, pypi-upload-token"
    ),
    _shape(
        "service_token",
        r"\bSG\.[\w-]{16,}\.[\w-]{16,}|\bSK[0-9a-f]{32}\b|\bdo[opr]_v1_[a-f0-9]{40,}|\bhv[sb]\.[\w-]{24,}",
        "gitleaks sendgrid-api-token, twilio-api-key, digitalocean-pat, vault-service-token",
    ),
    _shape(
        "authorization",
        rf"(?P<head>(?i:authorization|x-api-key){_IS}"
        r"""["'\\]{0,8}(?:(?i:bearer|basic|token|digest|negotiate)\s{1,4})?+)(?!\[masked:)[^\s"'\\,;\[\]{}]{4,}""",
        "RFC 9110 §11.6.2; gitleaks curl-auth-header",
    ),
    _shape("bearer_token", r"(?P<head>\b(?i:bearer)\s{1,4})(?=\S*\d)[A-Za-z0-9._~+/=-]{16,}", "RFC 6750 §2.1"),
    _shape("url_password", r"(?P<head>://[^/\s:@\"']{0,64}:)(?!\[masked:)[^@/\s\"']{1,256}(?=@)", "RFC 3986 §3.2.1"),
    _assigned("secret", _NAMES, 1, "gitleaks generic-api-key"),
    _assigned(
        "token", r"token(?=\W)(?!\W{0,8}(?:[\d.,]+|true|false|null|None)(?:\W|\Z))", 8, "gitleaks generic-api-key"
    ),
    _shape(
        "option",
        r"(?P<head>(?<!\S)--?(?i:password|passwd|passphrase|token|secret|api-?key)[ =]{1,4})(?![-\[])\S+",
        "own: secrets given to a command as an option",
    ),
)
