"use strict";
/* What all parts of the page use. Text from the model reaches the page as text nodes and attributes only. */

const data = JSON.parse(document.getElementById("data").textContent);

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

const layerName = (index) => `${index} ${data.layers[index].name}`;
const span = (layer) => layer.end_cycle - layer.begin_cycle;

function kindName(layer) {
  const names = { convolution: "convolution", depthwise: "depth-wise", fully_connected: "fully connected",
    maximum_pool: "maximum pool", average_pool: "average pool", addition: "addition" };
  if (layer.kind === "addition" || layer.kind === "fully_connected") return names[layer.kind];
  const stride = layer.stride[0] * layer.stride[1] > 1 ? ` /${layer.stride[0]}` : "";
  return `${names[layer.kind]} ${layer.filter.join("×")}${stride}`;
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
