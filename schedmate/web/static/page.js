// All of this is for comfort: the page reads without JavaScript.

// Moments are the server's, in UTC: here they become the reader's own, each in the form in which it stood.
const two = (number) => String(number).padStart(2, "0");
const asHere = (moment, form) => {
  const at = new Date(moment);
  if (isNaN(at)) return form;
  const day = `${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  const full = `${at.getFullYear()}-${day} ${time}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, "0")}`;
  if (form.length === 5) return time;
  if (form.length === 8) return full.slice(11, 19);
  return form.length === 11 ? `${day} ${time}` : full.slice(0, form.length);
};
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "your time";
const here = () => {
  const moments = [...document.querySelectorAll("time.moment:not([data-here])")].map((each) => [each, each.dateTime]);
  const ticks = [...document.querySelectorAll("[data-at]:not([data-here])")].map((each) => [each, each.dataset.at]);
  for (const [each, moment] of [...moments, ...ticks]) {
    each.textContent = asHere(moment, each.textContent);
    each.dataset.here = "";
  }
  for (const each of document.querySelectorAll("time[title]:not([data-here])")) {
    each.title = `${asHere(each.dateTime, "2000-01-01 00:00:00")} ${zone}`;
    each.dataset.here = "";
  }
  for (const each of document.querySelectorAll("title[data-moment]:not([data-here])")) {
    each.textContent = `${each.dataset.text}, ${asHere(each.dataset.moment, "2000-01-01 00:00:00")} ${zone}`;
    each.dataset.here = "";
  }
  for (const each of document.querySelectorAll(".zone")) each.textContent = zone;
};
here();

// The key / leads to the search, as in many lists: where a page has none, to that of all jobs.
document.addEventListener("keydown", (event) => {
  const search = document.getElementById("q");
  const typing = event.target.closest("input, select, textarea");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    if (search) {
      search.focus();
      search.select();
    } else location.assign("/jobs#q");
  }
});
if (location.hash === "#q") document.getElementById("q")?.focus();

// The live part is not renewed under the hands of somebody who types, moves by keyboard, drags in a plot or marks text there.
const inUse = (part) => {
  const marked = document.getSelection();
  const typed = [...part.querySelectorAll("input:not([type=hidden]), textarea")].some((field) => field.value !== field.defaultValue);
  return typed || part.querySelector(":focus-visible, input:focus, .panels:active") !== null || (!marked.isCollapsed && part.contains(marked.anchorNode));
};
let late = 0;
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.target.id === "live" && inUse(event.target)) {
    event.preventDefault();
    clearTimeout(late);
    late = setTimeout(renew, 2000);
  }
});
const renew = () => {
  const part = document.getElementById("live");
  if (part) part.dispatchEvent(new Event("changed"));
};

// What was unfolded and scrolled stays so.
let kept = {};
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.target.id !== "live") return;
  const open = [...event.target.querySelectorAll("details[id]")].map(({ id, open }) => ({ id, open }));
  const scrolled = [...event.target.querySelectorAll(".scroll")].map((part) => part.scrollLeft);
  kept = { open, scrolled };
});
document.addEventListener("htmx:afterSwap", () => {
  here();
  const part = document.getElementById("live");
  if (!part || !kept.open) return;
  for (const { id, open } of kept.open) {
    const again = document.getElementById(id);
    if (again) again.open = open;
  }
  part.querySelectorAll(".scroll").forEach((each, place) => (each.scrollLeft = kept.scrolled[place] ?? 0));
  kept = {};
});

// The server tells which topics changed. A page that nobody sees lets go of its stream: browsers have few for all their tabs.
const address = document.body.dataset.changes;
let stream = null;
const follow = () => {
  if (!address || document.hidden || stream) return;
  stream = new EventSource(address);
  stream.addEventListener("following", ({ data }) => says(data === "kafka"));
  stream.addEventListener("error", () => says(false));
  stream.addEventListener("changed", ({ data }) => {
    const topics = document.getElementById("live")?.dataset.topics.split(" ") ?? [];
    if (data.split(" ").some((topic) => topics.includes(topic))) renew();
  });
};
const says = (followed) => {
  const text = followed ? "Live." : "Kafka does not tell of changes now: renewed every 15 seconds.";
  const shown = document.getElementById("following");
  if (shown.textContent !== text) shown.textContent = text;
};
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) {
    follow();
    renew();
  } else if (stream) {
    stream.close();
    stream = null;
  }
});
addEventListener("pagehide", () => stream?.close());
addEventListener("pageshow", (event) => {
  if (event.persisted) {
    stream = null;
    follow();
  }
});
follow();
