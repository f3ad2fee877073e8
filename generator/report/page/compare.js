/* Two plans side by side: sums, layers that belong together, memory and transfers on the same scales. */

const givenClock = data.clock_mhz, plans = [data.first, data.second].map(({ path, report }) => ({ path, ...report }));

/* All drawing works on `data`; what it draws for a pointer is text by then. */
function onPlan(plan, work) {
  data = plan;
  return work();
}

const planTitle = (plan) => `${plan.network.name} on ${plan.target.name}, ${plan.options.cores} cores (${plan.path})`;

/* ---- numbers and their difference ---- */

function differenceText(first, second) {
  if (first === second) return "=";
  const change = second - first, sign = change > 0 ? "+" : "−";
  if (!first) return `${sign}${withCommas(Math.abs(change))}`;
  if (change > 9 * first) return `${short(second / first)} times`;
  return `${sign}${(100 * Math.abs(change) / first).toFixed(Math.abs(change) < 0.1 * first ? 2 : 1)} %`;
}

/* `direction`: 1 where more is worse, -1 where it is better, 0 where it is neither. */
function changeCell(first, second, direction) {
  const worse = (second - first) * direction;
  return html("td", { class: `number ${worse > 0 ? "worse" : worse < 0 ? "better" : "weak"}` }, differenceText(first, second));
}

/* Name, value, direction, text of a value (with commas where there is none). */
const sums = [
  ["cycles of one run", (plan) => plan.totals.predicted_cycles, 1],
  ["milliseconds", (plan) => plan.totals.predicted_cycles, 1, (cycles) => timed("ms", cycles)],
  ["frames/s", (plan) => (plan.totals.predicted_cycles ? 1e9 / plan.totals.predicted_cycles : 0), -1, (value, plan) => timed("frames", plan.totals.predicted_cycles)],
  ["MAC/cycle", (plan) => plan.totals.macs / Math.max(1, plan.totals.predicted_cycles), -1, (value, plan) => rate(plan.totals.macs, plan.totals.predicted_cycles)],
  ["measured cycles", (plan) => plan.totals.measured_cycles || 0, 1],
  ["kernels alone, cycles", (plan) => plan.totals.kernel_cycles, 1], ["L2-L1 transfers alone, cycles", (plan) => plan.totals.dma_cycles, 1],
  ["waits for L3, cycles", (plan) => plan.totals.l3_wait_cycles, 1], ["tiles", (plan) => plan.totals.tiles, 0], ["steps", (plan) => plan.totals.steps, 0],
  ["read from L3, bytes", (plan) => plan.totals.l3_read_bytes, 1], ["written to L3, bytes", (plan) => plan.totals.l3_write_bytes, 1],
  ["L2 used, bytes", (plan) => plan.memory.l2_peak_bytes, 1], ["L2 arena, bytes", (plan) => plan.memory.l2_arena_bytes, 0],
  ["L1 used, bytes", (plan) => plan.memory.l1_peak_bytes, 0], ["L1 arena, bytes", (plan) => plan.memory.l1_arena_bytes, 0],
  ["flash, bytes", (plan) => plan.memory.flash_bytes, 1], ["L3 RAM, bytes", (plan) => plan.memory.ram_bytes, 1], ["MAC", (plan) => plan.totals.macs, 0]];

function sumsSection() {
  const shown = sums.filter(([, value]) => plans.some(value)), [first, second] = plans;
  const rows = shown.map(([name, value, direction, text]) => html("tr", {}, html("td", {}, name),
    ...plans.map((plan) => html("td", { class: "number" }, text ? text(value(plan), plan) : withCommas(value(plan)))), changeCell(value(first), value(second), direction)));
  const part = section("In all", "Second beside first: green is better, red is worse.", clockInput());
  part.append(html("div", { class: "scroll" }, html("table", { class: "sums" }, html("thead", {}, html("tr", {}, html("th"),
    html("th", { class: "number" }, "first"), html("th", { class: "number" }, "second"), html("th", { class: "number" }, "difference"))), html("tbody", {}, ...rows))));
  return part;
}

/* ---- layers that belong together ---- */

const layerKey = (layer) => [layer.kind, layer.filter, layer.output_shape].join(" ");

/* By name; of networks that share few names, by shape. */
function chooseKey() {
  const names = new Set(plans[0].layers.map((layer) => layer.name)), shared = plans[1].layers.filter((layer) => names.has(layer.name)).length;
  return 2 * shared >= Math.min(plans[0].layers.length, plans[1].layers.length) ? (layer) => layer.name : layerKey;
}

/* Pairs of indices, null for a layer without a partner: the longest common subsequence. */
function pairLayers() {
  const counts = plans.map((plan) => plan.layers.length), most = Math.max(...counts);
  if (counts[0] * counts[1] > 3e7) return Array.from({ length: most }, (none, i) => counts.map((count) => (i < count ? i : null)));
  const key = chooseKey(), [a, b] = plans.map((plan) => plan.layers.map(key)), pairs = [];
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let k = b.length - 1; k >= 0; k--)
      common[i][k] = a[i] === b[k] ? common[i + 1][k + 1] + 1 : Math.max(common[i + 1][k], common[i][k + 1]);
  let i = 0, k = 0;
  while (i < a.length || k < b.length) {
    if (i < a.length && k < b.length && a[i] === b[k]) pairs.push([i++, k++]);
    else if (k === b.length || (i < a.length && common[i + 1][k] >= common[i][k + 1])) pairs.push([i++, null]);
    else pairs.push([null, k++]);
  }
  return pairs;
}

