// What plain pages cannot do: listen to the live events, draw, and keep the focus where it was.
// Nothing here reads or writes the text of a memory; pages come from the server, escaped.
"use strict";
(() => {
  const COLOURS = ["--blue", "--accent", "--warn", "--field"];
  let source = null;
  let listening = "";
  let timer = 0;

  const colour = (name) => {
    // light-dark() is resolved only where a colour is used.
    const probe = document.createElement("i");
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };

  const draw = (place) => {
    if (place.dataset.drawn || !place.offsetWidth) return;
    place.dataset.drawn = "1";
    const { names, rows } = JSON.parse(place.dataset.chart);
    const days = rows.map((row) => Date.parse(row[0]) / 1000);
    const lines = names.map((_, i) => rows.map((row) => row[i + 1]));
    const stepped = place.dataset.steps ? uPlot.paths.stepped({ align: 1 }) : undefined;
    const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    const language = document.documentElement.lang;
    const shown = (time) => new Date(time * 1000).toLocaleDateString(language, { month: "short", day: "numeric", timeZone: "UTC" });
    const day = 86400;
    const first = days[0] - day / 2;
    const last = days[days.length - 1] + day / 2;
    const chart = new uPlot({
      width: place.clientWidth,
      height: 220,
      tzDate: (time) => uPlot.tzDate(new Date(time * 1000), "UTC"),
      cursor: { drag: { x: false, y: false } },
      scales: { x: { range: [first, last] }, y: { range: (_, low, high) => place.dataset.steps ? [0, Math.max(1, high) * 1.1] : [Math.max(0, low - 0.05), Math.min(1, high + 0.05)] } },
      axes: [{ ...axis, values: (_, times) => times.map(shown) }, { ...axis, size: 44 }],
      series: [
        { value: (_, time) => (time == null ? "–" : shown(time)) },
        ...names.map((name, i) => ({
          label: name, stroke: colour(COLOURS[i % COLOURS.length]), width: 2, paths: stepped,
          points: { show: rows.length < 40, size: 5 },
          value: (_, value) => (value == null ? "–" : String(Math.floor(value * 100) / 100)),
        })),
      ],
    }, [days, ...lines], place);
    new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: 220 })).observe(place);
  };

  const refresh = () => {
    // Only parts marked as fresh are taken anew: what is being typed or read stays.
    const parts = [...document.querySelectorAll("[data-fresh]")].filter(
      (part) => !part.contains(document.activeElement) || document.activeElement === document.body);
    if (!parts.length) return;
    fetch(location.href, { headers: { "X-Requested-With": "panel" } }).then(async (answer) => {
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      let changed = false;
      for (const part of parts) {
        const newer = part.id && page.getElementById(part.id);
        if (!newer || newer.outerHTML === part.dataset.known) continue;
        newer.dataset.known = newer.outerHTML;
        const open = [...part.querySelectorAll("details")].map((each) => each.open);
        part.replaceWith(newer);
        newer.querySelectorAll("details").forEach((each, i) => { each.open = open[i] ?? false; });
        htmx.process(newer);
        changed = true;
      }
      const badge = page.querySelector(".top nav");
      const shown = document.querySelector(".top nav");
      if (badge && shown && !shown.contains(document.activeElement)) {
        shown.replaceWith(badge);
        htmx.process(badge);
      }
      if (!changed) return;
      const polite = document.getElementById("polite");
      polite.textContent = "";
      setTimeout(() => { polite.textContent = polite.dataset.updated; }, 50);
      ready();
    });
  };

  const listen = () => {
    const place = document.querySelector("[data-live]")?.dataset.live || "";
    if (place === listening && source && source.readyState !== EventSource.CLOSED) return;
    source?.close();
    source = null;
    listening = place;
    if (!place) return;
    source = new EventSource(place);
    source.addEventListener("changed", () => {
      clearTimeout(timer);
      timer = setTimeout(refresh, 400);
    });
  };

  const ready = () => {
    document.querySelectorAll("[data-chart]").forEach(draw);
    listen();
  };

  // An extension, for htmx sends its events to the link that was pressed, and that is gone by then.
  htmx.registerExtension("panel", {
    htmx_after_swap: (_, { ctx }) => {
      ready();
      if (ctx.target?.id !== "page") return;
      // A new page begins at what was done (its undo comes next), else at its heading.
      document.querySelector("main .done, main h1")?.focus({ preventScroll: true });
      scrollTo({ top: 0, behavior: "instant" });
    },
  });
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => { if (event.persisted) { listening = ""; listen(); } });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", ready);
  else ready();
})();
