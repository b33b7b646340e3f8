"""What a person does with tasks; the command line says whether it happened. SPDX-License-Identifier: Apache-2.0"""

import re

import pytest

from page_checks import wait_for_texts
from weir_harness import Weir


@pytest.fixture(scope="module")
def weir_here(chromium):
    with Weir(["--fake-gpus", "2"]) as weir:
        yield weir


def task(weir, number):
    return weir.api("GET", f"/api/v1/tasks/{number}").json


def submitted(weir, *words):
    return int(weir.weir("submit", *words).stdout.split()[0])


def reach(weir, number, *states):
    """Waits until the task has one of these states; by the events of the server, asked through its own wait."""
    import time

    deadline = time.monotonic() + 30
    while (state := task(weir, number)["state"]) not in states:
        assert time.monotonic() < deadline, state
        time.sleep(0.05)
    return state


def test_submit_says_first_what_would_happen(weir_here, tab_of):
    tab = tab_of(weir_here)
    page = tab.open("/submit")
    page.fill("textarea[name=command]", "echo from the page; sleep 300")
    page.fill("input[name=name]", "paged")
    page.fill("input[name=gpu]", "1")
    page.wait_for_selector("[data-trial=start]")
    wait_for_texts(page, ["Would start now on", "weir submit --name paged --gpus 1 -- sh -c 'echo from the page; sleep 300'"])
    page.fill("input[name=gpu]", "5")
    page.wait_for_selector("[data-trial=never]")
    page.fill("input[name=gpu]", "1")
    page.wait_for_selector("[data-trial=start]")
    page.click("main button[type=submit]")
    page.wait_for_function("() => location.hash.startsWith('#/tasks/')")
    wait_for_texts(page, ["from the page"])
    number = int(page.url.rsplit("/", 1)[1])
    made = task(weir_here, number)
    assert (made["name"], made["resources"]) == ("paged", {"gpu": 1})
    reach(weir_here, number, "running")
    page = tab.open("/submit")
    page.fill("textarea[name=command]", "true")
    page.fill("input[name=gpu]", "2")
    page.wait_for_selector("[data-trial=wait]")
    assert re.search(r"Would wait: waits for 2 slots; the nearest node .* has [01] free", page.inner_text("[data-trial]")), page.inner_text("[data-trial]")
    page = tab.open(f"/tasks/{number}")
    tab.button("Kill")
    tab.confirm("1 task would stop")
    page.wait_for_selector("h1 ~ .sub .s-killed")
    assert reach(weir_here, number, "killed")


def test_a_task_is_paused_activated_changed_and_retried(weir_here, tab_of):
    number = submitted(weir_here, "--name", "long", "--", "sleep", "300")
    reach(weir_here, number, "running")
    tab = tab_of(weir_here)
    page = tab.open(f"/tasks/{number}")
    tab.button("Pause")
    tab.confirm(f"weir task pause {number}")
    page.wait_for_selector(".sub .s-paused")
    assert task(weir_here, number)["state"] == "paused"
    tab.button("Activate")
    tab.confirm("would start")
    reach(weir_here, number, "running")
    tab.button("Priority")
    page.fill("dialog input[type=number]", "80")
    tab.button("Go on")
    tab.confirm(f"weir task edit {number} --priority 80")
    wait_for_texts(page, ["80"])
    assert task(weir_here, number)["priority"] == 80
    tab.button("Kill")
    tab.confirm()
    page.wait_for_selector(".sub .s-killed")
    tab.button("Retry")
    tab.confirm(f"weir task retry {number}")
    page.wait_for_function("n => !location.hash.endsWith('/' + n)", arg=number)
    again = int(page.url.rsplit("/", 1)[1])
    assert again > number and task(weir_here, again)["command"] == ["sleep", "300"]
    weir_here.weir("kill", again, "--yes")


def test_a_running_task_shows_what_it_uses_of_what_it_holds(weir_here, tab_of):
    number = submitted(weir_here, "--cpu", "0.5", "--memory", "64Mi", "--", "sh", "-c", "while :; do :; done")
    reach(weir_here, number, "running")
    page = tab_of(weir_here).open(f"/tasks/{number}")
    page.wait_for_selector("[data-now] >> text=of memory of 64 MiB", timeout=60000)
    page.wait_for_function("() => /[1-9]/.test(document.querySelector('[data-now] b')?.innerText ?? '')", timeout=60000)  # cores, not only what it holds
    assert "of 0.5 cores" in page.inner_text("[data-now]")
    weir_here.weir("kill", number, "--yes")


