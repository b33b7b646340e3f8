#!/usr/bin/env python3
"""Turns NNNN_name.sql files into the table of sqlite/migrations.h. Usage: embed.py OUT.c IN.sql...

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys


def main(out: str, inputs: list[str]) -> int:
    rows = []
    for number, path in enumerate(sorted(pathlib.Path(p) for p in inputs), start=1):
        match = re.fullmatch(r"(\d{4})_([a-z0-9_]+)\.sql", path.name)
        if match is None or int(match[1]) != number:
            print(f"{path}: migrations are NNNN_name.sql, numbered from 0001 without gaps", file=sys.stderr)
            return 1
        lines = path.read_text(encoding="ascii").splitlines()
        text = "\n".join('     "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"' for line in lines)
        rows.append(f'    {{"{path.stem}",\n{text}}},\n')
    pathlib.Path(out).write_text(
        "/* Made by migrations/embed.py. */\n"
        '#include "store/sqlite/migrations.h"\n\n'
        "const struct migration migrations[] = {\n" + "".join(rows) + "};\n"
        f"const int migration_count = {len(rows)};\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
