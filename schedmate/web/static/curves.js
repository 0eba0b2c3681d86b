// Draws the curves of a job so that they can be pointed at and zoomed. Without it the server's picture of the same numbers stays.

const NOTE = "Drag to zoom, double-click for all; with the plot in focus, arrow keys point and Escape shows all.";
const NEAR = 5; // an event so many pixels from the pointer is told
const EVENTS = {
  start: ["good", [4, 3]], end: ["idle", [4, 3]], pack: ["warn", [4, 3]], save: ["c1", [1, 3]], act: ["c4", []], bad: ["bad", []],
};

let plots = [];
let events = [];
let looksAt = { from: null, until: null, at: null }; // kept while the page renews itself

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const moment = (at) => asHere(1000 * at, "2000-01-01 00:00:00");
const brief = (value) => (value == null ? "" : Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 }));
const part = () => document.querySelector(".curves");

const mark = (plot) => {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = 1.5 * devicePixelRatio;
  for (const { at, group } of events) {
    const [name, dash] = EVENTS[group];
    const x = plot.valToPos(at, "x", true);
    ctx.strokeStyle = colour(name);
    ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
};

const point = (plot) => {
  const { idx, left } = plot.cursor;
  const said = plot.root.parentElement.querySelector("output");
  said.textContent = left < 0 || idx == null ? "" : brief(plot.data[1][idx]);
  if (plot !== plots[0]) return;
  const at = left < 0 ? null : plot.posToVal(left, "x");
  const near = at === null ? [] : events.filter((one) => Math.abs(plot.valToPos(one.at, "x") - left) <= NEAR);
  looksAt.at = at;
  part().parentElement.querySelector(".pointed").textContent =
    at === null ? NOTE : [moment(at), ...near.map(({ text, at: then }) => `${text}, ${moment(then)}`)].join(" · ");
};

const zoom = (plot, scale) => {
  if (scale !== "x" || plot !== plots[0]) return;
  const { min, max } = plot.scales.x;
  const [first, last] = [plot.data[0][0], plot.data[0].at(-1)];
  [looksAt.from, looksAt.until] = min <= first && max >= last ? [null, null] : [min, max];
};

const day = (at) => new Date(1000 * at).toDateString();
const ticks = (_, moments, __, ___, apart) =>
  moments.map((at, place) => {
    if (apart >= 86400) return moment(at).slice(5, 10);
    const time = asHere(1000 * at, apart < 60 ? "00:00:00" : "00:00");
    return place && day(at) === day(moments[place - 1]) ? time : `${time}\n${moment(at).slice(0, 10)}`;
  });

// Room above and below the curve, but not beyond an end that is given.
const axisEnds = (low, high, least, most) => {
  const room = (most - least || Math.abs(most) || 1) / 12;
  return [low ?? least - room, high ?? most + room];
};

const options = ({ title, ends: [low, high] }, line, last, width) => {
  const axis = { stroke: colour("dim"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 } };
  return {
    width,
    height: last ? 140 : 104,
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, sync: { key: "job" }, drag: { x: true, y: false }, points: { size: 7, fill: () => line } },
    scales: { y: { range: (_, least, most) => axisEnds(low, high, least ?? 0, most ?? 0) } },
    axes: [{ ...axis, show: last, values: ticks }, { ...axis, size: 64, space: 24 }],
    series: [{}, { label: title, stroke: line, width: 1.5, points: { show: (plot) => plot.data[0].length <= 42, size: 4, fill: line } }],
    hooks: { draw: [mark], setCursor: [point], setScale: [zoom] },
  };
};

const erase = () => {
  for (const plot of plots) plot.destroy();
  plots = [];
  for (const panel of document.querySelectorAll(".panel")) panel.remove();
};

const look = () => {
  const { from, until, at } = looksAt;
  for (const plot of plots) {
    if (from !== null) plot.setScale("x", { min: from, max: until });
    plot.setCursor(at === null ? { left: -10, top: -10 } : { left: plot.valToPos(at, "x"), top: 1 });
  }
};

const draw = () => {
  erase();
  const place = part();
  if (!place) return;
  const told = JSON.parse(place.dataset.numbers);
  events = told.events;
  place.classList.add("drawn");
  place.parentElement.querySelector(".pointed").textContent = NOTE;
  place.parentElement.querySelector(".pointed").hidden = false;
  told.curves.forEach((curve, number) => {
    const box = document.createElement("div");
    box.className = "panel";
    const title = document.createElement("h3");
    title.textContent = curve.title;
    title.append(document.createElement("output"));
    box.append(title);
    place.append(box);
    const [line, last] = [colour(`c${number + 1}`), number === told.curves.length - 1];
    plots.push(new uPlot(options(curve, line, last, place.clientWidth), [curve.at, curve.values], box));
  });
  look();
  fit.disconnect();
  fit.observe(place);
};

const fit = new ResizeObserver(([{ contentRect }]) => {
  for (const plot of plots) if (contentRect.width && plot.width !== contentRect.width) plot.setSize({ width: contentRect.width, height: plot.height });
});

// Arrow keys go from one measurement of the first curve to the next.
document.addEventListener("keydown", (event) => {
  if (!plots.length || !event.target.closest(".curves")) return;
  const by = { ArrowLeft: -1, ArrowRight: 1, Escape: 0 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const times = plots[0].data[0];
  if (by) {
    const now = plots[0].cursor.idx ?? (by > 0 ? 0 : times.length - 1);
    looksAt.at = times[Math.min(Math.max(now + by, 0), times.length - 1)];
  } else {
    looksAt = { from: null, until: null, at: null };
    for (const plot of plots) plot.setScale("x", { min: times[0], max: times.at(-1) });
  }
  look();
});
document.addEventListener("htmx:afterSwap", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
