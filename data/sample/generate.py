"""Write `data/sample`, or check that it is byte for byte what this generator writes.

    python data/sample/generate.py            # writes rounds/, checks/ and expected.json
    python data/sample/generate.py --check    # exit 1 and one line per difference, changes nothing

Only the standard library; no clock, no randomness, no environment: every machine writes the same bytes.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

from generator.checks import check_answers, check_files  # noqa: E402 - found beside this script
from generator.expected import as_bytes, document  # noqa: E402 - as above
from generator.rounds import all_rounds, files_of  # noqa: E402 - as above

WRITTEN_FOLDERS = ("rounds", "checks")
EXPECTED_FILE = "expected.json"


def tree() -> dict[str, bytes]:
    """Give every file of the sample: path below `data/sample` -> bytes."""
    drafts = all_rounds()
    files = {f"rounds/{draft.round_id}/{path}": data for draft in drafts for path, data in files_of(draft).items()}
    files.update({f"checks/{path}": data for path, data in check_files().items()})
    files[EXPECTED_FILE] = as_bytes(document(drafts, check_answers()))
    return files


def differences(root: Path, files: dict[str, bytes]) -> list[str]:
    """Compare the tree below `root` with `files`: one line per missing, foreign or different file."""
    found = {
        path.relative_to(root).as_posix(): path
        for folder in WRITTEN_FOLDERS
        for path in sorted((root / folder).rglob("*"))
        if not path.is_dir()
    }
    if (root / EXPECTED_FILE).exists():
        found[EXPECTED_FILE] = root / EXPECTED_FILE
    lines = [f"missing: {path}" for path in sorted(files.keys() - found.keys())]
    lines += [f"not written by the generator: {path}" for path in sorted(found.keys() - files.keys())]
    lines += [
        f"differs: {path}" for path in sorted(files.keys() & found.keys()) if found[path].read_bytes() != files[path]
    ]
    return lines


def write(root: Path, files: dict[str, bytes]) -> None:
    """Replace the written folders below `root` by `files`."""
    for folder in WRITTEN_FOLDERS:
        shutil.rmtree(root / folder, ignore_errors=True)
    for path, data in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def main(arguments: list[str] | None = None) -> int:
    """Write or check the tree; exit code 0, or 1 when the check finds a difference."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="only compare, write nothing")
    parser.add_argument("--root", type=Path, default=HERE, help="folder to write or check (default: this one)")
    options = parser.parse_args(arguments)
    files = tree()
    if not options.check:
        write(options.root, files)
        print(f"{len(files)} files, {sum(map(len, files.values()))} bytes written")
        return 0
    lines = differences(options.root, files)
    for line in lines:
        print(line, file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