/* What may differ of a layer, beside its cycles. */
const traits = [
  ["kernel", kernelName], ["normalisation", normalisationName], ["tile", tileText], ["tiles", (layer) => String(layer.tiles)],
  ["order", (layer) => (layer.tile.order === "channels_outer" ? "channels outside" : "space outside")],
  ["steps", (layer) => String(layer.steps)], ["in RAM", homesText], ["limit", (layer) => layer.limited_by]];

function changesText(indices) {
  const described = indices.map((index, which) => onPlan(plans[which], () => traits.map(([, text]) => text(data.layers[index]))));
  return traits.map(([name], at) => (described[0][at] === described[1][at] ? null : `${name} ${described[0][at]} → ${described[1][at]}`)).filter((text) => text).join("; ");
}

function pairRow(indices, most) {
  const layers = indices.map((index, which) => (index === null ? null : plans[which].layers[index])), [first, second] = layers;
  const cycles = layers.map((layer) => (layer ? span(layer) : 0)), known = first || second;
  const bars = html("div", { class: "bars" }, ...["first-plan", "second-plan"].map((style, which) =>
    layers[which] && html("i", { class: style, style: `width:${100 * cycles[which] / most}%` })));
  const difference = first && second ? changeCell(cycles[0], cycles[1], 1) : html("td", { class: "number weak" }, first ? "first only" : "second only");
  const change = cycles[1] - cycles[0];
  return html("tr", {}, html("td", { class: "number weak" }, indices.map((index) => (index === null ? "–" : index)).filter((text, at, all) => at === 0 || text !== all[0]).join(" / ")),
    html("td", { class: "label" }, brief(known.name, 30)), html("td", { class: "weak" }, kindName(known)), html("td", {}, bars),
    ...layers.map((layer) => html("td", { class: "number" }, layer ? withCommas(span(layer)) : "–")), difference,
    html("td", { class: "number" }, change ? (change > 0 ? "+" : "−") + withCommas(Math.abs(change)) : "="),
    html("td", { class: "changes weak" }, first && second ? changesText(indices) : ""));
}

function layersSection() {
  const most = Math.max(1, ...plans.flatMap((plan) => plan.layers.map(span))), pairs = pairLayers();
  const titles = [["#", "number"], ["layer"], ["kind"], ["cycles"], ["first", "number"], ["second", "number"], ["difference", "number"], ["in cycles", "number"], ["what else differs"]];
  const part = section("Layers", "Cycles with waits for L3. Layers that only one of the plans has are alone in their rows.");
  part.append(legend([["swatch first-plan", "first"], ["swatch second-plan", "second"]]),
    html("div", { class: "scroll" }, html("table", { class: "pairs" }, html("thead", {}, html("tr", {}, ...titles.map(([title, style]) => html("th", { class: style }, title)))),
      html("tbody", {}, ...pairs.map((indices) => pairRow(indices, most))))));
  return part;
}

/* ---- memory and transfers ---- */

function drawBoth(holders) {
  chart.mostBytes = Math.max(...plans.map((plan) => mostBytesSeen(plan.memory)));
  plans.forEach((plan, which) => onPlan(plan, () => {
    Object.assign(view, { unit: "cycles", first: 0, last: Math.max(1, ...plans.map((either) => either.totals.timeline_cycles)) });
    drawTimeline(holders[which], holders[which].clientWidth);
  }));
}

function memorySection() {
  const holders = plans.map(() => html("div", {})), names = ["first", "second"];
  const part = section("Memory and transfers over time", "Both on the same scales. A rectangle is a piece of L2; below it what the cluster computes, waits for L3 in red, and the transfers.");
  const pair = html("div", { class: "pair" }, ...plans.map((plan, which) => html("div", {}, html("h3", {}, `${names[which]}: ${planTitle(plan)}`), holders[which])));
  part.append(pair);
  redrawOnResize(pair, () => drawBoth(holders));
  return part;
}

/* ---- the page ---- */

onPlan(plans[0], () => chooseClock(givenClock));
document.title = `${plans[0].network.name} and ${plans[1].network.name}: dory comparison`;
document.getElementById("page").append(
  html("header", {}, html("h1", {}, "Two plans"), html("p", { class: "subtitle" }, `first: ${planTitle(plans[0])}`), html("p", { class: "subtitle" }, `second: ${planTitle(plans[1])}`)),
  sumsSection(), layersSection(), memorySection(),
  html("footer", {}, `${[...new Set(plans.map((plan) => plan.generator))].join(" and ")}. Cycles are cluster cycles, predicted by each plan's cost model.`));
