/* One network over clocks and sizes of memories: latency against energy with the front, and memory sizes as a heat map. */

const points = data.points.map((point, index) => ({ ...point, index })), fitting = points.filter((point) => point.cycles);
const clocksText = (point) => `${point.controller_mhz}/${point.cluster_mhz} MHz`;
const sizeText = (number) => (number % (1 << 20) === 0 ? `${number >> 20} MB` : number % 1024 === 0 ? `${number / 1024} kB` : `${number} B`);
const numberText = (number, unit) => (number === null ? "?" : `${threeDigits(number)} ${unit}`);
const pointText = (point) => `${clocksText(point)}, L1 ${sizeText(point.l1_bytes)}, L2 ${sizeText(point.l2_bytes)}: ` +
  `${numberText(point.milliseconds, "ms")}, ${numberText(point.millijoules_estimate, "mJ")}`;
const distinct = (values) => [...new Set(values)].sort((a, b) => a - b);

/* A colour by rank: from the best to the worst. */
const shade = (share) => `color-mix(in srgb, var(--blue) ${Math.round(100 * (1 - share))}%, var(--amber))`;

/* ---- latency and energy ---- */

const plot = { width: 900, height: 420, left: 64, right: 20, top: 14, bottom: 40 };

/* Where a value lies between the least and the most, by its logarithm. */
function scaleOf(values, from, to) {
  const low = Math.log(Math.min(...values) * 0.9), high = Math.log(Math.max(...values) * 1.1);
  return (value) => from + (to - from) * (Math.log(value) - low) / Math.max(1e-9, high - low);
}

/* 1, 2, 5 times powers of ten between the least and the most; more where there are few. */
function ticks(values) {
  const low = Math.min(...values) * 0.9, high = Math.max(...values) * 1.1, found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
    for (const digit of high / low < 8 ? [1, 1.5, 2, 3, 4, 5, 6, 8] : [1, 2, 5])
      if (digit * 10 ** power >= low && digit * 10 ** power <= high) found.push(digit * 10 ** power);
  return found;
}

function axes(canvas, x, y, times, energies) {
  for (const time of ticks(times))
    canvas.append(svg("line", { class: "grid", x1: x(time), x2: x(time), y1: plot.top, y2: plot.height - plot.bottom }),
      svgText(x(time), plot.height - plot.bottom + 16, Number(time.toPrecision(2)), { "text-anchor": "middle" }));
  for (const energy of ticks(energies))
    canvas.append(svg("line", { class: "grid", x1: plot.left, x2: plot.width - plot.right, y1: y(energy), y2: y(energy) }),
      svgText(plot.left - 8, y(energy) + 4, Number(energy.toPrecision(2)), { "text-anchor": "end" }));
  canvas.append(svgText(plot.width - plot.right, plot.height - 6, "milliseconds", { "text-anchor": "end" }),
    svgText(4, plot.top + 4, "mJ"));
}

/* Frames of the points of the front are labelled with their clocks, where there is room. */
function drawPoints(canvas, x, y, known) {
  const clusters = distinct(known.map((point) => point.cluster_mhz)), labels = [];
  for (const point of [...known].sort((a, b) => a.on_front - b.on_front)) {
    const place = [x(point.milliseconds), y(point.millijoules_estimate)], share = clusters.indexOf(point.cluster_mhz) / Math.max(1, clusters.length - 1);
    canvas.append(svg("circle", { cx: place[0], cy: place[1], r: point.on_front ? 6 : 4, style: `fill:${shade(share)};fill-opacity:${point.on_front ? 1 : 0.55}`,
      stroke: point.on_front ? "var(--text)" : "none", "stroke-width": 1.5 }, svg("title", {}, pointText(point))));
    if (!point.on_front || labels.some((label) => Math.abs(label[0] - place[0]) < 70 && Math.abs(label[1] - place[1]) < 15)) continue;
    labels.push(place);
    canvas.append(svgText(place[0] + 9, place[1] - 6, clocksText(point).replace(" MHz", "")));
  }
}

function scatterSection() {
  const known = fitting.filter((point) => point.millijoules_estimate !== null);
  const part = section("Latency and energy", "Each circle is a pair of clocks (controller/cluster) with sizes of memories; blue: slow cluster, amber: fast. " +
    "Those on the front have a rim: no other is as fast and takes less energy. Energies are estimates, see below.");
  if (!known.length) return part.append(html("p", {}, "The target's description has no power for these clocks.")), part;
  const times = known.map((point) => point.milliseconds), energies = known.map((point) => point.millijoules_estimate);
  if (data.deadline_milliseconds) times.push(data.deadline_milliseconds);
  const x = scaleOf(times, plot.left, plot.width - plot.right), y = scaleOf(energies, plot.height - plot.bottom, plot.top);
  const canvas = svg("svg", { viewBox: `0 0 ${plot.width} ${plot.height}`, role: "img", "aria-label": "latency and energy" });
  axes(canvas, x, y, times, energies);
  const front = known.filter((point) => point.on_front).sort((a, b) => a.milliseconds - b.milliseconds);
  canvas.append(svg("polyline", { points: front.map((point) => `${x(point.milliseconds)},${y(point.millijoules_estimate)}`).join(" "), fill: "none", stroke: "var(--accent)", "stroke-width": 1.5 }));
  if (data.deadline_milliseconds)
    canvas.append(svg("line", { x1: x(data.deadline_milliseconds), x2: x(data.deadline_milliseconds), y1: plot.top, y2: plot.height - plot.bottom, stroke: "var(--red)", "stroke-dasharray": "4 3" }),
      svgText(x(data.deadline_milliseconds) - 5, plot.top + 10, "deadline", { "text-anchor": "end" }));
  drawPoints(canvas, x, y, known);
  part.append(canvas);
  return part;
}

