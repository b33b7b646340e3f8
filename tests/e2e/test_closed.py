"""Nothing is open: loopback only, no request without a token, nothing readable that should not be.

SPDX-License-Identifier: Apache-2.0
"""
import os
import stat


def listening(pid):
    """Addresses (hex, as /proc/net/tcp writes them) on which a process listens."""
    inodes = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found = []
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}", encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
        found += [row[1].split(":")[0] for row in rows if row[3] == "0A" and row[9] in inodes]
    return found


def test_only_loopback_is_listened_on(weir):
    w = weir()
    addresses = listening(w.pid_of("server"))
    assert addresses and set(addresses) <= {"0100007F", "00000000000000000000000001000000"}
    assert listening(w.pid_of("agent")) == []


def test_beyond_loopback_is_refused(weir):
    w = weir()
    answer = w.weir("server", "--dir", str(w.root / "other"), "--listen", "0.0.0.0:0", check=False)
    assert answer.returncode != 0
    assert "0.0.0.0" in answer.stderr and "--insecure-listen" in answer.stderr


def test_everything_but_health_wants_a_token(weir):
    w = weir()
    for path in ("tasks", "pools", "nodes", "status", "queue", "events", "state", "whoami", "tokens", "openapi.yaml", "nonsense"):
        assert w.api("GET", path, token="").status == 401, path
        assert w.api("GET", path, token="weir_admin_wrong").status == 401, path
    assert w.api("GET", "/metrics", token="").status == 401
    assert w.api("GET", "/healthz", token="").status == 200
    assert w.api("GET", "/readyz", token="").status == 200


def test_a_read_only_token_reads_only(weir):
    w = weir()
    made = w.api("POST", "tokens", {"scope": "read", "name": "looker"})
    assert made.status == 201, made.body
    token = made.json["token"]
    assert w.api("GET", "tasks", token=token).status == 200
    assert w.api("POST", "tasks", {"command": ["true"]}, token=token).status == 403
    assert w.api("GET", "whoami", token=token).json["scope"] == "read"


def test_secrets_on_disk_are_private_and_hashed(weir):
    w = weir()
    for name in ("admin.token", "join.token"):
        assert stat.S_IMODE((w.dir / name).stat().st_mode) == 0o600
    secret = w.token.encode()
    for place, _, names in os.walk(w.dir):
        for name in names:
            path = os.path.join(place, name)
            if name != "admin.token" and stat.S_ISREG(os.lstat(path).st_mode):
                with open(path, "rb") as file:
                    assert secret not in file.read(), path
    assert w.token not in w.log_text()
