"""`weir support`: what is in the bundle, and what must not be. SPDX-License-Identifier: Apache-2.0"""

import json
import os
import pathlib
import re
import stat
import tarfile


def members(path):
    with tarfile.open(path) as tar:
        return {member.name.removeprefix("weir-support/"): tar.extractfile(member).read().decode() for member in tar}


def secrets_of(weir, bundle):
    """Every token below the directory of the test, and every long word of a small file that only its owner may read."""
    found = set()
    for folder, _, files in os.walk(weir.root):
        for name in files:
            path = pathlib.Path(folder, name)
            status = path.lstat()
            if path == bundle or not stat.S_ISREG(status.st_mode):
                continue
            found |= set(re.findall(rb"weir_[a-z]+_[0-9a-f]{64}", path.read_bytes()))
            if stat.S_IMODE(status.st_mode) == 0o600 and status.st_size < 4096:
                found |= set(re.findall(rb"[0-9a-zA-Z_+=-]{24,}", path.read_bytes()))
    return found


def test_the_bundle_has_no_secret_of_the_data_directory(weir):
    made = weir.weir("token", "create", "--scope", "read", "--name", "ann", "--json").stdout
    extra = re.search(r"weir_read_[0-9a-f]{64}", made).group()
    weir.weir("pool", "edit", "default", "--description", f"ask with {extra}")
    weir.submit(
        "sh", "-c", "echo password-in-command; sleep 1000", name="name-with-secret", description="words-with-secret",
        env={"API_KEY": "key-in-environment"}, tags=["tag-with-secret"],
    )
    weir.wait_state(1, "running")
    (weir.dir / "more.log").write_text(f"a line\ntoken {extra}\nlast line\n")
    path = weir.root / "bundle.tar"
    said = weir.weir("support", "-o", path, "--dir", weir.dir)
    assert said.stdout == f"{path}\n" and "tar tvf" in said.stderr
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    everything = path.read_bytes()
    secrets = secrets_of(weir, path) | {extra.encode()}
    assert len(secrets) >= 3, secrets
    for secret in secrets:
        assert secret not in everything and secret[-20:] not in everything, secret
    for words in ("password-in-command", "key-in-environment", "name-with-secret", "words-with-secret", "tag-with-secret"):
        assert words.encode() not in everything, words
    parts = members(path)
    assert "log-audit.log" not in parts and "audit.log" in parts["files.txt"]
    assert "ask with (hidden)" in parts["pools.json"] and parts["log-more.log"] == "a line\ntoken (hidden)\nlast line\n"


def test_the_bundle_has_what_a_helper_asks_for(weir):
    weir.submit("sleep", "1000", resources={"slots": 1})
    path = weir.root / "bundle.tar"
    weir.weir("support", "-o", path, "--dir", weir.dir)
    parts = members(path)
    assert set(parts) >= {
        "about.txt", "doctor.txt", "status.json", "pools.json", "nodes.json", "projects.json", "departments.json",
        "quotas.json", "tasks.json", "queue.json", "usage.json", "metrics.txt", "files.txt",
    }
    assert parts["about.txt"].startswith("weir ") and "ok       server" in parts["doctor.txt"]
    (task,) = json.loads(parts["tasks.json"])
    assert task["id"] == 1 and task["resources"] == {"slots": 1} and "env" not in task and "command" not in task
    assert "weir.db" in parts["files.txt"] and "weir_tasks" in parts["metrics.txt"]
    again = weir.weir("support", "-o", path, check=False)
    assert again.returncode == 5 and "bundle.tar" in again.stderr, "a file is not replaced"


def test_a_bundle_is_written_without_a_server_too(weir):
    weir.stop()
    path = weir.root / "bundle.tar"
    weir.weir("support", "-o", path, "--dir", weir.dir)
    parts = members(path)
    assert "TROUBLE  server" in parts["doctor.txt"] and "status.json: " in parts["about.txt"]
    assert "files.txt" in parts and "status.json" not in parts


def test_a_token_of_another_form_is_hidden(weir):
    token = "a-token-of-another-form"
    weir.weir("pool", "edit", "default", "--contact", f"{token}, ann")
    path = weir.root / "bundle.tar"
    (weir.dir / "more.log").write_text(f"Bearer {token}\n")
    weir.weir("support", "-o", path, "--dir", weir.dir, env={"WEIR_SERVER": weir.url, "WEIR_TOKEN": token})
    assert token.encode() not in path.read_bytes()
