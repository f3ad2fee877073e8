/* L2, cluster and L3 over one time axis, which counts cycles or steps. */

const view = { unit: "cycles", first: 0, last: 0 };
const chart = { left: 74, right: 14, memoryHeight: 320, laneHeight: 26, transfersHeight: 180, mostBytes: 0, drawings: 0 };

/* ---- the axis ---- */

/* A time in cycles as a position on the axis of steps: within a step, in proportion. */
function stepAt(cycle) {
  let low = 0, high = data.steps.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (data.steps[middle].begin_cycle <= cycle) low = middle;
    else high = middle - 1;
  }
  const step = data.steps[low], length = step.end_cycle - step.begin_cycle;
  return low + (length ? Math.min(1, (cycle - step.begin_cycle) / length) : 0);
}

const position = (cycle) => (view.unit === "cycles" ? cycle : stepAt(cycle));
const axisEnd = () => (view.unit === "cycles" ? Math.max(1, data.totals.timeline_cycles) : data.steps.length);
const toX = (cycle) => chart.left + (position(cycle) - view.first) / (view.last - view.first) * chart.plotWidth;

function setView(unit) {
  view.unit = unit;
  view.first = 0;
  view.last = axisEnd();
}

/* Cycles at a mark, with as many digits as tell it from the next. */
function markText(mark, distance) {
  const [unit, letter] = [[1e9, " G"], [1e6, " M"], [1e3, " k"]].find(([size]) => mark >= size) || [1, ""];
  return (mark / unit).toFixed(Math.max(0, Math.ceil(Math.log10(unit / distance) - 1e-9))) + letter;
}

/* Round distances between marks: 1, 2 or 5 times a power of ten. */
function marks(first, last, most) {
  const least = (last - first) / most, power = 10 ** Math.floor(Math.log10(least));
  let distance = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= least);
  if (view.unit === "steps") distance = Math.max(1, distance);
  const list = [];
  for (let mark = Math.ceil(first / distance) * distance; mark <= last; mark += distance) list.push(mark);
  return list;
}

function drawAxis(group, top, bottom) {
  const list = marks(view.first, view.last, chart.plotWidth / 90), right = chart.left + chart.plotWidth;
  for (const mark of list) {
    const x = chart.left + (mark - view.first) / (view.last - view.first) * chart.plotWidth;
    group.append(svg("line", { class: "grid", x1: x, x2: x, y1: top, y2: bottom }),
      svgText(x, bottom + 15, view.unit === "cycles" ? markText(mark, list.length > 1 ? list[1] - list[0] : mark) : String(mark),
        { "text-anchor": x > right - 20 ? "end" : "middle" }));
  }
}

/* ---- memory ---- */

const startOf = (step) => data.steps[Math.min(step, data.steps.length - 1)].begin_cycle;
const endOf = (step) => data.steps[Math.min(step, data.steps.length - 1)].end_cycle;
const liveBytes = (step) => data.buffers.reduce((sum, buffer) =>
  sum + (buffer.first_step <= step && step <= buffer.last_step ? buffer.bytes : 0), 0);

function bufferRectangle(buffer, first, last, style, toY) {
  const x = toX(startOf(first)), y = toY(buffer.offset + buffer.bytes);
  const rectangle = svg("rect", { class: `buffer ${buffer.kind} ${style}`, x, y, rx: 2,
    width: Math.max(1, toX(endOf(last)) - x - 1), height: Math.max(1, toY(buffer.offset) - y - 0.5) });
  return hover(rectangle, bufferName(buffer), [
    ["what", style ? `${buffer.kind}, being filled` : buffer.kind],
    ["bytes", withCommas(buffer.bytes)],
    ["place", `${withCommas(buffer.offset)} to ${withCommas(buffer.offset + buffer.bytes - 1)}`],
    ["lives in steps", range(buffer.first_step, buffer.last_step)],
    ["layers", range(data.steps[buffer.first_step].layer, data.steps[buffer.last_step].layer)],
    ["cycles", `${short(startOf(buffer.first_step))} to ${short(endOf(buffer.last_step))}`]]);
}

/* Inside a rectangle: the first of some texts that fits in what is seen of it. */
function insideLabel(texts, x1, x2, y1, y2) {
  const left = Math.max(x1, chart.left), right = Math.min(x2, chart.left + chart.plotWidth);
  const letters = Math.floor((right - left - 7) / 6.3);
  const text = y2 - y1 < 13 ? undefined : texts.find((candidate) => candidate.length <= letters);
  return text ? svgText(left + 4, (y1 + y2) / 2 + 4, text, { class: "inside" }) : null;
}

