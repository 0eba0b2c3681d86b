// Draws the curves of a job anew, so that they answer the pointer: values under it, in all plots at once, and zoom. Needs uplot.min.js and
// page.js. Without it the server's own drawing stands there; beside it that is what a screen reader and a printer meet.

let drawn = null; // what stands on the page: its uPlots, and how to let go of them
let zoomed = null; // [since, until] in seconds, null: all

const drawPlots = () => {
  const region = document.querySelector("[data-curves]");
  if (region?.classList.contains("drawn")) return; // another part of the page was swapped
  const pointed = drawn?.plots[0].cursor.left ?? -10;
  drawn?.forget();
  drawn = region && window.uPlot && plotsIn(region, JSON.parse(region.dataset.curves));
  if (pointed >= 0) drawn?.point(pointed); // the pointer rests there since before a renewal
};

const plotsIn = (region, { since, until, curves, marks }) => {
  const look = (of) => getComputedStyle(region.querySelector(`svg ${of}`)); // one place says which colour means what: page.css
  const box = element("div", "curves");
  const reading = box.appendChild(element("p", "reading"));
  const moment = reading.appendChild(element("span"));
  const all = reading.appendChild(element("button"));
  const slider = box.appendChild(element("div", "panels"));
  const help = "Point at a curve for its values, drag to zoom.";
  moment.textContent = help;
  Object.assign(all, { type: "button", textContent: "Show all", hidden: !zoomed, onclick: () => zoom(since, until) });
  for (const [span, label] of [[900, "15 min"], [3600, "1 h"], [21600, "6 h"], [86400, "24 h"]]) {
    if (until - since <= span) continue;
    const button = reading.insertBefore(element("button"), all);
    Object.assign(button, { type: "button", textContent: `Last ${label}`, onclick: () => zoom(until - span, until) });
  }
  slider.tabIndex = 0;
  // Arrow keys go through the moments, and a screen reader says what was measured then.
  const says = { role: "slider", "aria-label": "Moment; plus and minus zoom, Escape shows all", "aria-valuemin": since, "aria-valuemax": until };
  for (const [name, value] of Object.entries(says)) slider.setAttribute(name, value);

  const zoom = (min, max) => {
    for (const plot of plots) plot.setScale("x", { min, max });
  };
  const noteZoom = ({ min, max }) => {
    zoomed = min === since && max === until ? null : [min, max];
    all.hidden = !zoomed;
  };
  const point = (left) => {
    for (const plot of plots) plot.setCursor({ left, top: 0 });
  };
  const read = () => {
    const [{ cursor }] = plots;
    const shown = cursor.left >= 0;
    const labels = curves.map((curve, place) => {
      const index = plots[place].cursor.idxs?.[1];
      const value = shown && index != null ? short(curve.values[index]) : "";
      titles[place].textContent = value;
      return value && `${curve.name} ${value} ${curve.unit}`.trim();
    });
    const at = shown ? plots[0].posToVal(cursor.left, "x") : since;
    const near = marks.filter((mark) => shown && Math.abs(plots[0].valToPos(mark.at, "x") - cursor.left) < 4).map((mark) => mark.text);
    const when = asHere(at * 1000, "2000-01-01 00:00:00");
    moment.textContent = shown ? [when, ...near].join(" · ") : help;
    slider.setAttribute("aria-valuenow", at);
    slider.setAttribute("aria-valuetext", [when, ...labels, ...near].filter(Boolean).join(", "));
  };
  const markLines = ({ ctx, bbox, valToPos }) => {
    ctx.save();
    ctx.lineWidth = 1.5 * uPlot.pxRatio;
    for (const group of new Set(marks.map((mark) => mark.group))) {
      const { stroke, strokeDasharray, opacity } = look(`.mark.${group} path`);
      ctx.strokeStyle = stroke;
      ctx.globalAlpha = opacity;
      ctx.setLineDash((strokeDasharray.match(/[\d.]+/g) ?? []).map((each) => each * uPlot.pxRatio));
      ctx.beginPath();
      for (const { at } of marks.filter((mark) => mark.group === group)) {
        const x = Math.round(valToPos(at, "x", true));
        if (x < bbox.left || x > bbox.left + bbox.width) continue;
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
      }
      ctx.stroke();
    }
    ctx.restore();
  };

  const titles = [];
  const plotOf = (curve, place) => {
    const title = slider.appendChild(element("p", "title"));
    title.append(`${curve.name}${curve.unit && `, ${curve.unit}`} `);
    titles.push(title.appendChild(element("span", `value v${place + 1}`)));
    const [min, max] = zoomed ?? [since, until];
    const axis = { stroke: () => look(".axis").fill, font: "11px system-ui, sans-serif", grid: { stroke: () => look(".frame").stroke, width: 1 }, ticks: { show: false } };
    const last = place === curves.length - 1;
    return new uPlot(
      {
        width: slider.clientWidth,
        height: last ? 240 : 212,
        padding: [6, 24, 6, 0],
        legend: { show: false },
        cursor: {
          y: false,
          drag: { x: true, y: false, dist: 4 },
          hover: { skip: [null, undefined] },
          sync: { key: "job", scales: ["x", null] },
          bind: { dblclick: () => () => zoom(since, until) },
        },
        scales: { x: { auto: false, min, max }, y: { range: (_, low, high) => levels(curve, low, high) } },
        axes: [
          { ...axis, show: last, size: 24, space: 90, values: (_, splits) => splits.map((at) => asHere(at * 1000, formOf(splits))) },
          { ...axis, size: 60, space: 24, values: (_, splits) => splits.map(short) },
        ],
        series: [{}, { stroke: () => look(`.curve.c${place + 1}`).stroke, width: 1.5, points: { size: 5, fill: () => look(".dots").fill } }],
        hooks: {
          drawAxes: [markLines],
          setCursor: [() => plots.length === curves.length && read()],
          setScale: [({ scales }, key) => key === "x" && noteZoom(scales.x)],
        },
      },
      [curve.at, curve.values],
      slider,
    );
  };

  region.classList.add("drawn");
  region.removeAttribute("tabindex"); // nothing scrolls there now
  region.append(box);
  const plots = [];
  for (const [place, curve] of curves.entries()) plots.push(plotOf(curve, place));
  const moments = [...new Set(curves.flatMap((curve) => curve.at.filter((_, place) => curve.values[place] !== null)))].sort((a, b) => a - b);
  slider.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [{ cursor, scales, posToVal, valToPos }] = plots;
    const at = cursor.left >= 0 ? posToVal(cursor.left, "x") : scales.x.min;
    const [min, max] = [scales.x.min, scales.x.max];
    const shown = moments.filter((each) => each >= min && each <= max);
    // The nearest to the cursor: a pixel is not a moment.
    const place = shown.reduce((best, each, here) => (Math.abs(each - at) < Math.abs(shown[best] - at) ? here : best), 0);
    const go = { ArrowLeft: place - 1, ArrowRight: cursor.left < 0 ? place : place + 1, PageUp: place + 10, PageDown: place - 10, Home: 0, End: shown.length - 1 };
    const span = { "+": 0.5, "-": 2 }[event.key];
    if (event.key === "Escape") zoom(since, until);
    else if (span) {
      zoom(Math.max(since, at - (at - min) * span), Math.min(until, at + (max - at) * span));
    } else if (event.key in go && shown.length) point(valToPos(shown[Math.max(0, Math.min(shown.length - 1, go[event.key]))], "x"));
    else return;
    event.preventDefault();
  };
  const sized = new ResizeObserver(() => {
    for (const plot of plots) if (plot.width !== slider.clientWidth) plot.setSize({ width: slider.clientWidth, height: plot.height });
  });
  sized.observe(slider);
  read();
  const forget = () => {
    sized.disconnect();
    for (const plot of plots) plot.destroy();
  };
  return { plots, point, forget };
};

