// ---- figures
const field = (name) => name.replace(/[^0-9A-Za-z]/g, "_");
const selectRows = (chart, rows, all) => {
  const groups = new Map();
  rows.forEach((row) => {
    const computed = at("attack", row) === data.none && at("adversary", row) === data.none;
    if (computed || chart.needs.some((name) => at(name, row) === null)) return;
    const key = JSON.stringify(chart.alike.map((name) => at(name, row)));
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  });
  const count = (rows, name) => new Set(rows.map((row) => at(name, row))).size;
  const kept = Array.from(groups.values()).filter((group) => !chart.varies || count(group, chart.varies) > 1);
  const gain = (row) => {
    const [top, prior] = [at("tightest_mean", row) ?? at("expected_success", row), at("baseline_expected", row)];
    return top === null || prior === null ? 0 : (top - prior) / at("n", row);
  };
  const interest = new Map(kept.map((group) => [group, Math.max(...group.map(gain))]));
  kept.sort((a, b) => interest.get(b) - interest.get(a));
  const most = all ? ALL_GROUPS : chart.most;
  return { rows: kept.slice(0, most).flat(), left: Math.max(0, kept.length - most), groups: kept.length };
};
// On the page colours are those of the style sheet, whatever the theme; a file needs their values.
const themeConfig = (colour) => {
  const [ink, soft, rule, card, ceiling] = ["--ink", "--soft", "--rule", "--card", "--ceiling-line"].map(colour);
  return {
    background: card, font: "system-ui, sans-serif", view: { stroke: rule },
    style: { prior: { color: soft }, best: { color: ink }, most: { color: ceiling }, "one-run": { color: ceiling } },
    axis: { labelColor: ink, titleColor: ink, gridColor: rule, domainColor: soft, tickColor: soft, titleFontWeight: "normal", labelFontSize: 11 },
    legend: { labelColor: ink, titleColor: ink }, header: { labelColor: ink, titleColor: ink }, title: { color: ink, subtitleColor: soft },
  };
};
const live = (name) => `var(${name})`;
const resolved = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const useMeasure = (spec, measure) => {
  if (!measure) return structuredClone(spec);
  const [old, now] = measure === "gain" ? [data.measures.share, data.measures.gain] : [data.measures.gain, data.measures.share];
  const result = JSON.parse(JSON.stringify(spec).replaceAll(JSON.stringify(old), JSON.stringify(now)));
  return { ...result, params: [{ name: "gain", value: measure === "gain" }] };
};
const who = (row) => at("attack", row) + (at("attack_options", row) === "{}" ? "" : ` ${at("attack_options", row)}`);
// An attack looks the same in all figures; the legend lists those that are drawn.
const fixLooks = (node, drawn) => {
  if (node === null || typeof node !== "object") return;
  if ((node.field === "who" || node.field === "whose") && node.scale && node.scale.range) {
    // Vega-Lite joins the legends of equal domains, and lines have none: one more value.
    node.scale.domain = node.legend ? data.attacks : [...data.attacks, ""];
    if (node.legend) node.legend.values = drawn;
  }
  Object.values(node).forEach((part) => fixLooks(part, drawn));
};
const fitSpec = (spec, width, longest) => {
  const result = spec;
  const unit = result.spec ?? result;
  if (result.columns === 2 && width < 640) result.columns = 1;
  if (typeof unit.width === "number") {
    const margin = unit.height && unit.height.step ? (width < 500 ? 135 : 30 + Math.min(180, 7 * longest)) : 75;
    unit.width = Math.max(140, Math.floor(width / (result.columns ?? 1)) - margin);
    if (result.facet && result.facet.header) result.facet.header.labelLimit = unit.width;
  }
  if (width < 500) {
    const narrow = (node) => {
      if (node === null || typeof node !== "object") return;
      if (node.orient === "top" && unit.height && unit.height.step && typeof node.columns === "number") node.columns = 1;
      if (typeof node.labelLimit === "number") node.labelLimit = Math.min(node.labelLimit, node.orient ? 140 : Math.max(100, unit.width ?? 100));
      Object.values(node).forEach(narrow);
    };
    narrow(result);
    const y = (unit.layer ?? [unit]).map((each) => each.encoding?.y?.axis).filter(Boolean);
    y.forEach((axis) => { axis.labelLimit = 110; });
  }
  return result;
};
const drawInto = (place, { chart, measure }, rows, width, colour, caption = {}) => {
  const values = rows.map((row) => Object.fromEntries(chart.columns.map((name) => [field(name), at(name, row)])));
  const here = new Set(rows.filter((row) => !(measure && at("attack", row) === data.guessing)).map(who));
  const longest = Math.max(...rows.map((row) => at("targets", row).length)) + (chart.name === "split" ? 18 : 0);
  const fitted = fitSpec(useMeasure(chart.spec, measure), width, longest);
  fixLooks(fitted, data.attacks.filter((name) => here.has(name)));
  const spec = { ...fitted, ...caption, $schema: "https://vega.github.io/schema/vega-lite/v6.json", data: { name: "rows", values } };
  return window.vegaEmbed(place, spec, { ast: true, actions: false, renderer: "svg", config: themeConfig(colour), tooltip: { theme: "page" } });
};
const lines = (text, most) => text.split(" ").reduce((found, word) => {
  const last = found[found.length - 1];
  if (last !== undefined && last.length + word.length < most) found[found.length - 1] = `${last} ${word}`;
  else found.push(word);
  return found;
}, []);
const figures = data.charts.map((chart) => ({ chart, measure: chart.measure, all: false, box: document.getElementById(`figure-${chart.name}`), drawn: null, wanted: null, seen: false, view: null, turn: 0 }));
const embed = async (each) => {
  const turn = (each.turn += 1);
  const { chart, box, wanted } = each;
  const { rows, left, groups } = selectRows(chart, wanted, each.all);
  each.drawn = wanted;
  each.rows = rows;
  const place = box.querySelector(".plot");
  const note = box.querySelector(".left");
  box.querySelectorAll("[data-save]").forEach((button) => { button.disabled = rows.length === 0; });
  note.textContent = rows.length === 0 ? `Nothing to draw: ${chart.absent}.` : left > 0 ? `The ${groups - left} with most to gain of ${groups} are drawn. Filters choose others.` : "";
  const more = box.querySelector("[data-all]");
  more.hidden = left === 0 && !each.all;
  more.textContent = each.all ? "Show fewer" : `Show all ${groups}`;
  if (each.view) { each.view.finalize(); each.view = null; }
  place.replaceChildren();
  if (rows.length === 0) return;
  const found = await drawInto(place, each, rows, place.clientWidth, live);
  if (turn !== each.turn) { found.finalize(); return; }
  each.view = found.view;
  const svg = place.querySelector("svg");
  if (svg) { svg.setAttribute("role", "img"); svg.setAttribute("aria-label", `${chart.title}. ${chart.reads}`); }
  place.removeAttribute("role");
  box.dataset.drawn = String(rows.length);
};
// What is on screen is drawn at once, the rest once the reader has settled and the browser is idle.
let drawing = false;
const idle = (work, pause) => setTimeout(() => (window.requestIdleCallback ? window.requestIdleCallback(work, { timeout: 300 }) : work()), pause);
const drawRest = (pause = PAUSE) => {
  if (drawing) return;
  drawing = true;
  idle(async () => {
    const next = figures.find((each) => each.wanted !== null && each.drawn !== each.wanted);
    if (next) await embed(next);
    else document.documentElement.dataset.figures = "drawn";
    drawing = false;
    if (next) drawRest(0);
  }, pause);
};
const redraw = (rows) => {
  delete document.documentElement.dataset.figures;
  figures.forEach((each) => {
    each.wanted = rows;
    if (each.seen) embed(each);
  });
  drawRest();
};
const watcher = new IntersectionObserver((entries) => entries.forEach((entry) => {
  const each = figures.find(({ box }) => box === entry.target);
  each.seen = entry.isIntersecting;
  if (each.seen && each.drawn !== each.wanted) embed(each);
}), { rootMargin: "200px" });
figures.forEach((each) => {
  watcher.observe(each.box);
  const { chart, box } = each;
  // A saved figure includes its title and how to read it.
  const saving = async (write) => {
    const width = box.querySelector(".plot").clientWidth;
    const caption = { title: { text: chart.title, subtitle: lines(chart.reads, Math.max(40, Math.floor(width / 7))), anchor: "start" } };
    const { view, finalize } = await drawInto(make("div"), each, selectRows(chart, each.wanted, each.all).rows, width, resolved, caption);
    await write(view);
    finalize();
  };
  const actions = {
    svg: () => saving(async (view) => save(`${chart.name}.svg`, await view.toSVG(), "image/svg+xml")),
    png: () => saving(async (view) => {
      const canvas = await view.toCanvas(2);
      canvas.toBlob((blob) => save(`${chart.name}.png`, blob));
    }),
    csv: () => {
      const { rows } = selectRows(chart, each.wanted, each.all);
      save(`${chart.name}.csv`, csv(chart.columns.filter((name) => rows.some((row) => at(name, row) !== null) || name === "epsilon"), rows), "text/csv");
    },
  };
  box.querySelectorAll("[data-save]").forEach((button) => button.addEventListener("click", actions[button.dataset.save]));
  box.querySelector("[data-all]").addEventListener("click", () => { each.all = !each.all; embed(each); });
  const measure = box.querySelector("[data-measure]");
  if (measure) measure.addEventListener("click", () => {
    each.measure = each.measure === "gain" ? "share" : "gain";
    measure.setAttribute("aria-pressed", String(each.measure === "gain"));
    embed(each);
  });
});
// Promises settle before the print preview is laid out, so what was not yet drawn is drawn now.
window.addEventListener("beforeprint", () => figures.forEach((each) => { if (each.wanted !== null && each.drawn !== each.wanted) embed(each); }));
let width = window.innerWidth;
let resizing = 0;
window.addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => {
    if (Math.abs(window.innerWidth - width) < 40) return;
    width = window.innerWidth;
    figures.forEach((each) => { each.drawn = null; });
    if (table) redraw(filterRows());
  }, 200);
});