/* Ever shorter. */
const nameTexts = (name) => [name, brief(name, 24), brief(name, 16), brief(name, 9)];
function bufferTexts(buffer) {
  const layer = buffer.layer !== null ? buffer.layer : buffer.tensor !== null ? data.tensors[buffer.tensor].producer : null;
  return [bufferName(buffer), ...(layer === null ? nameTexts(buffer.name) : [...nameTexts(layerName(layer)), String(layer)])];
}

function drawBuffer(group, labels, buffer, toY) {
  const last = Math.min(buffer.last_step, data.steps.length - 1);
  const use = Math.min(Math.max(buffer.first_use_step, buffer.first_step), last);
  const filled = buffer.kind !== "tensor" && use > buffer.first_step;
  if (filled) group.append(bufferRectangle(buffer, buffer.first_step, use - 1, "filling", toY));
  group.append(bufferRectangle(buffer, filled ? use : buffer.first_step, last, "", toY));
  const label = insideLabel(bufferTexts(buffer), toX(startOf(filled ? use : buffer.first_step)), toX(endOf(last)),
    toY(buffer.offset + buffer.bytes), toY(buffer.offset));
  if (label) labels.append(label);
}

function limitLine(back, front, style, y, text, under) {
  const right = chart.left + chart.plotWidth;
  back.append(svg("line", { class: style, x1: chart.left, x2: right, y1: y, y2: y }));
  front.append(svgText(right - 4, y + (under ? 13 : -4), text, { "text-anchor": "end", class: "halo" }));
}

/* The end of the scale: an arena far beyond what is used is left out. */
const mostBytesSeen = (memory) => (memory.l2_arena_bytes < 1.6 * memory.l2_peak_bytes ? memory.l2_arena_bytes : memory.l2_peak_bytes);

function drawMemory(back, group, front, top) {
  const memory = data.memory, most = (chart.mostBytes || mostBytesSeen(memory)) * 1.06 || 1, arenaSeen = memory.l2_arena_bytes <= most;
  const toY = (offset) => top + chart.memoryHeight * (1 - offset / most);
  const unit = [1024, 4096, 16384, 65536, 131072, 262144, 1048576].find((size) => most / size <= 9) || most;
  for (let mark = 0; mark <= most; mark += unit)
    back.append(svg("line", { class: "grid", x1: chart.left, x2: chart.left + chart.plotWidth, y1: toY(mark), y2: toY(mark) }),
      svgText(chart.left - 7, toY(mark) + 4, bytes(mark), { "text-anchor": "end" }));
  const labels = svg("g", {});
  for (const buffer of data.buffers) drawBuffer(group, labels, buffer, toY);
  group.append(labels);
  const tight = memory.l2_peak_bytes === memory.l2_lower_bound_bytes;
  if (arenaSeen) limitLine(back, front, "limit", toY(memory.l2_arena_bytes), `arena ${bytes(memory.l2_arena_bytes)}`);
  const close = arenaSeen && toY(memory.l2_peak_bytes) - toY(memory.l2_arena_bytes) < 16;
  limitLine(back, front, "bound", toY(memory.l2_peak_bytes),
    `peak ${bytes(memory.l2_peak_bytes)}${tight ? " = lower bound" : `, lower bound ${bytes(memory.l2_lower_bound_bytes)}`}`, close);
}

/* ---- cluster ---- */

function drawStep(group, labels, step, index, top) {
  const begin = toX(step.begin_cycle), start = toX(step.start_cycle), end = toX(step.end_cycle), layer = data.layers[step.layer];
  const box = { y: top, height: chart.laneHeight };
  if (step.start_cycle > step.begin_cycle)
    group.append(hover(svg("rect", { class: "waiting", x: begin, width: Math.max(1, start - begin), ...box }),
      `Waiting for the driver and for L3 before layer ${layerName(step.layer)}`, [["cycles", withCommas(step.start_cycle - step.begin_cycle)]]));
  group.append(hover(svg("rect", { class: step.layer % 2 ? "step odd" : "step", x: start, width: Math.max(0.5, end - start), ...box }), layerName(step.layer), [
    ["kind", kindName(layer)], ["step", `${index} of ${data.steps.length}`],
    ["rows", range(step.first_row, step.first_row + step.rows - 1)],
    ["channels", range(step.first_channel, step.first_channel + step.channels - 1)],
    ["cycles", withCommas(step.end_cycle - step.start_cycle)], ["L2 in use", bytes(liveBytes(index))]]));
  if (index !== layer.first_step) {
    if (end - start > 4) labels.append(svg("line", { class: "cut", x1: begin, x2: begin, y1: top, y2: top + chart.laneHeight }));
    return;
  }
  const last = data.steps[layer.first_step + layer.steps - 1];
  const text = insideLabel([...nameTexts(layerName(step.layer)), String(step.layer)], start, toX(last.end_cycle), top, top + chart.laneHeight);
  if (text) labels.append(text);
}

