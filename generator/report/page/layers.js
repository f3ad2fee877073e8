/* Per layer: cycles, predicted and measured, and the map of L1. */

const isMeasured = data.layers.some((layer) => layer.measured);
const isComplete = data.layers.every((layer) => layer.measured);
const limitNames = { compute: "compute", dma: "L2-L1", l3: "L3", overhead: "overhead" };

/* ---- cycles ---- */

function cycleBar(layer, most) {
  const width = (cycles) => `width:${100 * cycles / most}%`, kernel = Math.min(layer.kernel_cycles, layer.predicted_cycles);
  const parts = html("div", { style: width(span(layer)) });
  for (const [style, cycles] of [["kernel", kernel], ["rest", layer.predicted_cycles - kernel], ["wait", layer.l3_wait_cycles]])
    parts.append(html("i", { class: style, style: `width:${100 * cycles / Math.max(1, span(layer))}%` }));
  const bar = html("div", { class: "cycles" }, parts);
  if (layer.measured) bar.append(html("b", { style: `left:calc(${100 * layer.measured.cycles / most}% - 2px)` }));
  return bar;
}

function layerTip(row, layer, index) {
  return hover(row, layerName(index), [
    ["kind", kindName(layer)], ["kernel", kernelName(layer)], ["normalisation", normalisationName(layer)],
    ["requantisation", layer.requantisation || "–"],
    ["inputs", layer.inputs.map(tensorName).join(", ")], ["output", tensorName(layer.output)], ["shapes", `${shape(layer.input_shape)} → ${shape(layer.output_shape)}`],
    ["MAC", withCommas(layer.macs)], ["kernel alone", `${withCommas(layer.kernel_cycles)} cycles`],
    ["L2-L1 transfers alone", `${withCommas(layer.dma_cycles)} cycles`], ["both and overhead", `${withCommas(layer.predicted_cycles)} cycles`],
    ["waits for L3", `${withCommas(layer.l3_wait_cycles)} cycles`],
    layer.measured && ["measured", `${withCommas(layer.measured.cycles)} cycles`],
    layer.measured && ["of them, waits for L2 and L3", `${withCommas(layer.measured.dma_wait_cycles)} and ${withCommas(layer.measured.l3_wait_cycles)}`]]);
}

function difference(layer) {
  return layer.measured ? 100 * (span(layer) - layer.measured.cycles) / Math.max(1, layer.measured.cycles) : null;
}

function differenceCell(value) {
  const text = value === null ? "–" : (value > 0 ? "+" : "") + value.toFixed(1) + " %";
  return html("td", { class: value !== null && Math.abs(value) > 20 ? "number bad" : "number" }, text);
}

/* Title, value to sort by, style of the title. */
const cycleColumns = [
  ["#", (layer, index) => index, "number"], ["layer", (layer) => layer.name], ["kind", (layer) => kindName(layer)],
  ["L3", (layer) => layer.l3_read_bytes + layer.l3_write_bytes, "number"],
  ["cycles", (layer) => layer.predicted_cycles, "number"], ["waits", (layer) => layer.l3_wait_cycles, "number"],
  ["ms", (layer) => span(layer), "number"], ["", null],
  isMeasured && ["measured", (layer) => (layer.measured ? layer.measured.cycles : 0), "number"],
  isMeasured && ["error", (layer) => difference(layer) || 0, "number"],
  ["MAC/cycle", (layer) => layer.macs / Math.max(1, layer.predicted_cycles), "number"],
  ["compute bound", (layer) => layer.compute_share || 0], ["limit", (layer) => layer.limited_by]].filter((column) => column);

function cycleRow(layer, index, most) {
  const share = Math.min(1, layer.compute_share || 0), traffic = layer.l3_read_bytes + layer.l3_write_bytes;
  const cells = [
    html("td", { class: "number weak" }, String(index)), html("td", { class: "label" }, brief(layer.name, 30)),
    html("td", { class: "weak" }, kindName(layer)), html("td", { class: "number weak" }, traffic ? bytes(traffic) : "–"),
    html("td", { class: "number" }, withCommas(layer.predicted_cycles)),
    html("td", { class: "number weak" }, layer.l3_wait_cycles ? withCommas(layer.l3_wait_cycles) : "–"),
    html("td", { class: "number" }, timed("ms", span(layer))), html("td", { class: "wide" }, cycleBar(layer, most))];
  if (isMeasured) cells.push(html("td", { class: "number" }, layer.measured ? withCommas(layer.measured.cycles) : "–"), differenceCell(difference(layer)));
  cells.push(html("td", { class: "number" }, rate(layer.macs, layer.predicted_cycles)),
    html("td", {}, html("span", { class: "share" }, html("i", { style: `width:${100 * share}%` })), `${Math.round(100 * share)} %`),
    html("td", {}, html("span", { class: `tag ${layer.limited_by}` }, limitNames[layer.limited_by])));
  return layerTip(html("tr", {}, ...cells), layer, index);
}

