/* The network as boxes and arrows. Columns are ranks (the longest way from an input), wrapped into rows like a text; beside
 * the first lane of a row lie lanes for branches, and thin ones for arrows that pass boxes by. */

const box = { width: 0, least: 134, most: 180, height: 46, gap: 26, laneGap: 10, thin: 12, rowGap: 30, margin: 22 };

/* ---- what is to be drawn ---- */

/* Nodes in an order in which every one follows its inputs; an edge for each tensor that a node reads. */
function graphNodes() {
  const nodes = [], edges = [], maker = new Map();
  for (const tensor of data.network.inputs) {
    maker.set(tensor, nodes.length);
    nodes.push({ tensor, rank: 0 });
  }
  data.layers.forEach((layer, index) => {
    const node = nodes.length, from = layer.inputs.filter((tensor) => maker.has(tensor));
    nodes.push({ layer: index, rank: 1 + Math.max(0, ...from.map((tensor) => nodes[maker.get(tensor)].rank)) });
    for (const tensor of from) edges.push({ from: maker.get(tensor), to: node, tensor });
    maker.set(layer.output, node);
  });
  for (const tensor of data.network.outputs.filter((output) => maker.has(output))) {
    edges.push({ from: maker.get(tensor), to: nodes.length, tensor });
    nodes.push({ tensor, isOutput: true, rank: nodes[maker.get(tensor)].rank + 1 });
  }
  return { nodes, edges };
}

/* ---- lanes: no two things in the same one at the same rank ---- */

/* The wanted lane, else the lowest that is free from rank to rank. */
function takeLane(taken, wanted, from, to) {
  const ranks = taken.slice(from, to + 1), isFree = (candidate) => ranks.every((lanes) => !lanes.has(candidate));
  let lane = isFree(wanted) ? wanted : 0;
  while (!isFree(lane)) lane++;
  for (const lanes of ranks) lanes.add(lane);
  return lane;
}

function chooseLanes({ nodes, edges }) {
  const taken = nodes.map(() => new Set()); /* by rank; there are no more ranks than nodes */
  const order = nodes.map((node, index) => index).sort((a, b) => nodes[a].rank - nodes[b].rank || a - b);
  for (const index of order) {
    const node = nodes[index], sources = edges.filter((edge) => edge.to === index).map((edge) => nodes[edge.from].lane);
    node.lane = takeLane(taken, sources.length ? Math.min(...sources) : 0, node.rank, node.rank);
  }
  for (const edge of edges) {
    const from = nodes[edge.from], to = nodes[edge.to];
    edge.lane = to.rank - from.rank < 2 ? to.lane : takeLane(taken, from.lane, from.rank + 1, to.rank - 1);
  }
}

/* ---- places ---- */

/* Tops of the lanes of every row: a lane is as high as a box where it holds one in that row, else thin. */
function placeRows({ nodes, edges }, perRow) {
  const rows = [], lanesOf = (row) => (rows[row] = rows[row] || { lanes: [], crossings: 0 });
  const use = (rank, lane, height) => {
    const { lanes } = lanesOf(Math.floor(rank / perRow));
    while (lanes.length <= lane) lanes.push({ height: box.thin });
    lanes[lane].height = Math.max(lanes[lane].height, height);
  };
  for (const node of nodes) use(node.rank, node.lane, box.height);
  for (const edge of edges) {
    const first = nodes[edge.from].rank, last = nodes[edge.to].rank;
    for (let rank = first + 1; rank < last; rank++) use(rank, edge.lane, box.thin);
    for (let row = Math.floor(first / perRow); row < Math.floor(last / perRow); row++) lanesOf(row).crossings++;
  }
  let y = 8;
  for (const row of rows) {
    for (const lane of row.lanes) {
      lane.middle = y + lane.height / 2;
      y += lane.height + box.laneGap;
    }
    row.turn = y + 4; /* where arrows go back to the left */
    row.used = 0;
    y += box.rowGap + 5 * Math.max(0, row.crossings - 1);
  }
  return { rows, height: y - box.rowGap + 6 };
}

/* ---- arrows ---- */

/* From box to box over the middle of every rank between; at the end of a row back to the left through the gap below it. */
function edgePath(edge, { nodes, edges }, rows, perRow, columns) {
  const from = nodes[edge.from], to = nodes[edge.to];
  const laneBefore = (entry) => (to.rank - nodes[entry.from].rank > 1 ? entry.lane : nodes[entry.from].lane);
  const entries = edges.filter((other) => other.to === edge.to).sort((a, b) => laneBefore(a) - laneBefore(b));
  const left = (rank) => box.margin + rank % perRow * (box.width + box.gap), rowOf = (rank) => rows[Math.floor(rank / perRow)];
  const middle = (rank, lane) => rowOf(rank).lanes[lane].middle;
  const entryY = middle(to.rank, to.lane) + (entries.length > 1 ? (entries.indexOf(edge) + 0.5) / entries.length - 0.5 : 0) * box.height * 0.6;
  let y = middle(from.rank, from.lane), path = `M${left(from.rank) + box.width} ${y}`;
  for (let rank = from.rank + 1; rank <= to.rank; rank++) {
    const next = rank === to.rank ? entryY : middle(rank, edge.lane), x = left(rank);
    if (rank % perRow === 0) {
      const row = rowOf(rank - 1), turn = row.turn + 5 * row.used, right = left(columns - 1) + box.width + 8 + 3 * (row.used % 5), back = box.margin - 8 - 3 * (row.used % 5);
      row.used++;
      path += `H${right}V${turn}H${back}V${next}H${x}`;
    } else if (Math.abs(next - y) > 0.5) {
      path += `H${x - box.gap + 6 + 4 * (edge.lane % 4)}V${next}H${x}`;
    } else path += `H${x}`;
    if (rank < to.rank) path += `H${x + box.width}`;
    y = next;
  }
  return path;
}

