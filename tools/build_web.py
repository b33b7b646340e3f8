"""Writes the pages as C: build_web.py WEB OUTPUT DEPFILE. SPDX-License-Identifier: Apache-2.0

With Node and the packages of web/package-lock.json in WEB/node_modules (`tools/deps build` puts them there) the pages are
those of the web interface, built by Vite. Without them they are those of WEB/plain, which say that the interface is left
out: the server works all the same. Nothing is fetched here.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

EMBED = pathlib.Path(__file__).with_name("embed_web.py")
NODE_LEAST = 18


def node_of():
    """The program `node`, if it is new enough."""
    node = shutil.which("node")
    if node is None:
        return None
    words = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return node if words.startswith("v") and int(words[1:].split(".")[0]) >= NODE_LEAST else None


def packages_fit(web):
    """Are the packages those of the lock file? tools/deps leaves a copy of the lock file beside them."""
    done = web / "node_modules" / "lock.done"
    return done.exists() and done.read_bytes() == (web / "package-lock.json").read_bytes()


def built(web, out):
    """Builds the interface below `out`; False: it cannot be built here."""
    node = node_of()
    if os.environ.get("WEIR_WEB") == "no" or node is None or not packages_fit(web):
        return False
    vite = web / "node_modules" / "vite" / "bin" / "vite.js"
    subprocess.run([node, vite, "build", "--logLevel", "warn", "--outDir", out], cwd=web, check=True)
    return True


def main():
    web, output, depfile = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="weir-web-") as out:
        if built(web, out):
            files = [web / "index.html", web / "weir.svg", *sorted(pathlib.Path(out).glob("*.*"))]
        else:
            print("web: the interface is left out (tools/deps build gets Node and its packages)", file=sys.stderr)
            files = [web / "weir.svg", *sorted((web / "plain").iterdir())]
        subprocess.run([sys.executable, EMBED, output, *files], check=True)
    # The folders are in the list, too: a new file, or packages that were not there before, change their folder.
    shared = [web.parent / "src" / name for name in ("sim/report.js", "sim/report.css", "cli/jupyter.sh", "cli/tensorboard.sh", "core/model/pool_fields.def")]
    read = shared + [p for p in (web / "src").rglob("*")] + [p for p in web.iterdir() if p.name != "node_modules"] + [*(web / "plain").iterdir(), web, web / "src"]
    names = " ".join(str(p).replace(" ", "\\ ") for p in read)
    depfile.write_text(f"{sys.argv[2]}: {names}\n", encoding="utf-8")


main()
