/* Values under the pointer, or the arrow keys: every chart over time carries its numbers.
   SPDX-License-Identifier: Apache-2.0 */
"use strict";
const pad = (n) => String(n).padStart(2, "0");

/* 97440 -> "1d03h04m" */
function moment(seconds) {
  const s = Math.round(seconds), d = Math.floor(s / 86400), h = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
  if (d > 0) return `${d}d${pad(h)}h${pad(m)}m`;
  if (h > 0) return `${h}h${pad(m)}m${pad(s % 60)}s`;
  return m > 0 ? `${m}m${pad(s % 60)}s` : `${s}s`;
}

/* 749458803 -> "1993-10-01 07:00" */
const date = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");

export function chart(figure) {
  const svg = figure.querySelector("svg"), data = JSON.parse(figure.querySelector("data").value);
  const line = svg.querySelector(".cursor"), plot = svg.parentElement;
  const tip = plot.appendChild(document.createElement("div"));
  const count = data.series[0].values.length;
  let at = -1;
  tip.className = "tip";
  svg.tabIndex = 0;

  function row(key, name, value) {
    const div = tip.appendChild(document.createElement("div"));
    if (key) div.appendChild(document.createElement("i")).className = key;
    div.append(name);
    if (value !== null) div.appendChild(document.createElement("b")).textContent = value.toLocaleString("en");
  }
  function hide() {
    tip.style.display = "none";
    line.style.display = "none";
  }
  function show(index) {
    at = Math.max(0, Math.min(count - 1, index));
    const part = Math.min(1, (at * data.step) / data.max), width = plot.clientWidth;
    const x = part * svg.viewBox.baseVal.width;
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    line.style.display = "inline";
    tip.replaceChildren();
    row("", (data.begins ? date(data.begins + at * data.step) : moment(at * data.step)) + (data.unit ? ", " + data.unit : ""), null);
    for (const one of data.series) row(one.key, one.name, one.values[at]);
    tip.style.display = "block";
    tip.style.top = "4px";
    const right = part * width + 12, left = part * width - tip.offsetWidth - 12;
    tip.style.left = Math.max(0, right + tip.offsetWidth <= width ? right : left) + "px";
  }
  hide();
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), part = (event.clientX - box.left) / box.width;
    if (part < 0 || part > 1) hide();
    else show(Math.floor((part * data.max) / data.step));
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (!by) return;
    event.preventDefault();
    show(at + by);
  });
}
for (const figure of document.querySelectorAll("figure.live")) chart(figure);