/* ---- memories ---- */

function heatCell(point, least, most) {
  if (!point || !point.cycles) return html("td", { class: "number weak" }, "–");
  /* By ratios: one memory that is far too small leaves the others their shades. */
  const share = most > least ? Math.log(point.cycles / least) / Math.log(most / least) : 0;
  const style = `background:color-mix(in srgb, var(--red-soft) ${Math.round(100 * share)}%, var(--green-soft))`;
  return html("td", { class: "number", style, title: pointText(point) }, threeDigits(point.milliseconds));
}

function memorySection() {
  const l1 = distinct(points.map((point) => point.l1_bytes)), l2 = distinct(points.map((point) => point.l2_bytes));
  const pairs = [...new Set(points.map(clocksText))], chooser = html("select", { "aria-label": "clocks" }, ...pairs.map((pair) => html("option", {}, pair)));
  const part = section("Sizes of memories", "Milliseconds by L1 (down) and L2 (across): green is fast. A bar: the network does not fit.", html("label", {}, "at ", chooser));
  const holder = html("div", { class: "scroll" });
  const draw = () => {
    const shown = points.filter((point) => clocksText(point) === chooser.value), cycles = shown.filter((point) => point.cycles).map((point) => point.cycles);
    const least = Math.min(...cycles), most = Math.max(...cycles);
    holder.replaceChildren(html("table", {}, html("thead", {}, html("tr", {}, html("th", {}, "L1 \\ L2"), ...l2.map((size) => html("th", { class: "number" }, sizeText(size))))),
      html("tbody", {}, ...l1.map((first) => html("tr", {}, html("td", {}, sizeText(first)),
        ...l2.map((second) => heatCell(shown.find((point) => point.l1_bytes === first && point.l2_bytes === second), least, most)))))));
  };
  if (data.cheapest !== null) chooser.value = clocksText(points[data.cheapest]);
  chooser.addEventListener("change", draw);
  draw();
  part.append(holder);
  return part;
}

/* ---- the table ---- */

function pointRow(point) {
  return html("tr", {}, html("td", {}, clocksText(point)), html("td", { class: "number" }, sizeText(point.l1_bytes)), html("td", { class: "number" }, sizeText(point.l2_bytes)),
    html("td", { class: "number" }, point.cycles ? withCommas(point.cycles) : "does not fit"),
    ...[[point.milliseconds, "ms"], [point.milliwatts_estimate, "mW"], [point.millijoules_estimate, "mJ"]].map(([number, unit]) => html("td", { class: "number" }, point.cycles ? numberText(number, unit) : "")),
    html("td", { class: "number" }, point.cycles ? threeDigits(1000 / point.milliseconds) : ""));
}

function frontSection() {
  const rows = fitting.filter((point) => point.on_front).sort((a, b) => a.milliseconds - b.milliseconds);
  const part = section("The front", "From the fastest to the cheapest.");
  const titles = [["clocks"], ["L1", "number"], ["L2", "number"], ["cycles", "number"], ["time", "number"], ["power *", "number"], ["energy *", "number"], ["frames/s", "number"]];
  part.append(html("div", { class: "scroll" }, html("table", {}, html("thead", {}, html("tr", {}, ...titles.map(([title, style]) => html("th", { class: style }, title)))),
    html("tbody", {}, ...rows.map(pointRow)))));
  return part;
}

/* ---- what it comes to ---- */

function choiceTiles() {
  const steady = points[data.cheapest], race = points[data.fastest], tiles = [];
  const tile = (name, value, more) => html("div", { class: "tile" }, html("div", { class: "name" }, name), html("div", { class: "value" }, value), html("div", { class: "more" }, more));
  if (race) tiles.push(tile("race to idle", clocksText(race), pointText(race)));
  if (steady) tiles.push(tile(data.deadline_milliseconds ? `slow and steady, in ${threeDigits(data.deadline_milliseconds)} ms` : "the cheapest", clocksText(steady), pointText(steady)));
  if (steady && race && race.millijoules_estimate && steady !== race)
    tiles.push(tile("steady saves", `${Math.round(100 * (1 - steady.millijoules_estimate / race.millijoules_estimate))} %`, "of the energy, were idling for free"));
  return html("div", { class: "tiles" }, ...tiles);
}

function sourcesText() {
  if (!data.power) return "The target's description has no power.";
  const measured = data.power.measured.map((point) => `${point.microwatts / 1000} mW at ${point.mhz} MHz and ${point.millivolts / 1000} V (${point.source})`);
  return `* Estimates. Measured of the whole chip at work: ${measured.join("; ")}. Assumed: ${data.power.assumed}; ${data.power.assumed_controller_percent} % of the power are the controller's domain.`;
}

document.title = `${data.network}: dory explore`;
document.getElementById("page").append(
  html("header", {}, html("h1", {}, data.network), html("p", { class: "subtitle" }, `on ${data.target}: ${points.length} points of clocks and memories, of which ${points.length - fitting.length} do not fit`)),
  choiceTiles(), scatterSection(), memorySection(), frontSection(),
  html("footer", {}, `${sourcesText()} Cycles are predicted by the planner. ${data.generator}.`));