function cycleFoot() {
  const totals = data.totals, measured = totals.measured_cycles, all = totals.timeline_cycles;
  const cells = [html("td"), html("td", { colspan: 2 }, "network"),
    html("td", { class: "number" }, bytes(totals.l3_read_bytes + totals.l3_write_bytes)), html("td", { class: "number" }, withCommas(totals.layer_cycles)),
    html("td", { class: "number" }, withCommas(totals.l3_wait_cycles)), html("td", { class: "number" }, timed("ms", all)), html("td")];
  if (isMeasured) cells.push(html("td", { class: "number" }, withCommas(measured)), differenceCell(isComplete ? 100 * (all - measured) / Math.max(1, measured) : null));
  cells.push(html("td", { class: "number" }, rate(totals.macs, all)), html("td", {}, percent(totals.kernel_cycles, all)), html("td"));
  return html("tfoot", {}, html("tr", {}, ...cells));
}

/* A click on a title sorts by it, another one the other way round. */
function sortableHead(columns, body, rows) {
  let sorted = 0, sign = 1;
  return html("thead", {}, html("tr", {}, ...columns.map(([title, value, style], column) => {
    const cell = html("th", { class: `${style || ""} ${value ? "sortable" : ""}` }, title);
    if (value) cell.addEventListener("click", () => {
      sign = column === sorted ? -sign : column === 0 ? 1 : -1;
      sorted = column;
      const keys = data.layers.map(value), order = rows.map((row, index) => index);
      order.sort((a, b) => sign * (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0));
      body.replaceChildren(...order.map((index) => rows[index]));
    });
    return cell;
  })));
}

function cyclesSection() {
  const most = Math.max(1, ...data.layers.map((layer) => Math.max(span(layer), layer.measured ? layer.measured.cycles : 0)));
  const rows = data.layers.map((layer, index) => cycleRow(layer, index, most)), body = html("tbody", {}, ...rows);
  const part = section("Cycles per layer", "Cycles are those of kernels, L2-L1 transfers and overhead, as in dory plan; waits for L3 come on top. Compute bound is the time that kernels alone would take, as a part of the predicted time: at 100 % every transfer " +
    "hides behind computation. The limit is what takes longest. Click on a title to sort." +
    (isMeasured ? "" : " Give the log of a run with --log to see measured cycles beside the predicted ones."));
  part.append(legend([["kernel", "kernels"], ["rest", "L2-L1 transfers not hidden, overhead"], ["wait", "waiting for L3"],
    isMeasured && ["thin", "measured"]].filter((entry) => entry)),
  html("div", { class: "scroll" }, html("table", {}, sortableHead(cycleColumns, body, rows), body, cycleFoot())));
  for (const mark of part.querySelectorAll("i.thin")) mark.style.background = "var(--measured)";
  return part;
}

/* ---- the plan, with the figures of `dory plan` ---- */

function mostLiveBytes(layer) {
  let most = 0;
  for (let step = layer.first_step; step < layer.first_step + layer.steps; step++) most = Math.max(most, liveBytes(step));
  return most;
}

/* Title, style, text of a layer, text of the network. */
const planColumns = [
  ["#", "number weak", (layer, index) => index], ["layer", "label", (layer) => brief(layer.name, 24), () => "all layers"],
  ["input", "weak", (layer) => shape(runInput(layer))], ["output", "weak", (layer) => shape(layer.output_shape)],
  ["kernel", "", kernelName], ["normalisation", "", normalisationName],
  ["tile", "weak", (layer) => tileText(layer)], ["tiles", "number", (layer) => withCommas(layer.tiles), (totals) => withCommas(totals.tiles)],
  ["steps", "number", (layer) => layer.steps, (totals) => totals.steps],
  ["MAC", "number", (layer) => (layer.macs ? withCommas(layer.macs) : "–"), (totals) => withCommas(totals.macs)],
  ["weights B", "number", (layer) => (layer.weights_bytes ? withCommas(layer.weights_bytes) : "–"), (totals) => withCommas(totals.weights_bytes)],
  ["in RAM", "", homesText], ["L1 B", "number", (layer) => withCommas(layer.l1_bytes)], ["L2 B", "number", (layer) => withCommas(mostLiveBytes(layer))],
  ["cycles", "number", (layer) => withCommas(layer.predicted_cycles), (totals) => withCommas(totals.layer_cycles)],
  ["MAC/cycle", "number", (layer) => rate(layer.macs, layer.predicted_cycles), (totals) => rate(totals.macs, totals.layer_cycles)]];

