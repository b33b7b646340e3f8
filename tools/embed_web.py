"""Writes the files of web/ as C: embed_web.py OUTPUT FILE…

A page (.html) is served at its own path; every other file is an asset whose name carries a hash of its bytes, and pages
refer to it by that name. SPDX-License-Identifier: Apache-2.0"""
import gzip
import hashlib
import pathlib
import re
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def hash_of(data):
    return hashlib.sha256(data).hexdigest()[:20]


def with_hashes(page, name, assets):
    """The page's references to assets by their hashed names; an unknown one is an error."""
    def hashed(match):
        if match.group(1).decode() not in assets:
            sys.exit(f"web/{name}: there is no asset '{match.group(0).decode()}'")
        return assets[match.group(1).decode()].encode()

    return re.sub(rb"/assets/([\w.-]+)", hashed, page)


def c_bytes(name, data):
    rows = ["    " + ", ".join(str(b) for b in data[i : i + 20]) + ",\n" for i in range(0, len(data), 20)]
    return f"static const unsigned char {name}[] = {{\n{''.join(rows)}}};\n"


def main():
    target, *paths = sys.argv[1:]
    files = {pathlib.Path(path).name: pathlib.Path(path).read_bytes() for path in sorted(paths)}
    pages = {name: data for name, data in files.items() if name.endswith(".html")}
    assets = {}
    for name, data in files.items():
        if name not in pages:
            if re.search(rb"/assets/[\w.-]+\.\w", data):
                sys.exit(f"web/{name}: an asset refers to no other asset, its name would not carry the other's hash")
            stem, ext = name.rsplit(".", 1)
            assets[name] = f"/assets/{stem}-{hash_of(data)}.{ext}"
    bodies, rows = [], []
    for number, (name, data) in enumerate(files.items()):
        page = name in pages
        data = with_hashes(data, name, assets) if page else data
        packed = gzip.compress(data, 9, mtime=0)
        path = ("/" if name == "index.html" else "/" + name) if page else assets[name]
        kind = TYPES[pathlib.Path(name).suffix]
        bodies += [c_bytes(f"plain_{number}", data), c_bytes(f"packed_{number}", packed)]
        rows.append(f'    {{"{path}", "{kind}", "{hash_of(data)}", {str(page).lower()}, '
                    f"plain_{number}, sizeof plain_{number}, packed_{number}, sizeof packed_{number}}},\n")
    pathlib.Path(target).write_text(
        '#include "api/asset.h"\n\n' + "".join(bodies) + "const struct asset assets[] = {\n" + "".join(rows) + "};\n"
        "const size_t assets_count = sizeof assets / sizeof assets[0];\n", encoding="ascii")


main()
