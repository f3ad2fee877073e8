/* Summary, tables of everything, and the page put together. */

/* ---- summary ---- */

function tile(name, value, unit, ...more) {
  return html("div", { class: "tile" }, html("div", { class: "name" }, name),
    html("div", { class: "value" }, value, " ", html("small", {}, unit)), ...more);
}

const more = (...parts) => html("div", { class: "more" }, ...parts);
const meter = (part, whole) => html("div", { class: "meter" }, html("i", { style: `width:${Math.min(100, 100 * part / Math.max(1, whole))}%` }));

function measuredText() {
  const { measured_cycles: measured, timeline_cycles: predicted } = data.totals;
  const known = data.layers.filter((layer) => layer.measured).length;
  if (known < data.layers.length) return known ? `predicted; ${known} of ${data.layers.length} layers measured` : "predicted";
  const off = 100 * (predicted - measured) / measured;
  return `predicted; measured ${short(measured)}, off by ${off > 0 ? "+" : ""}${off.toFixed(1)} %`;
}

function boundText() {
  const { l2_peak_bytes: peak, l2_lower_bound_bytes: bound } = data.memory;
  return peak === bound ? "equals the lower bound" : `${percent(peak - bound, bound)} above the lower bound`;
}

function summaryTiles() {
  const { totals, memory } = data, moved = totals.l3_read_bytes + totals.l3_write_bytes;
  return html("div", { class: "tiles" },
    ...(data.target.counts_instructions
      ? [tile("Instructions of one run", withCommas(totals.predicted_cycles), "", more("called cycles below; no time follows from them"))]
      : [tile("Cycles of one run", withCommas(totals.predicted_cycles), "", more(measuredText())),
        tile("Time of one run", timed("ms", totals.predicted_cycles), "ms", more(timed("frames", totals.predicted_cycles), " frames/s ", clockInput()))]),
    tile("Throughput", rate(totals.macs, totals.predicted_cycles), "MAC/cycle", more(`${short(totals.macs)} MAC on ${data.options.cores} cores`)),
    tile("L2", bytes(memory.l2_peak_bytes), "", meter(memory.l2_peak_bytes, memory.l2_arena_bytes), more(`of ${bytes(memory.l2_arena_bytes)}; ${boundText()}`)),
    tile("L1", bytes(memory.l1_peak_bytes), "", meter(memory.l1_peak_bytes, memory.l1_arena_bytes),
      more(`of ${bytes(memory.l1_arena_bytes)}; ${withCommas(totals.tiles)} tiles in ${totals.layers} layers`)),
    tile("L3 traffic", bytes(moved), "", meter(totals.l3_busy_cycles, totals.timeline_cycles),
      more(`channel busy ${percent(totals.l3_busy_cycles, totals.timeline_cycles)}`)),
    tile("Flash", bytes(memory.flash_bytes), "", more(memory.ram_bytes ? `and ${bytes(memory.ram_bytes)} of L3 RAM` : "no L3 RAM")));
}

/* What no plan gets below. */
function boundTexts() {
  const { proof, totals } = data, list = [];
  if (!proof.has_bound) return ["With blocks of layers, or weights that several layers share, for which no bound is known."];
  list.push(proof.is_optimal ? "Proven optimal: in these layouts, of all tiles and places of tensors compared, none is faster."
    : `Within ${gapText(proof.searched_cycles, proof.bound_cycles)} of the optimum: in these layouts, of all tiles and places of tensors compared, none takes fewer than ${withCommas(proof.bound_cycles)} cycles.`);
  if (proof.searched_cycles > totals.predicted_cycles)
    list.push(`Compared with ${withCommas(proof.searched_cycles)} cycles, before the first weights of layers were brought early.`);
  if (proof.tail_bytes)
    list.push(`L3 sets a lower bound of ${withCommas(proof.tail_cycles)} cycles: when ${brief(layerName(proof.tail_layer), 44)} starts, ${withCommas(proof.tail_bytes)} bytes of weights are still to come. ` +
      `Computing alone takes ${withCommas(proof.compute_cycles)} cycles.`);
  return list;
}

/* How good the plan is. */
function proofTexts() {
  const { proof, memory } = data;
  if (!proof) return ["Not optimised: only the smallest plan fits."];
  const list = boundTexts();
  if (memory.l2_peak_bytes > memory.l2_lower_bound_bytes)
    list.push(`Gaps between the pieces of L2 cost at most ${withCommas(memory.l2_gap_cycles)} cycles.`);
  if (memory.l2_firmware_bytes)
    list.push(`Beside the arena, L2 has ${withCommas(memory.l2_firmware_bytes)} bytes for code and application and ${withCommas(memory.l2_table_bytes)} for tables.`);

  return list;
}

