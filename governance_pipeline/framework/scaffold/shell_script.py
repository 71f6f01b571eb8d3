"""The plan as a POSIX shell script: setup_agent_project.sh lays out the same tree on a machine without Python.

What belongs here: the text of the script. What does not: what it writes (`plan`). Like `govern init` it looks first,
refuses a tree with links or other things in the way before it writes anything, never overwrites, and gives a file its
name only when all of it is written. Only commands of POSIX.1-2017 are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance_pipeline.framework.scaffold.placing import TEMPORARY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.framework.scaffold.plan import Plan, PlannedFile

_HEAD: Final = r"""#!/bin/sh
# Lays out a governed project folder, as `govern init` does, without Python. Generated; language: @LANGUAGE@.
# Usage: sh setup_agent_project.sh FOLDER
# Adds what is missing, never overwrites, and follows no link. Exit: 0 done, 2 refused, 3 could not write.
set -uC
LC_ALL=C
export LC_ALL
unset CDPATH
parent=

fail() { printf '%s\n' "setup_agent_project.sh: $2" >&2; exit "$1"; }

[ "$#" -eq 1 ] && [ -n "$1" ] || fail 2 'give one folder: sh setup_agent_project.sh FOLDER'
case $1 in -*) target=./$1 ;; *) target=$1 ;; esac
if [ -e "$target" ] || [ -L "$target" ]; then
  [ -d "$target" ] || fail 2 "$target is no folder; name another one or move it away"
else
  mkdir -p "$target" || fail 3 "$target cannot be made; check rights and space"
fi
cd "$target/" || fail 3 "$target cannot be entered; check its rights"
temporary=@TEMPORARY@sh$$
trap 'rm -f "$temporary" "$parent$temporary"' EXIT
trap 'exit 3' HUP INT TERM

refused=0
in_the_way() { printf '%s\n' "$target: $1 is not $2; move it away, then run it again" >&2; refused=1; }
want_folder() {
  if [ -L "$1" ] || { [ -e "$1" ] && [ ! -d "$1" ]; }; then in_the_way "$1" 'a folder'; fi
}
want_file() {
  if [ -L "$1" ] || { [ -e "$1" ] && [ ! -f "$1" ]; }; then in_the_way "$1" 'a file'; fi
}
folder() {
  [ -L "$1" ] && fail 3 "$1 became a link meanwhile; look who changes this folder"
  [ -d "$1" ] || mkdir "$1" || fail 3 "$1 cannot be made; check rights and space, then run it again"
}
wanted() {
  if [ -e "$1" ]; then printf 'kept    %s\n' "$1"; return 1; fi
  case $1 in */*) parent=${1%/*}/ ;; *) parent= ;; esac
  rm -f "$parent$temporary"
}
named() {
  if ! ln "$parent$temporary" "$1" 2>/dev/null; then
    if [ -e "$1" ] || [ -L "$1" ]; then fail 3 "$1 came up meanwhile; run it again"; fi
    mv "$parent$temporary" "$1" || fail 3 "$1 cannot be made; check rights and space, then run it again"
  fi
  rm -f "$parent$temporary"
  printf 'added   %s\n' "$1"
}
unwritable() { fail 3 "$1 cannot be written; check rights and space, then run it again"; }
"""
_DELIMITER: Final = "GOVERN_END_OF_FILE"


def shell_script(plan: Plan) -> bytes:
    """Give the script that lays out a plan; UTF-8, line feeds."""
    head = _HEAD.replace("@LANGUAGE@", plan.language).replace("@TEMPORARY@", TEMPORARY)
    parts = [head, "\n# Look at everything first.\n"]
    parts += [f"want_folder {quoted(folder.path)}\n" for folder in plan.folders]
    parts += [f"want_file {quoted(file.path)}\n" for file in plan.files]
    parts.append('[ "$refused" -eq 0 ] || exit 2\n\n# Then make what is missing.\n')
    parts += [f"folder {quoted(folder.path)}\n" for folder in plan.folders]
    for file in plan.files:
        parts += _file_statements(file)
    return "".join(parts).encode()


def quoted(text: str) -> str:
    """Quote a text for the shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _file_statements(file: PlannedFile) -> Iterator[str]:
    """Yield the statements that make one file: whole lines as a here-document, an unended last line by printf."""
    text = file.data.decode("utf-8")
    whole, last = text[: text.rfind("\n") + 1], text[text.rfind("\n") + 1 :]
    delimiter = _DELIMITER
    while f"{delimiter}\n" in whole:
        delimiter += "_"
    path = quoted(file.path)
    yield f"\nif wanted {path}; then\n"
    yield f"{{ cat <<'{delimiter}' && printf %s {quoted(last)}; }} >\"$parent$temporary\" || unwritable {path}\n"
    yield f"{whole}{delimiter}\nnamed {path}\nfi\n"
