"use strict";
/* What all parts of the page use. Text from the model reaches the page as text nodes and attributes only. */

let data = JSON.parse(document.getElementById("data").textContent); /* a comparison draws two plans in turn */

/* ---- elements ---- */

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== undefined && value !== null) node.setAttribute(name, value);
  for (const child of children)
    if (child !== null && child !== undefined) node.append(child);
  return node;
}

function html(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function svgText(x, y, text, attributes) {
  return svg("text", { x, y, ...attributes }, text);
}

function section(title, note, controls) {
  return html("section", {}, html("div", { class: "head" }, html("h2", {}, title), controls || null),
    html("p", { class: "note" }, note));
}

/* ---- numbers and names ---- */

const withCommas = (number) => Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ",");

/* Three or four digits that matter: 4.31 M, 12.3 k, 870. */
function short(number) {
  for (const [unit, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]])
    if (Math.abs(number) >= unit) {
      const scaled = number / unit;
      return scaled.toFixed(Math.abs(scaled) >= 100 ? 0 : Math.abs(scaled) >= 10 ? 1 : 2) + " " + letter;
    }
  return number.toFixed(0);
}

function bytes(number) {
  if (number >= 1 << 20) return (number / (1 << 20)).toFixed(2) + " MiB";
  return number >= 1024 ? (number / 1024).toFixed(number >= 102400 ? 0 : 1) + " KiB" : number + " B";
}

function percent(part, whole) {
  if (!whole) return "–";
  const share = 100 * part / whole;
  if (share > 0 && share < 0.05) return "< 0.1 %";
  return (share > 0 && share < 0.95 ? share.toFixed(1) : share.toFixed(0)) + " %";
}

const range = (first, last) => (first === last ? `${first}` : `${first} to ${last}`);
const shape = (dimensions) => dimensions.join(" × ");

/* A long name without its middle: the ends tell most. */
function brief(name, letters) {
  const all = Array.from(name), head = Math.floor((letters - 1) / 3);
  return all.length <= letters ? name : all.slice(0, head).join("") + "…" + all.slice(all.length - (letters - 1 - head)).join("");
}

/* MAC per cycle, cut off behind two digits as `dory plan` does it. */
function rate(macs, cycles) {
  if (!macs || !cycles) return "–";
  const hundredths = BigInt(macs) * 100n / BigInt(cycles);
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, "0")}`;
}

/* Hundredths of a percent, rounded up: no distance from the bound is told smaller than it is. */
function gapText(cycles, bound) {
  const hundredths = bound ? (BigInt(cycles - bound) * 10000n + BigInt(bound) - 1n) / BigInt(bound) : 0n;
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, "0")} %`;
}

const layerName = (index) => `${index} ${data.layers[index].name}`;

/* Of a layer's own turns, as a profile has them: with what it takes to keep one. A report of an older dory, which may be
 * compared with, does not say that. */
const span = (layer) => layer.profile_cycles ?? layer.end_cycle - layer.begin_cycle;

/* A report of an older dory, which may be compared with, has no words. */
const kindWords = (layer) => layer.kind_words || layer.kind.replace("_", " ");

function kindName(layer) {
  const name = kindWords(layer), [down, right] = layer.stride;
  if (!["convolution", "depthwise", "grouped", "maximum_pool", "average_pool"].includes(layer.kind)) return name; /* no window */
  return `${name} ${layer.filter.join("×")}${down * right === 1 ? "" : down === right ? ` /${down}` : ` /${down}×${right}`}`;
}

const kernelName = (layer) => layer.kernel.replace(/^dory_/, "");
const normalisationName = (layer) => layer.normalisation ? layer.normalisation.replace("_", " ") : "–";

/* A fully connected layer runs as a convolution of one pixel. */
const runInput = (layer) => (layer.kind === "fully_connected" ? [1, 1, layer.input_shape.reduce((a, b) => a * b)] : layer.input_shape);

const inRam = (tensor) => data.tensors[tensor].memory === "ram";

function homesText(layer) {
  const input = layer.inputs.some(inRam), output = inRam(layer.output);
  return input && output ? "in+out" : input ? "in" : output ? "out" : "–";
}

function tileText(layer) {
  const tile = layer.tile, all = runInput(layer)[2];
  const chunked = ["convolution", "fully_connected"].includes(layer.kind) && tile.input_channels < all;
  return `${tile.rows} × ${tile.columns} × ${tile.channels}${chunked ? ` / ${tile.input_channels}` : ""}`;
}