function planSection() {
  const row = (texts) => html("tr", {}, ...texts.map((text, column) => html("td", { class: planColumns[column][1] }, String(text))));
  const part = section("Plan of the layers", "The table of dory plan. Cycles are without waits for L3; L2 is the most that lives while the layer runs, L1 what its tiles take. " +
    "Normalisation is how sums become elements of the output: the narrowest arithmetic that is exact for all of them.");
  part.append(html("div", { class: "scroll" }, html("table", { class: "plan" },
    html("thead", {}, html("tr", {}, ...planColumns.map(([title, style]) => html("th", { class: style }, title)))),
    html("tbody", {}, ...data.layers.map((layer, index) => row(planColumns.map(([, , text]) => text(layer, index))))),
    html("tfoot", {}, row(planColumns.map(([, , , text]) => (text ? text(data.totals) : "")))))));
  return part;
}

/* ---- L1 ---- */

const operandNames = { input: "input", second_input: "second input", weights: "weights", output: "output", accumulators: "sums", scratch: "scratch" };

function operandBar(layer, most) {
  const bar = html("div", { class: "operands" });
  for (const operand of layer.l1) {
    const share = 100 * operand.bytes / most, name = operandNames[operand.operand];
    const piece = html("i", { class: operand.operand, style: `left:${100 * operand.offset / most}%;width:max(1px,${share}%)` }, share > 9 ? name : "");
    bar.append(hover(piece, name, [["bytes", withCommas(operand.bytes)],
      ["place", `${withCommas(operand.offset)} to ${withCommas(operand.offset + operand.bytes - 1)}`]]));
  }
  return bar;
}

function l1Row(layer, index, most) {
  const order = layer.tile.order === "channels_outer" ? "channels, space" : "space, channels";
  return html("tr", {}, html("td", { class: "number weak" }, String(index)), html("td", { class: "label" }, brief(layer.name, 30)),
    html("td", {}, tileText(layer)), html("td", { class: "number" }, String(layer.tiles)), html("td", { class: "weak" }, layer.tiles > 1 ? order : "–"),
    html("td", { class: "number weak" }, String(layer.steps)), html("td", { class: "arena" }, operandBar(layer, most)),
    html("td", { class: "number" }, withCommas(layer.l1_bytes)), html("td", { class: "number weak" }, percent(layer.l1_bytes, data.memory.l1_arena_bytes)));
}

function l1Scale(most) {
  const unit = [256, 1024, 4096, 8192, 16384, 65536].find((size) => most / size <= 9) || most, scale = html("div", { class: "scale" });
  for (let mark = 0; mark === 0 || mark < most - 0.14 * most; mark += unit) /* not under the last one, which is the arena's end */
    scale.append(html("span", { style: `left:${100 * mark / most}%` }, bytes(mark)));
  scale.append(html("span", { style: "left:100%" }, bytes(most)));
  return scale;
}

function l1Section() {
  const memory = data.memory, most = memory.l1_arena_bytes > 2 * memory.l1_peak_bytes ? memory.l1_peak_bytes : memory.l1_arena_bytes;
  const used = new Set(data.layers.flatMap((layer) => layer.l1.map((operand) => operand.operand)));
  const part = section("L1 arena per layer", "What lies where in L1 while a layer runs. Two pieces of the same colour are two buffers: one is filled or emptied by " +
    "DMA while kernels work on the other. A tile is output rows × columns × channels, and behind a slash the input channels that it reads at a time, where that is not all.");
  part.append(legend(Object.entries(operandNames).filter(([kind]) => used.has(kind)).map(([kind, name]) => [`swatch soft ${kind}`, name])));
  const titles = [["#", "number"], ["layer"], ["tile"], ["tiles", "number"], ["order, outer first"], ["steps", "number"]];
  part.append(html("div", { class: "scroll" }, html("table", {}, html("thead", {}, html("tr", {},
    ...titles.map(([title, style]) => html("th", { class: style }, title)), html("th", {}, l1Scale(most)),
    html("th", { class: "number" }, "bytes"), html("th", { class: "number" }, "of arena"))),
  html("tbody", {}, ...data.layers.map((layer, index) => l1Row(layer, index, most))))));
  return part;
}