const element = (tag, name = "") => Object.assign(document.createElement(tag), { className: name });

// Three digits that count, as the server writes them.
const short = (value) => {
  const size = Math.abs(value);
  if (size && (size < 1e-3 || size >= 1e6)) return value.toPrecision(3).replace(/\.?0*(?=e|$)/, "");
  return value.toLocaleString("en", size < 100 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 });
};

// Least and greatest level of a plot: `low` and `high` of what is in sight, null where nothing is.
const levels = (curve, low, high) => {
  if (low === null) return [0, 1];
  const least = curve.low ?? low;
  // At least a tenth of the value: noise must not look like a trend.
  const room = Math.max((high - least) * 0.08, (Math.max(Math.abs(high), Math.abs(low)) / 10 - (high - least)) / 2) || 1;
  return [curve.low ?? least - room, curve.high ?? high + room];
};

// Forms of a moment below a plot, by the time that it shows: as `asHere` knows them.
const formOf = (splits) => {
  const [step, all] = [splits[1] - splits[0], splits.at(-1) - splits[0]];
  return all >= 86400 ? "01-01 00:00" : step < 60 ? "00:00:00" : "00:00";
};

drawPlots();
document.addEventListener("htmx:afterSwap", drawPlots);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn?.plots.forEach((plot) => plot.redraw(false)));