/* ---- L3 ---- */

/* Every transfer in the first row that is free from its queueing to its deadline. */
function transferRows() {
  const rowEnds = [];
  return data.transfers.map((transfer) => {
    const needed = transfer.needed_step < data.steps.length ? data.steps[transfer.needed_step].start_cycle : data.totals.timeline_cycles;
    const end = Math.max(needed, transfer.end_cycle);
    let row = rowEnds.findIndex((free) => free <= transfer.queued_cycle);
    if (row < 0) row = rowEnds.length;
    rowEnds[row] = end;
    return { transfer, row, needed };
  });
}

function drawTransfer(group, { transfer, row, needed }, laneTop, rowsTop, rowHeight) {
  const start = toX(transfer.start_cycle), end = toX(transfer.end_cycle), buffer = data.buffers[transfer.buffer];
  const y = rowsTop + row * rowHeight, middle = y + rowHeight / 2, margin = rowHeight > 8 ? 2.5 : 0.5;
  const about = [["kind", transfer.kind.replace("_", " ")], ["bytes", withCommas(transfer.bytes)],
    ["may start in step", String(transfer.start_step)], ["needed by step", String(transfer.needed_step)],
    ["on the channel", `${short(transfer.start_cycle)} to ${short(transfer.end_cycle)}`],
    ["to spare", withCommas(Math.max(0, needed - transfer.end_cycle)) + " cycles"]];
  const name = bufferName(buffer);
  group.append(
    svg("line", { class: `span ${transfer.kind}`, x1: toX(transfer.queued_cycle), x2: Math.max(end, toX(needed)), y1: middle, y2: middle }),
    svg("line", { class: `needed ${transfer.kind}`, x1: toX(needed), x2: toX(needed), y1: y, y2: y + rowHeight - margin / 2 }));
  for (const box of [{ y: laneTop + 3, height: chart.laneHeight - 6 }, { y: y + margin, height: rowHeight - 2 * margin }])
    group.append(hover(svg("rect", { class: `bar ${transfer.kind}`, x: start, width: Math.max(1, end - start - 0.5), rx: 1.5, ...box }),
      name, about));
}

/* ---- all lanes ---- */

function laneTitle(group, y, ...lines) {
  lines.forEach((line, index) => group.append(svgText(0, y + 4 + index * 13, line, { class: "lane" })));
}

function drawTimeline(holder, width) {
  chart.plotWidth = Math.max(200, width - chart.left - chart.right);
  const placed = transferRows(), rows = Math.max(0, ...placed.map(({ row }) => row + 1));
  const memoryTop = 14, clusterTop = memoryTop + chart.memoryHeight + 14, channelTop = clusterTop + chart.laneHeight + 10;
  const rowsTop = channelTop + chart.laneHeight + 4, rowHeight = Math.max(2.5, Math.min(13, chart.transfersHeight / rows));
  const bottom = placed.length ? rowsTop + rows * rowHeight + 2 : clusterTop + chart.laneHeight + 4;
  const clip = `plot${chart.drawings++}`;
  const back = svg("g", {}), plot = svg("g", { "clip-path": `url(#${clip})` }), front = svg("g", {}), cursor = svg("g", {});
  drawAxis(back, memoryTop, bottom);
  drawMemory(back, plot, front, memoryTop);
  const labels = svg("g", {});
  data.steps.forEach((step, index) => drawStep(plot, labels, step, index, clusterTop));
  plot.append(labels);
  for (const entry of placed) drawTransfer(plot, entry, channelTop, rowsTop, rowHeight);
  laneTitle(back, memoryTop - 6, "L2");
  laneTitle(back, clusterTop + 13, "Cluster");
  if (placed.length) laneTitle(back, channelTop + 13, "L3");
  if (rows) laneTitle(back, rowsTop + 7, "transfers");
  const picture = svg("svg", { height: bottom + 24, viewBox: `0 0 ${width} ${bottom + 24}`, role: "img", "aria-label": "L2 memory, cluster and L3 transfers over time" },
    svg("defs", {}, svg("clipPath", { id: clip }, svg("rect", { x: chart.left, y: 0, width: chart.plotWidth, height: bottom }))), back, plot, front, cursor);
  holder.replaceChildren(picture);
  return { picture, cursor, top: memoryTop, bottom };
}

