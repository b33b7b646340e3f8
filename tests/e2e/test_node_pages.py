"""The commands of containers.md, files.md and interactive.md, typed in order where the pages' images, files and tasks are there.

Only names are changed: of the registry, of directories, and of files that a reader has. SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil
import subprocess

import pytest
from test_containers import MISSING, fixture_images, registry  # noqa: F401 - the fixtures `images` and `registry`
from test_examples import commands
from weir_harness import Weir

PYTHON = "#!/bin/sh\necho trained by $1\n"


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)


def typed(weir, line, cwd):
    """Runs one command of a page as a reader's shell does; what it printed."""
    env = weir.env()
    env["PATH"] = f"{weir.root}/bin:{env['PATH']}"
    env["HOME"] = str(weir.home)
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=env, cwd=cwd, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return done.stdout


def weir_of(*args):
    weir = Weir(args)
    (weir.root / "bin").mkdir()
    shutil.copy(os.environ.get("WEIR_BIN", "./weir"), weir.root / "bin/weir")
    return weir


@pytest.mark.skipif(os.geteuid() != 0 or bool(MISSING), reason=f"needs root and {MISSING or 'nothing else'}")
def test_the_commands_about_containers(images, registry):  # noqa: F811
    root = images / "rootfs"
    (root / "etc/os-release").write_text("NAME=small\n")
    script(root / "bin/python", PYTHON)
    (images / "sets").mkdir(exist_ok=True)
    (images / "sets/first").write_text("1\n")
    places = {
        "debian:12 -- cat /etc/os-release": f"{registry}/weir/bb:1 -- cat /etc/image",
        "archive:/srv/images/train.tar": f"archive:{images}/bb.tar",
        "python train.py": "cat /etc/image",
        "/srv/images/rootfs": str(root),
        "/data/sets": str(images / "sets"),
    }
    lines = [line for line, _ in commands("containers.md")]
    with weir_of("--fake-gpus", "1", "--image-dirs", str(images), "--allow-binds", str(images), "--plain-registries", registry) as weir:
        said = []
        for line in lines:
            for old, new in places.items():
                line = line.replace(old, new)
            said.append(typed(weir, line, weir.root))
    assert said == ["an image\n", "an image\n", "first\n"]


def test_the_commands_about_files():
    with weir_of("--slots", "4", "--resources", "foo=7") as weir:
        project = weir.home / "project"
        project.mkdir()
        (project / "train.py").write_text("print('trained')\n")
        script(project / "run.sh", "#!/bin/sh\nmkdir -p out logs; echo $INSTANCE_ID > out/n; echo log > logs/a; echo model > model.bin\n")
        sent, arrays = [line for line, _ in commands("files.md")][:2]
        assert typed(weir, sent, project) == "trained\n"
        first = typed(weir, arrays, weir.root).split()[0]
        weir.weir("task", "wait", first)
        weir.weir("submit", "--array", "0-8", "--stage", "--", "true")
        while int(typed(weir, "weir submit --stage -- true", project)) < 11:
            pass
        twelve = typed(weir, arrays, weir.root).split()[0]
        assert twelve == "12"
        weir.weir("task", "wait", twelve)
        for line, _ in commands("files.md")[2:]:
            typed(weir, line, weir.root)
        assert (weir.root / "model.bin").read_text() == "model\n"
        assert (weir.root / "results/logs/a").read_text() == "log\n"
        assert (weir.root / "all/out/n").read_text() == "0\n"


def test_the_commands_about_programs_inside_tasks():
    """Shells, notebooks and TensorBoards: test_interactive.py and test_notebook.py."""
    with weir_of("--fake-gpus", "4") as weir:
        tools = weir.root / "tools"
        tools.mkdir()
        script(tools / "nvidia-smi", "#!/bin/sh\necho GPU $CUDA_VISIBLE_DEVICES\n")
        here = weir.root / "here"
        (here / "data").mkdir(parents=True)
        (here / "data/first").write_text("1\n")
        while int(typed(weir, "weir submit --stage -- true", weir.root)) < 11:
            pass
        task = weir.submit("sh", "-c", "echo half > progress.txt; exec sleep 600", instances=4, resources={"gpu": 1}, env={"PATH": f"{tools}:/usr/bin:/bin"})
        assert str(task) == "12"
        weir.wait_until(lambda: [a["state"] for a in weir.task(12)["attempts"]].count("running") == 4, "four instances")
        lines = [line for line, _ in commands("interactive.md") if line.startswith(("weir task exec", "tar "))]
        assert len(lines) == 4
        said = [typed(weir, line, here) for line in lines]
        assert said[:2] == ["GPU 0\n", "half\n"]
        assert typed(weir, "weir task exec 12 -- cat data/first", here) == "1\n"
