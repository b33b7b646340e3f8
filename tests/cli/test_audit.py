"""weir audit: the record of what administrators did, and the check that it is whole. SPDX-License-Identifier: Apache-2.0"""

import json
import os
import signal


def acts(weir, *flags):
    lines = weir.weir("audit", "list", "--json=lines", *flags).stdout.splitlines()
    return [json.loads(line) for line in lines]


def said(weir, *flags):
    done = weir.weir("audit", "verify", "--dir", weir.dir, *flags, check=False)
    return done.returncode, done.stdout.strip(), done.stderr


def test_every_act_of_an_administrator_is_recorded_with_its_answer(weir):
    before = len(acts(weir))
    weir.weir("pool", "create", "lab")
    weir.weir("pool", "create", "lab", check=False)  # there is one already
    weir.weir("quota", "set", "default", "gpu=1", "--dry-run", check=False)  # changes nothing
    weir.weir("pool", "list")
    weir.weir("run", "--", "true")
    secret = weir.weir("token", "create", "--scope", "read", "--name", "ann").stdout.strip()
    refused = weir.weir("pool", "delete", "lab", "--yes", check=False, env={"WEIR_TOKEN": secret, "WEIR_SERVER": weir.url})
    assert refused.returncode == 4
    made = acts(weir)[: len(acts(weir)) - before]
    found = [(act["actor"].split(":")[0], act["method"], act["path"], act["status"]) for act in reversed(made)]
    assert found[:3] == [("user", "POST", "/api/v1/pools", 201), ("user", "POST", "/api/v1/pools", 409), ("user", "POST", "/api/v1/tokens", 201)]
    assert found[3:] == [("user", "DELETE", "/api/v1/pools/lab", 403)] and made[0]["actor"] == "user:ann"
    assert {act["peer"] for act in made} == {"127.0.0.1"} and all(act["token"] for act in made)
    assert [act["n"] for act in reversed(made)] == list(range(before + 1, before + 5))
    # what the act changed was on disk when it was answered
    seq = made[-1]["seq"]
    events = [json.loads(line) for line in weir.weir("events", "--filter", "type=pool-set pool=lab", "--json=lines").stdout.splitlines()]
    assert [event["seq"] <= seq for event in events] == [True]
    assert weir.weir("audit", "list", "-q", "--filter", "status=403").stdout.split() == [str(made[0]["n"])]


def test_a_line_that_was_changed_moved_or_taken_away_is_found(weir):
    for name in ("a", "b", "c"):
        weir.weir("pool", "create", name)
    code, last, text = said(weir)
    assert (code, len(last)) == (0, 64) and "each follows the line before" in text
    os.kill(weir.pid_of("server"), signal.SIGKILL)
    weir.kill()
    weir.start()
    weir.weir("pool", "create", "d")
    assert said(weir, "--last", last)[0] == 0
    weir.stop()
    record = weir.dir / "audit.log"
    whole = record.read_bytes()
    lines = whole.splitlines(keepends=True)
    n = next(i for i, line in enumerate(lines) if b'"path":"/api/v1/pools"' in line)

    def verify(changed, *flags):
        record.write_bytes(b"".join(changed))
        return said(weir, *flags)

    assert verify(lines)[0] == 0
    edited = lines[:n] + [lines[n].replace(b'"status":201', b'"status":404')] + lines[n + 1 :]
    code, _, text = verify(edited)
    assert code == 1 and text.endswith(f"audit.log: line {n + 1}: it was changed\n")
    for broken in (lines[:n] + lines[n + 1 :], lines[: n + 1] + lines[n:], lines[:n] + [lines[n + 1], lines[n]] + lines[n + 2 :]):
        code, _, text = verify(broken)
        assert code == 1 and "it does not follow the line before" in text, text
    assert verify(lines[: n + 1] + [b"{}\n"])[0] == 1
    code, _, text = verify(lines[:-1], "--last", json.loads(lines[-1])["hash"])
    assert code == 1 and "no line has the hash of --last" in text
    # a line that a power cut left half written goes, and the record goes on
    record.write_bytes(whole + lines[-1][:40])
    weir.start()
    weir.weir("pool", "create", "e")
    assert said(weir, "--last", last)[0] == 0
    assert acts(weir)[0]["n"] == max(act["n"] for act in acts(weir)) > len(lines)


def test_a_long_record_is_listed_in_pages(weir):
    for i in range(120):
        weir.api("POST", "projects", {"name": f"p{i}"})
    listed = [act["n"] for act in acts(weir)]
    assert listed == sorted(listed, reverse=True) and len(listed) == len(set(listed)) == listed[0] >= 120
    first = weir.api("GET", "audit?limit=50").json
    second = weir.api("GET", f"audit?limit=50&cursor={first['next']}").json
    assert [act["n"] for act in first["items"] + second["items"]] == listed[:100]