/* ---- pointer: what is going on at a time; dragging zooms ---- */

function cycleAt(axis) {
  if (view.unit === "cycles") return axis;
  const step = data.steps[Math.max(0, Math.min(data.steps.length - 1, Math.floor(axis)))];
  return step.begin_cycle + (axis - Math.floor(axis)) * (step.end_cycle - step.begin_cycle);
}

function describeTime(axis) {
  const cycle = cycleAt(axis), index = Math.min(data.steps.length - 1, Math.floor(stepAt(cycle))), step = data.steps[index];
  const moving = data.transfers.find((transfer) => transfer.start_cycle <= cycle && cycle < transfer.end_cycle);
  const state = cycle < step.start_cycle ? "waits for L3" : "runs";
  return `cycle ${withCommas(cycle)}: layer ${layerName(step.layer)} ${state} (step ${index}); L2 in use ${bytes(liveBytes(index))}; ` +
    (moving ? `L3 moves ${bufferName(data.buffers[moving.buffer])}` : "L3 idle");
}

function followPointer(drawing, readout, redraw) {
  let pressed = null;
  const axisAt = (event) => {
    const x = event.clientX - drawing.picture.getBoundingClientRect().left;
    const share = Math.max(0, Math.min(1, (x - chart.left) / chart.plotWidth));
    return { x: chart.left + share * chart.plotWidth, axis: view.first + share * (view.last - view.first) };
  };
  drawing.picture.addEventListener("pointermove", (event) => {
    const here = axisAt(event);
    readout.textContent = describeTime(here.axis);
    const line = svg("line", { class: "cursor", x1: here.x, x2: here.x, y1: drawing.top, y2: drawing.bottom });
    const brush = pressed && svg("rect", { class: "brush", x: Math.min(pressed.x, here.x), width: Math.abs(here.x - pressed.x),
      y: drawing.top, height: drawing.bottom - drawing.top });
    drawing.cursor.replaceChildren(line, ...(brush ? [brush] : []));
  });
  drawing.picture.addEventListener("pointerdown", (event) => { pressed = axisAt(event); });
  drawing.picture.addEventListener("pointerleave", () => { pressed = null; drawing.cursor.replaceChildren(); });
  drawing.picture.addEventListener("pointerup", (event) => {
    const here = axisAt(event), from = pressed;
    pressed = null;
    if (!from || Math.abs(here.x - from.x) < 6) return;
    view.first = Math.min(from.axis, here.axis);
    view.last = Math.max(from.axis, here.axis);
    redraw();
  });
  drawing.picture.addEventListener("dblclick", () => { setView(view.unit); redraw(); });
}

function timelineSection() {
  const holder = html("div", {}), hint = "Drag to zoom, double-click to see all again.", readout = html("p", { class: "readout" }, hint);
  const redraw = () => followPointer(drawTimeline(holder, holder.clientWidth), readout, redraw);
  const unit = choice([["cycles", "by cycles"], ["steps", "by steps"]], "cycles", (key) => { setView(key); redraw(); });
  const all = html("button", { type: "button" }, "see all");
  all.addEventListener("click", () => { setView(view.unit); redraw(); readout.textContent = hint; });
  const kinds = new Set(data.buffers.map((buffer) => buffer.kind)), moves = new Set(data.transfers.map((transfer) => transfer.kind));
  const part = section("Memory and transfers over time", "Every rectangle is a piece of L2: where it lies, and from when to when. " +
    "A pale one with a dashed edge is being filled from L3 for a later step. Below, on the same axis: what the cluster computes and " +
    "where it waits, and the transfers between L3 and L2, each with a line from when it is queued to the mark where it is needed.",
    html("div", { class: "buttons" }, unit, html("span", {}, all)));
  part.append(legend([
    kinds.has("tensor") && ["swatch soft tensor", "activations"], kinds.has("window") && ["swatch soft window", "window of a tensor in RAM"],
    kinds.has("weights") && ["swatch soft weights", "weights"], ["rest", "computing"], data.totals.l3_wait_cycles > 0 && ["wait", "waiting for L3"],
    moves.has("flash_read") && ["swatch flash_read", "flash to L2"], moves.has("ram_read") && ["swatch ram_read", "RAM to L2"],
    moves.has("ram_write") && ["swatch ram_write", "L2 to RAM"], moves.size && ["swatch thin flash_read", "needed"]].filter((entry) => entry)), readout, holder);
  setView("cycles");
  redrawOnResize(holder, redraw);
  return part;
}