/* A tensor's name says little where it is a number: with it goes the layer that makes the tensor. */
function tensorName(index) {
  const tensor = data.tensors[index];
  return tensor.producer === null ? `input ${tensor.name}` : `${layerName(tensor.producer)} → ${tensor.name}`;
}

/* Of a piece of L2: "0 Conv_0 → 87", "3 Conv_25: weights". */
function bufferName(buffer) {
  if (!buffer) return "transfer";
  if (buffer.tensor === null) return buffer.layer === null ? buffer.name : `${buffer.layer} ${buffer.name}`;
  const tensor = data.tensors[buffer.tensor];
  return tensor.producer === null ? `input ${buffer.name}` : `${layerName(tensor.producer)} → ${buffer.name}`;
}

/* ---- time at a clock ---- */

const clock = { mhz: 100 };

/* Of the page's address (#mhz=175), of dory's option, or what GAP8 starts with. */
function chooseClock(given) {
  const asked = Number((/[#&]mhz=([0-9.]+)/.exec(location.hash) || [])[1]);
  clock.mhz = asked > 0 ? asked : given || data.options.clock_mhz || 100;
}

const threeDigits = (number) => number.toFixed(number >= 100 ? 0 : number >= 10 ? 1 : number >= 1 ? 2 : 3);
const timeForms = { ms: (cycles) => threeDigits(cycles / (clock.mhz * 1e3)), frames: (cycles) => (cycles ? threeDigits(clock.mhz * 1e6 / cycles) : "–") };

/* A number that follows the clock: "ms" or "frames" (a second). */
function timed(form, cycles) {
  return html("span", { class: "timed", "data-form": form, "data-cycles": cycles }, timeForms[form](cycles));
}

function clockInput() {
  const input = html("input", { type: "number", min: 1, max: 10000, step: "any", value: clock.mhz, "aria-label": "clock of the cluster in MHz" });
  input.addEventListener("input", () => {
    if (!(Number(input.value) > 0)) return;
    clock.mhz = Number(input.value);
    for (const node of document.querySelectorAll(".timed")) node.textContent = timeForms[node.dataset.form](Number(node.dataset.cycles));
  });
  return html("label", { class: "clock" }, "at ", input, " MHz");
}

/* ---- legend, buttons, hover ---- */

function legend(entries) {
  return html("div", { class: "legend" }, ...entries.map(([style, text]) =>
    html("span", {}, html("i", { class: style }), text)));
}

/* One of several; `choose` gets the chosen one's key. */
function choice(entries, chosen, choose) {
  const group = html("span", { role: "group" });
  const press = (key) => {
    for (const button of group.children) button.setAttribute("aria-pressed", button.dataset.key === key);
  };
  for (const [key, text] of entries) {
    const button = html("button", { type: "button", "data-key": key }, text);
    button.addEventListener("click", () => { press(key); choose(key); });
    group.append(button);
  }
  press(chosen);
  return group;
}

/* Draws when the page holds the element and it has a width, and again with every other width. */
function redrawOnResize(holder, redraw) {
  queueMicrotask(() => {
    let width = holder.clientWidth;
    redraw();
    new ResizeObserver(() => {
      if (holder.clientWidth === width) return;
      width = holder.clientWidth;
      requestAnimationFrame(redraw); /* not at once: drawing changes the height, which is observed too */
    }).observe(holder);
  });
}

const tip = document.getElementById("tip");

function moveTip(event) {
  const box = tip.getBoundingClientRect();
  const right = event.clientX + 16 + box.width > innerWidth, low = event.clientY + 16 + box.height > innerHeight;
  tip.style.left = Math.max(4, right ? event.clientX - 12 - box.width : event.clientX + 16) + "px";
  tip.style.top = Math.max(4, low ? event.clientY - 12 - box.height : event.clientY + 16) + "px";
}

/* Shows a title and pairs of name and value while the pointer is over the node. */
function hover(node, title, pairs) {
  const known = pairs.filter((pair) => pair);
  node.setAttribute("aria-label", [title, ...known.map((pair) => pair.join(": "))].join("; "));
  node.addEventListener("pointerenter", (event) => {
    tip.replaceChildren(html("b", {}, title), ...known.map(([name, value]) =>
      html("div", {}, html("span", {}, name), html("span", {}, value))));
    tip.hidden = false;
    moveTip(event);
  });
  node.addEventListener("pointermove", moveTip);
  node.addEventListener("pointerleave", () => { tip.hidden = true; });
  return node;
}
