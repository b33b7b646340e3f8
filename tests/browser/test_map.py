"""The slot map: colours, gangs, nodes on their way, the card, clicks, zoom and the table. What the canvas shows is read from its pixels.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from organisation import Site  # noqa: E402
from page_checks import PICTURES, check_page, wait_for_texts  # noqa: E402

CONFIG = """
pools: [{name: a}, {name: b}]
projects: [{name: vision}, {name: nlp}]
"""
CELL, PAD = 10, 3  # of map_draw.ts
HANGS = "#!/bin/sh\nexec sleep 600\n"
COLOUR = "([x, y]) => { const c = document.querySelector('canvas'), r = c.width / c.clientWidth; return [...c.getContext('2d').getImageData(Math.round(x * r), Math.round(y * r), 1, 1).data]; }"
DOT = "t => [...document.querySelectorAll('[aria-label=Colours] li')].filter(l => l.innerText.startsWith(t)).map(l => getComputedStyle(l.querySelector('.map-dot')).backgroundColor.match(/\\d+/g).map(Number))[0]"


@pytest.fixture(scope="module")
def fleet(chromium):
    """Two nodes of four GPUs: one with task 1 (three GPUs) and task 2, one with the gang, task 3, and two free; one node of the pool `later` never comes."""
    site = Site(CONFIG)
    try:
        site.start()
        site.nodes("n1", "n2", pool="a")
        site.nodes("n3", pool="b", gpus=2)
        hangs = site.root / "hangs.sh"
        hangs.write_text(HANGS)
        hangs.chmod(0o755)
        site.weir("pool", "create", "later", "--provider", "exec", "--command", hangs, "--min", "1", "--max", "1")
        for task in ({"name": "wide", "project": "vision", "resources": {"gpu": 3}}, {"name": "small", "project": "nlp", "resources": {"gpu": 1}},
                     {"name": "pair", "project": "nlp", "instances": 2, "gang": True, "resources": {"gpu": 1}}):
            answer = site.api("POST", "tasks", {"command": ["sleep", "86400"], "pool": "a", **task})
            assert answer.status == 201, answer.body
            site.wait_state(answer.json["tasks"][0]["id"], "running")
        site.wait_until(lambda: site.api("GET", "map").json["ghosts"], "a node on its way")
        yield site
    finally:
        site.close()


class Map:
    """The map in a page: the tile that the arrow keys have reached, and the cells of the tile."""

    def __init__(self, tab, query=""):
        self.page = tab.open("/map" + query)
        self.page.wait_for_selector("canvas[data-drawn]:not([data-drawn='0'])")

    def reach(self, text):
        """Goes from node to node until the card says this."""
        self.page.focus("canvas")
        for _ in range(6):
            self.page.keyboard.press("ArrowLeft")
        for _ in range(6):
            self.page.wait_for_timeout(100)  # until the card is drawn
            if text in self.page.inner_text("#map-card"):
                self.page.wait_for_selector("canvas[data-focus]")
                self.tile = [float(n) for n in self.page.get_attribute("canvas", "data-focus").split()]
                return self
            self.page.keyboard.press("ArrowRight")
        raise AssertionError(f"{text!r} is on no card; the last: {self.page.inner_text('#map-card')}")

    def cell(self, number, across=0.5, down=0.75):
        """A point of a cell of the tile, in the canvas."""
        x, y, width, cells = self.tile
        scale = width / (cells * CELL + 2 * PAD)
        return [x + (PAD + (number + across) * CELL) * scale, y + (PAD + down * CELL) * scale]

    def colour(self, number, **where):
        return self.page.evaluate(COLOUR, self.cell(number, **where))

    def dot(self, text):
        return self.page.evaluate(DOT, text)

    def colour_by(self, word):
        self.page.get_by_role("group", name="Colour by").get_by_role("button", name=word, exact=True).click()
        self.page.wait_for_timeout(100)

    def point(self, number):
        box = self.page.locator("canvas").bounding_box()
        x, y = self.cell(number)
        return box["x"] + x, box["y"] + y


def tile_of(site, name):
    """The GPUs of a node in the order of their numbers: which task holds each, 0 where none does."""
    held = [0] * len(site.api("GET", f"nodes/{name}").json["devices"])
    for number in (1, 2, 3):
        for attempt in site.task(number)["attempts"]:
            for device in attempt["devices"] if attempt["node"] == name else []:
                held[device] = number
    return held


def node_of(site, task):
    return site.task(task)["attempts"][0]["node"]


def test_each_cell_has_the_colour_of_whose_it_is(fleet, tab_of):
    devices = {name: tile_of(fleet, name) for name in ("n1", "n2")}
    assert sorted(devices["n1"] + devices["n2"]) == [0, 0, 1, 1, 1, 2, 3, 3]
    view = Map(tab_of(fleet))
    for word, names in (("Project", {1: "vision", 2: "nlp", 3: "nlp", 0: "free"}), ("User", {1: "root", 2: "root", 3: "root", 0: "free"}), ("Pool", {1: "a", 2: "a", 3: "a", 0: "free"}), ("Task", {1: "task 1", 2: "task 2", 3: "task 3", 0: "free"}),
                        ("Use", {1: "whole", 2: "whole", 3: "whole", 0: "free"}), ("Health", {1: "used", 2: "used", 3: "used", 0: "free"})):
        view.colour_by(word)
        assert word == "Project" or f"by={word.lower()}" in view.page.url
        for node, held in devices.items():
            view.reach(node)
            for number, task in enumerate(held):
                assert view.colour(number) == [*view.dot(names[task]), 255], (word, node, number)
    assert view.dot("used") != view.dot("free")


def test_a_gang_is_outlined_and_nothing_else(fleet, tab_of):
    view = Map(tab_of(fleet))
    for node in ("n1", "n2"):
        view.reach(node)
        for number, task in enumerate(tile_of(fleet, node)):
            edge = [view.colour(number, across=0.5, down=1.0 - 0.002 * n) for n in range(-20, 40)]
            ink = [c for c in edge if max(c[:3]) < 70 and c[3] > 200]  # the ink of the page, in light colours
            assert bool(ink) == (task == 3), (node, number, task)


def test_a_node_on_its_way_is_dashed_and_leads_to_its_pool(fleet, tab_of):
    page = Map(tab_of(fleet)).page
    wait_for_texts(page, ["1 on their way"])
    view = Map(tab_of(fleet)).reach("A node on its way")
    assert "Pool later" in view.page.inner_text("#map-card")
    view.page.keyboard.press("Enter")
    view.page.wait_for_selector("h1:has-text('later')")


def test_the_card_says_who_holds_a_device_and_a_click_opens_the_task(fleet, tab_of):
    node = node_of(fleet, 1)
    view = Map(tab_of(fleet)).reach(node)
    held = tile_of(fleet, node)
    whole = view.page.inner_text("#map-card")
    assert "0 of 4 GPUs free" in whole and "task 1" in whole and "task 2" in whole
    view.page.mouse.move(*view.point(held.index(1)))
    view.page.wait_for_function("() => { const t = document.querySelector('#map-card').innerText; return t.includes('task 1 ') && !t.includes('task 2'); }")
    card = view.page.inner_text("#map-card")
    assert "vision / root" in card and "GPU " + ", ".join(str(d) for d, t in enumerate(held) if t == 1) in card
    view.page.mouse.click(*view.point(held.index(2)))
    view.page.wait_for_function("() => location.hash === '#/tasks/2'")
    assert "gang of 2" in Map(tab_of(fleet)).reach(node_of(fleet, 3)).page.inner_text("#map-card")


def test_zoom_from_the_fleet_to_a_device(fleet, tab_of):
    view = Map(tab_of(fleet)).reach("n2")
    far = view.tile[2]
    view.page.mouse.move(*view.point(0))
    view.page.mouse.wheel(0, -300)
    view.page.wait_for_function("w => Number(document.querySelector('canvas').dataset.focus.split(' ')[2]) > 1.8 * w", arg=far)
    view.page.get_by_role("button", name="Farther").click()
    view.page.focus("canvas")
    view.page.keyboard.press("0")
    view.page.wait_for_function("w => Math.abs(Number(document.querySelector('canvas').dataset.focus.split(' ')[2]) - w) < 0.01", arg=far)
    view.page.get_by_role("button", name="Nearer").click()
    view.page.wait_for_function("w => Number(document.querySelector('canvas').dataset.focus.split(' ')[2]) > w", arg=far)
    PICTURES.mkdir(parents=True, exist_ok=True)
    view.page.screenshot(path=str(PICTURES / "map-gang.png"))


def test_a_search_leaves_what_fits_in_colour(fleet, tab_of):
    node = node_of(fleet, 1)
    view = Map(tab_of(fleet)).reach(node)
    held = tile_of(fleet, node)
    whole = view.colour(held.index(1))
    view.page.get_by_label("Find a node, user, project or task").fill("nlp")
    view.page.wait_for_function("() => location.hash.includes('q=nlp')")
    view.page.wait_for_timeout(100)
    assert view.colour(held.index(1)) != whole
    assert view.colour(held.index(2)) == [*view.dot("nlp"), 255]


def test_the_table_says_the_same_and_changes_show(fleet, tab_of):
    page = tab_of(fleet).open("/map?as=table")
    page.wait_for_selector("tr[data-row=n1]")
    for name in ("n1", "n2", "n3"):
        row = page.inner_text(f"tr[data-row={name}]")
        held = tile_of(fleet, name)
        assert f"{held.count(0)} of {len(held)}" in row, row
        assert all((f"{task} " in row.split("\t")[4]) == (task in held) for task in (1, 2, 3)), row
    check_page(page)
    fleet.weir("node", "drain", "n3")
    page.wait_for_selector("tr[data-row=n3] >> text=draining")
    home = tab_of(fleet).open("/")
    home.wait_for_selector("[data-pool=a] >> text=6 used")
    home.wait_for_selector("[data-pool=b] >> text=2 draining")
    home.wait_for_selector("[data-pool=later] >> text=1 coming")
    fleet.weir("node", "resume", "n3")
    home.wait_for_selector("[data-pool=b] >> text=2 free")
    page.wait_for_function("() => !document.querySelector('tr[data-row=n3]').innerText.includes('draining')")
    page.get_by_label("Pool", exact=True).select_option("b")
    page.wait_for_selector("tr[data-row=n1]", state="detached")
    page.wait_for_selector("tr[data-row=n3]")
    assert page.locator("tr[data-row]").count() == 1
