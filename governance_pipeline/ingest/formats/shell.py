"""Whether a shell command can have changed files.

What belongs here: one question about the text of a command. What does not: what it changed, which no log says.
The answer is yes unless every program of the command is known to read only, with no output redirected to a file and
nothing substituted. Programs are taken for the plain ones of their name; a shell that has replaced `cat` is beyond a
log. Counted are `core_runs.opaque_step_count`, the steps whose file changes nobody can know.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

READ_ONLY: Final = frozenset(
    """basename cat cd cmp cut date df diff dirname du echo egrep exit false fgrep find git grep head id ls md5sum nl
    printf ps pwd readlink realpath sed sha256sum sleep stat tail test tr true type uname wc which whoami""".split()  # noqa: SIM905 - a list of words
)
"""Programs without an option that writes a file, apart from those whose arguments are looked at below."""

_SUBSTITUTION: Final = re.compile(r"[`\x00]|\$\(|[<>]\(|<<")
_SEPARATORS: Final = frozenset({";", "&&", "||", "|", "|&", "&"})
_FIND_ACTIONS: Final = ("-exec", "-ok", "-delete", "-fprint", "-fls")
_GIT_READS: Final = frozenset({"status", "log", "show", "diff", "blame", "ls-files", "rev-parse", "grep"})
_GIT_OPTIONS: Final = ("--output", "--output-directory", "--ext-diff", "--textconv", "--open-files-in-pager")
"""Options of the reading commands of git that write a file or start a program the command or a config names
(git-diff(1), git-grep(1))."""

_GIT_SHORT: Final = re.compile(r"-[A-RT-Za-z0-9]*[oO]", re.ASCII)
"""`-o`, `-O` and both behind other letters (`-nO`); what is behind `-S` is a text to search for."""

_SED_PRINTS: Final = re.compile(r"(\d+|\$)(,(\d+|\$))?p", re.ASCII)
_SED_FILTER: Final = 3
LONGEST_READ: Final = 10_000
"""Characters of the longest command looked at; a longer one is taken to write."""


def may_change_files(command: str | None) -> bool:
    """Tell whether a command can have changed files; an unknown command can."""
    if command is None or len(command) > LONGEST_READ or _SUBSTITUTION.search(command):
        return True
    return any(_line_may_change_files(line) for line in command.split("\n") if line.strip())


def _line_may_change_files(line: str) -> bool:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:  # a quote is open: the command goes on in the next line
        return True
    program: list[str] = []
    programs = [program]
    waiting = iter(tokens)
    for token in waiting:
        if token in _SEPARATORS:
            program = []
            programs.append(program)
        elif ">" in token:
            if not _is_harmless_target(token, next(waiting, "")):
                return True
        elif token in ("<", ")", "(") or set(token) <= set("()<>|&;"):
            return True
        else:
            program.append(token)
    return not all(_reads_only(words) for words in programs if words)


def _is_harmless_target(operator: str, target: str) -> bool:
    return target == "/dev/null" or (operator.endswith(">&") and target in ("1", "2"))


def _reads_only(words: Sequence[str]) -> bool:
    name, arguments = words[0], words[1:]
    if name not in READ_ONLY:
        return False
    if name == "find":
        return not any(argument.startswith(_FIND_ACTIONS) for argument in arguments)
    if name == "git":
        return bool(arguments) and arguments[0] in _GIT_READS and not any(map(_writes_or_starts, arguments))
    if name == "sed":
        is_filter = len(words) >= _SED_FILTER and arguments[0] == "-n" and bool(_SED_PRINTS.fullmatch(arguments[1]))
        return is_filter and not any(argument.startswith("-") for argument in arguments[2:])
    if name == "date":
        return not any(argument.startswith(("-s", "--set")) for argument in arguments)
    return True


def _writes_or_starts(option: str) -> bool:
    """Tell an option of git that writes or starts a program; git takes the beginning of a long name for the name."""
    name = option.partition("=")[0]
    is_long = name.startswith("--") and name != "--" and any(full.startswith(name) for full in _GIT_OPTIONS)
    return is_long or (not name.startswith("--") and _GIT_SHORT.match(option) is not None)
