"""Writes a file's bytes as a C array: embed.py INPUT OUTPUT NAME HEADER.

SPDX-License-Identifier: Apache-2.0"""
import sys

source, target, name, header = sys.argv[1:]
data = open(source, "rb").read()
with open(target, "w", encoding="ascii") as out:
    out.write(f'#include "{header}"\n\nconst size_t {name}_len = {len(data)};\n')
    out.write(f"const unsigned char {name}[] = {{\n")
    for i in range(0, len(data), 20):
        out.write("    " + ", ".join(str(b) for b in data[i : i + 20]) + ",\n")
    out.write("};\n")