def test_a_staged_task_is_queued_and_run_with_changes(weir_here, tab_of):
    number = submitted(weir_here, "--stage", "--name", "later", "--", "sleep", "300")
    tab = tab_of(weir_here)
    page = tab.open(f"/tasks/{number}")
    tab.button("Queue")
    tab.confirm("would start")
    reach(weir_here, number, "running")
    tab.button("Run with changes")
    page.wait_for_function("() => document.querySelector('textarea[name=command]')?.value === 'sleep 300'")
    assert page.input_value("input[name=name]") == "later"
    weir_here.weir("kill", number, "--yes")


def test_many_tasks_are_killed_at_once_after_a_look(weir_here, tab_of):
    numbers = [submitted(weir_here, "--name", "bulk", "--tag", "many", "--", "sleep", "300") for _ in range(3)]
    for number in numbers[:2]:
        reach(weir_here, number, "running")
    tab = tab_of(weir_here)
    page = tab.open("/tasks?tag=many")
    page.wait_for_selector(f"[data-row='{numbers[0]}']")
    page.get_by_label("All rows").check()
    wait_for_texts(page, ["3 tasks chosen"])
    page.get_by_role("region", name="Actions on the chosen tasks").get_by_role("button", name="Priority").click()
    page.fill("dialog input[type=number]", "60")
    tab.button("Go on")
    tab.confirm("Give 3 tasks the priority 60?")
    assert [task(weir_here, n)["priority"] for n in numbers] == [60, 60, 60]
    page.get_by_label("All rows").check()
    page.get_by_role("region", name="Actions on the chosen tasks").get_by_role("button", name="Kill").click()
    page.wait_for_selector("dialog[open] [data-dry] >> text=2 tasks would stop")
    text = page.inner_text("dialog[open]")
    assert "of work since a start or a checkpoint would be lost" in text and text.count("ends, loses") == 2 and "1 waiting task would end" in text, text
    tab.button("Leave it")
    assert sorted(task(weir_here, n)["state"] for n in numbers) == ["pending", "running", "running"]  # a look ends nothing
    page.get_by_role("region", name="Actions on the chosen tasks").get_by_role("button", name="Kill").click()
    tab.confirm("weir kill")
    for number in numbers:
        reach(weir_here, number, "killed")


def test_a_waiting_task_moves_in_the_queue(weir_here, tab_of):
    block = submitted(weir_here, "--gpus", "2", "--", "sleep", "300")
    reach(weir_here, block, "running")
    first, second = (submitted(weir_here, "--gpus", "2", "--name", n, "--", "sleep", "300") for n in ("one", "two"))
    tab = tab_of(weir_here)
    page = tab.open("/queue")
    page.wait_for_selector(f"[data-row='{second}']")
    page.get_by_label(f"Move task {second} forward").click()
    tab.confirm(f"weir task move {second} --ahead-of {first}")
    order = [item["id"] for item in weir_here.api("GET", "/api/v1/queue").json["items"]]
    assert order.index(second) < order.index(first)
    weir_here.weir("kill", block, first, second, "--yes")


def test_output_is_searched_followed_and_downloaded(weir_here, tab_of):
    script = "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); echo line $i of many; done; echo 'Traceback (most recent call last)'; echo last; sleep 300"
    number = submitted(weir_here, "--", "sh", "-c", script)
    tab = tab_of(weir_here)
    page = tab.open(f"/tasks/{number}")
    page.wait_for_function("() => document.querySelector('.log')?.innerText.includes('last')")
    assert page.locator(".log-line").count() < 120  # only what is in sight is drawn
    page.get_by_label("Search in the output").fill("4999 of")
    wait_for_texts(page, ["1 found"])
    page.get_by_label("Search in the output").press("Enter")
    page.wait_for_selector(".log-at")
    assert "line 4999 of many" in page.inner_text(".log-at")
    page.get_by_label("Search in the output").fill("")
    tab.button("First error")
    page.wait_for_function("() => [...document.querySelectorAll('.log-line')].some(l => l.innerText.includes('Traceback'))")
    with page.expect_download() as started:
        page.get_by_role("link", name="Download").click()
    text = open(started.value.path()).read()
    assert text.startswith("line 1 of many\n") and text.endswith("last\n")
    lines = page.get_attribute(".log", "data-lines")
    weir_here.weir("kill", number, "--yes")
    page.wait_for_selector(".sub .s-killed")
    assert page.get_attribute(".log", "data-lines") == lines  # the end of the task takes nothing away