/* The few things to know first. */
function findings() {
  const { totals, layers } = data, all = Math.max(1, totals.timeline_cycles), list = [];
  const longest = layers.map((layer, index) => [span(layer), index]).sort((a, b) => b[0] - a[0]).slice(0, 3);
  list.push(`The longest layers: ${longest.map(([cycles, index]) => `${brief(layerName(index), 44)} (${percent(cycles, all)})`).join(", ")}.`);
  const waiting = layers.map((layer, index) => [layer.l3_wait_cycles, index]).filter(([cycles]) => cycles > 0).sort((a, b) => b[0] - a[0]);
  if (waiting.length) {
    const [cycles, index] = waiting[0], name = brief(layerName(index), 44);
    list.push(waiting.length === 1 ? `One layer waits for L3: ${name}, ${short(cycles)} cycles.`
      : `${waiting.length} layers wait for L3, ${short(totals.l3_wait_cycles)} cycles in all; longest: ${name}, ${short(cycles)} cycles.`);
  } else list.push(data.transfers.length ? "No layer waits for L3: every transfer is hidden behind computation." : "Nothing is transferred from L3 during a run.");
  const far = layers.filter((layer) => (layer.compute_share || 0) < 0.5), cycles = far.reduce((sum, layer) => sum + span(layer), 0);
  if (far.length)
    list.push(`Kernels take less than half of the time in ${far.length} of ${layers.length} layers, which make up ${percent(cycles, all)} of the run.`);
  return html("ul", { class: "findings" }, ...list.concat(proofTexts()).map((text) => html("li", {}, text)));
}

function splitSection() {
  const { totals } = data, all = Math.max(1, totals.timeline_cycles);
  const kernel = Math.min(totals.kernel_cycles, totals.layer_cycles), rest = all - kernel - totals.l3_wait_cycles;
  const parts = [["kernel", "kernels compute", kernel], ["rest", "L2-L1 transfers not hidden, overhead", rest], ["wait", "waiting for L3", totals.l3_wait_cycles]];
  const part = html("section", {}, html("h2", {}, "Where the time goes"), html("div", { class: "split" }, ...parts.map(([style, name, cycles]) =>
    hover(html("i", { class: style, style: `width:${100 * cycles / all}%` }), name, [["cycles", withCommas(cycles)], ["of the run", percent(cycles, all)]]))));
  part.append(legend(parts.map(([style, name, cycles]) => [style, `${name} ${percent(cycles, all)}`])), findings());
  return part;
}

/* ---- everything, as tables ---- */

function plainTable(title, columns, rows) {
  const head = html("tr", {}, ...columns.map(([name, style]) => html("th", { class: style }, name)));
  const body = rows.map((row) => html("tr", {}, ...row.map((value, column) => html("td", { class: columns[column][1] || "label" }, String(value)))));
  return html("details", {}, html("summary", {}, `${title} (${rows.length})`),
    html("div", { class: "scroll" }, html("table", {}, html("thead", {}, head), html("tbody", {}, ...body))));
}

function tablesSection() {
  const part = section("Everything", "The same numbers as in report.json.");
  part.append(
    plainTable("Tensors", [["#", "number"], ["name"], ["shape", "weak"], ["bits", "number"], ["bytes", "number"], ["made by layer"], ["memory"], ["layout"], ["offset", "number"]],
      data.tensors.map((tensor, index) => [index, tensor.name, shape(tensor.shape), tensor.bits, withCommas(tensor.bytes),
        tensor.producer === null ? "input" : layerName(tensor.producer), tensor.memory === "l2" ? "L2" : "RAM", (tensor.layout || "hwc").toUpperCase(), withCommas(tensor.offset)])),
    plainTable("Buffers in L2", [["#", "number"], ["name"], ["kind"], ["bytes", "number"], ["offset", "number"], ["first step", "number"], ["last step", "number"]],
      data.buffers.map((buffer, index) => [index, bufferName(buffer), buffer.kind, withCommas(buffer.bytes), withCommas(buffer.offset), buffer.first_step, buffer.last_step])),
    plainTable("Transfers between L3 and L2", [["#", "number"], ["buffer"], ["kind"], ["bytes", "number"], ["start step", "number"], ["needed step", "number"], ["queued", "number"], ["starts", "number"], ["ends", "number"]],
      data.transfers.map((transfer, index) => [index, bufferName(data.buffers[transfer.buffer]), transfer.kind.replace("_", " "),
        withCommas(transfer.bytes), transfer.start_step, transfer.needed_step, withCommas(transfer.queued_cycle), withCommas(transfer.start_cycle), withCommas(transfer.end_cycle)])));
  return part;
}

/* ---- the page ---- */

chooseClock();
document.title = `${data.network.name} on ${data.target.name}: dory report`;
document.getElementById("page").append(
  html("header", {}, html("h1", {}, data.network.name), html("p", { class: "subtitle" },
    `${data.totals.layers} layers on ${data.target.name}, ${data.options.cores} cores, L1 arena ${withCommas(data.memory.l1_arena_bytes)} bytes, ` +
    `L2 arena ${withCommas(data.memory.l2_arena_bytes)} bytes`)),
  summaryTiles(), splitSection(), graphSection(), timelineSection(), cyclesSection(), planSection(), l1Section(), tablesSection(),
  html("footer", {}, `${data.generator}. Cycles are cluster cycles, predicted by the plan's cost model.`));