function drawEdge(edge, path) {
  const tensor = data.tensors[edge.tensor], style = tensor.memory === "ram" ? "edge in-ram" : "edge";
  return hover(svg("g", { class: style }, svg("path", { class: "reach", d: path }), svg("path", { class: "line", d: path, "marker-end": "url(#arrow)" })),
    tensorName(edge.tensor), [["shape", shape(tensor.shape)], ["bytes", withCommas(tensor.bytes)],
      ["elements", `${tensor.bits} bits, ${tensor.signed ? "signed" : "unsigned"}`], ["lies in", tensor.memory === "ram" ? "L3 RAM" : "L2"],
      tensor.layout === "chw" && ["order", "channels, rows, columns"]]);
}

/* ---- boxes ---- */

const nameLetters = () => Math.floor((box.width - 14) / 7.4);

function drawPort(node, x, y) {
  const tensor = data.tensors[node.tensor], title = node.isOutput ? `output ${tensor.name}` : `input ${tensor.name}`;
  return hover(svg("g", { class: "node port" }, svg("rect", { x, y, width: box.width, height: box.height, rx: box.height / 2 }),
    svgText(x + box.width / 2, y + 20, brief(title, nameLetters()), { "text-anchor": "middle", class: "name" }),
    svgText(x + box.width / 2, y + 35, shape(tensor.shape), { "text-anchor": "middle" })),
  title, [["shape", shape(tensor.shape)], ["elements", `${tensor.bits} bits, ${tensor.signed ? "signed" : "unsigned"}`]]);
}

/* A layer, and below its text a bar: its time, as a part of the longest layer's. */
function drawLayerBox(node, x, y, most) {
  const layer = data.layers[node.layer], share = span(layer) / most;
  return layerTip(svg("g", { class: `node ${layer.kind}`, "data-layer": node.layer }, svg("rect", { x, y, width: box.width, height: box.height, rx: 5 }),
    svgText(x + 8, y + 16, brief(layerName(node.layer), nameLetters()), { class: "name" }), svgText(x + 8, y + 30, brief(kindName(layer), Math.floor((box.width - 12) / 5.9))),
    svg("rect", { class: "time-all", x: x + 8, y: y + 36, width: box.width - 16, height: 4, rx: 2 }),
    svg("rect", { class: "time", x: x + 8, y: y + 36, width: Math.max(1, (box.width - 16) * share), height: 4, rx: 2 })), layer, node.layer);
}

function drawGraph(holder, width) {
  const graph = graphNodes(), ranks = 1 + Math.max(0, ...graph.nodes.map((node) => node.rank));
  chooseLanes(graph);
  const fitting = Math.max(1, Math.floor((width - 2 * box.margin + box.gap) / (box.least + box.gap))), perRow = Math.min(fitting, ranks);
  box.width = Math.max(box.least, Math.min(box.most, (width - 2 * box.margin + box.gap) / perRow - box.gap));
  const { rows, height } = placeRows(graph, perRow), most = Math.max(1, ...data.layers.map(span));
  const arrow = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { d: "M0 0L8 4L0 8z" }));
  const lines = graph.edges.map((edge) => drawEdge(edge, edgePath(edge, graph, rows, perRow, perRow)));
  const boxes = graph.nodes.map((node) => {
    const x = box.margin + node.rank % perRow * (box.width + box.gap), y = rows[Math.floor(node.rank / perRow)].lanes[node.lane].middle - box.height / 2;
    return node.layer === undefined ? drawPort(node, x, y) : drawLayerBox(node, x, y, most);
  });
  holder.replaceChildren(svg("svg", { class: "graph", height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "the network's layers as a graph" },
    svg("defs", {}, arrow), ...lines, ...boxes));
}

function graphSection() {
  const holder = html("div", {}), kinds = new Map(data.layers.map((layer) => [layer.kind, kindWords(layer)]));
  const part = section("Network", "Layers from left to right, rows like lines of a text. The bar in a box is the layer's time beside the longest one's. " +
    "Point at a box for its layer, at an arrow for its tensor.");
  part.append(legend([...kinds].map(([kind, words]) => [`swatch soft ${kind}`, words])), holder);
  redrawOnResize(holder, () => drawGraph(holder, holder.clientWidth));
  return part;
}
