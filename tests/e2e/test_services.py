"""Services: programs that start again, answer health checks and keep their address. SPDX-License-Identifier: Apache-2.0
"""


def test_a_service_starts_again_as_the_same_task(weir):
    site = weir("--slots", "2")
    task = site.submit("sh", "-c", 'echo "start $WEIR_ATTEMPT"; test "$WEIR_ATTEMPT" = 3 && exec sleep 1000; exit 7',
                       kind="service", restart_delay="100ms")
    site.wait_until(lambda: "start 3" in site.weir("task", "logs", task).stdout, "the third attempt")
    shown = site.wait_state(task, "running")
    assert shown["restart"] == "auto" and shown["restart_delay_ms"] == 100
    assert sorted(one["attempt"] for one in shown["attempts"]) == [1, 2, 3]
    site.weir("kill", "--yes", task)
    assert site.wait_state(task, "killed")["cause"] == "killed"


def test_a_service_fails_after_the_most_starts_in_a_row_and_says_why_it_waits(weir):
    site = weir("--slots", "2")
    task = site.submit("sh", "-c", "echo again; exit 7", kind="service", max_restarts=2, restart_delay="1ms")
    assert site.wait_state(task, "failed")["exit_code"] == 7
    assert site.weir("task", "logs", task).stdout.count("again") == 3
    slow = site.submit("sh", "-c", "exit 7", kind="service", restart_delay="1h")
    site.wait_until(lambda: (site.task(slow)["reason"] or {}).get("code") == "restarts", "the wait")
    assert "its program ended; waits before start 1 in a row" in site.weir("explain", slow).stdout


def test_a_gang_cannot_start_always(weir):
    site = weir("--slots", "2")
    refused = site.weir("submit", "--gang", "--instances", "2", "--restart", "always", "--", "true", check=False)
    assert refused.returncode == 2, refused
    assert "restart: the instances of a gang end together" in refused.stderr
