"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const size = data.size;
  const PAGE = 50;
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const isolate = (text) => make("bdi", {}, text);
  const cut = (text, most = 60) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

  // A column travels as one value, as a list, or as indices into its different values.
  const unpacked = new Map();
  const column = (name) => {
    if (!unpacked.has(name)) {
      const packed = data.cells[name];
      let values;
      if (packed === undefined) values = new Array(size).fill(null);
      else if ("same" in packed) values = new Array(size).fill(packed.same);
      else if ("indices" in packed) values = packed.indices.map((index) => packed.values[index]);
      else values = packed.values;
      unpacked.set(name, values);
    }
    return unpacked.get(name);
  };
  const at = (name, row) => column(name)[row];
  const kinds = new Map(data.columns.map((each) => [each.name, each]));
  const numeric = (name) => kinds.get(name).kind !== "text";

  // ---- numbers as people read them
  const COUNTS = /^(success|baseline|ceiling_|tightest_|best_possible$|best_attack_|promised$|gap_(attack|threat|bound|open)|paper_(s|b|c)|against_(prior|rap)$)/;
  const format = (name, value) => {
    if (name === "epsilon" && value === null) return "∞";
    if (value === null || value === undefined || value === "") return "";
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value) && !COUNTS.test(name) && name !== "gap_closed") return String(value);
    const text = COUNTS.test(name) ? value.toFixed(1) : name === "gap_closed" ? `${(100 * value).toFixed(1)} %` : name === "normalised_advantage" ? value.toFixed(3) : String(Number(value.toPrecision(3)));
    return text.replace(/^-/, "−");
  };

  // ---- filters
  const chosen = {};
  const search = document.getElementById("search");
  const selects = Array.from(document.querySelectorAll("select[data-column]"));
  selects.forEach((select) => {
    const name = select.dataset.column;
    const values = Array.from(new Set(column(name)));
    if (numeric(name)) values.sort((a, b) => (a ?? Infinity) - (b ?? Infinity));
    values.forEach((value, index) => {
      select.append(make("option", { value: String(index), title: cut(format(name, value), 300) }, cut(format(name, value)) || "(empty)"));
    });
    select.addEventListener("change", () => {
      chosen[name] = select.value === "" ? undefined : { value: values[Number(select.value)] };
      refresh();
    });
  });
  let texts = null;
  // Words are searched in the game and its result, not in long lists.
  const searched = data.columns.filter((each) => each.kind === "text" && !["known_columns", "calibration"].includes(each.name));
  const textOf = (row) => {
    texts ??= new Array(size);
    texts[row] ??= searched.map((each) => format(each.name, at(each.name, row))).join(" ").toLowerCase();
    return texts[row];
  };
  const filterRows = () => {
    const words = search ? search.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
    const wanted = Object.entries(chosen).filter(([, value]) => value !== undefined);
    const rows = [];
    for (let row = 0; row < size; row += 1) {
      if (wanted.every(([name, { value }]) => at(name, row) === value) && words.every((word) => textOf(row).includes(word))) rows.push(row);
    }
    return rows;
  };

  // ---- saving files
  const save = (name, content, type) => {
    const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    const link = make("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };
  const cell = (name, value) => {
    if (name === "epsilon" && value === null) return "inf";
    if (value === null || value === undefined) return "";
    if (typeof value === "boolean") return value ? "True" : "False";
    let text = String(value);
    if (typeof value === "string" && (/^[\t\r\n]/.test(text) || /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text))) text = `'${text}`;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = (names, rows) => [names.join(","), ...rows.map((row) => names.map((name) => cell(name, at(name, row))).join(","))].join("\r\n") + "\r\n";

  // ---- the table
  const table = document.getElementById("rows");
  let order = { name: null, sign: 1 };
  let current = [];
  let first = 0;
  const sortRows = (rows) => {
    if (order.name === null) return rows;
    const values = column(order.name);
    const isNumber = numeric(order.name);
    const key = (row) => (order.name === "epsilon" && values[row] === null ? Infinity : values[row]);
    return rows.slice().sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === y) return a - b;
      if (x === null || x === "") return 1;
      if (y === null || y === "") return -1;
      return order.sign * (isNumber ? Number(x) - Number(y) : String(x).localeCompare(String(y))) || a - b;
    });
  };
  const flagList = (text) => {
    const list = make("span", { class: "flags" });
    text.split(" ").filter(Boolean).forEach((name) => {
      const meaning = data.flags[name];
      list.append(make("span", { class: `flag ${meaning ? meaning.weight : "note"}`, "data-tip": meaning ? meaning.text : name }, name));
    });
    return list;
  };
  const content = (name, row) => {
    const value = at(name, row);
    if (name === "flags") return flagList(value || "");
    const text = format(name, value);
    if (name === "success" && at("success_low", row) !== null && value !== null) {
      const interval = `${format("success", at("success_low", row))} – ${format("success", at("success_high", row))}`;
      return make("span", {}, text, make("small", {}, ` ${interval}`));
    }
    if (name === "gap_closed" && text !== "" && (at("flags", row) || "").split(" ").includes("no-gap")) return make("small", { "data-tip": data.flags["no-gap"].text }, text);
    return numeric(name) ? document.createTextNode(text) : isolate(text);
  };
  const draw = () => {
    const body = make("tbody");
    const page = current.slice(first, first + PAGE);
    page.forEach((row, index) => {
      const line = make("tr", { "data-row": String(row), "aria-rowindex": String(first + index + 2) });
      const label = `Details of ${cut(String(at("attack", row)))} on ${cut(String(at("targets", row)))}, ε ${format("epsilon", at("epsilon", row))}`;
      const button = make("button", { type: "button", class: "open", "aria-label": label, "aria-haspopup": "dialog" }, "+");
      line.append(make("td", {}, button));
      data.shown.forEach((name) => line.append(make("td", numeric(name) ? { class: "number" } : { class: name === "flags" ? "wide" : "text" }, content(name, row))));
      body.append(line);
    });
    table.tBodies[0].replaceWith(body);
    table.setAttribute("aria-rowcount", String(current.length + 1));
    const last = Math.min(first + PAGE, current.length);
    document.getElementById("count").textContent = current.length === 0 ? `none of ${size} rows matches the filters` : `rows ${first + 1} to ${last} of ${current.length}${current.length === size ? "" : ` (${size} in total)`}`;
    document.getElementById("previous").disabled = first === 0;
    document.getElementById("next").disabled = last >= current.length;
  };
  const refresh = () => {
    const rows = filterRows();
    current = sortRows(rows);
    first = 0;
    draw();
    redraw(rows);
  };
  if (table) {
    const head = make("tr", {}, make("th", { scope: "col" }, make("span", { class: "hidden" }, "details")));
    data.shown.forEach((name) => {
      const button = make("button", { type: "button", "data-term": name }, data.titles[name] ?? name);
      const th = make("th", { scope: "col", "aria-sort": "none", "data-name": name, ...(numeric(name) ? { class: "number" } : {}) }, button);
      button.addEventListener("click", () => {
        order = { name, sign: order.name === name ? -order.sign : 1 };
        table.querySelectorAll("th[aria-sort]").forEach((other) => other.setAttribute("aria-sort", other === th ? (order.sign > 0 ? "ascending" : "descending") : "none"));
        current = sortRows(current);
        first = 0;
        draw();
      });
      head.append(th);
    });
    table.tHead.append(head);
    table.addEventListener("click", (event) => {
      const line = event.target.closest("tbody tr");
      if (line && !String(window.getSelection())) details(Number(line.dataset.row));
    });
    document.getElementById("previous").addEventListener("click", () => { first = Math.max(0, first - PAGE); draw(); });
    document.getElementById("next").addEventListener("click", () => { first += PAGE; draw(); });
    document.getElementById("save").addEventListener("click", () => save("leaderboard-rows.csv", csv(data.columns.map((each) => each.name), current), "text/csv"));
    let waiting = 0;
    search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(refresh, 120); });
    document.getElementById("reset").addEventListener("click", () => {
      selects.forEach((select) => { select.value = ""; delete chosen[select.dataset.column]; });
      search.value = "";
      refresh();
    });
  }

  // ---- the details of a row
  const dialog = document.getElementById("details");
  const list = (pairs) => {
    const found = make("dl", { class: "pairs" });
    pairs.forEach(([name, value, meaning]) => {
      const entry = make("div", {}, make("dt", {}, isolate(name)), make("dd", {}, value instanceof Node ? value : isolate(value)));
      if (meaning) entry.append(make("dd", { class: "meaning" }, meaning));
      found.append(entry);
    });
    return found;
  };
  const countExceeded = (flag, row) => {
    if (flag !== "above-ceiling" && flag !== "passed-ceiling-allowed") return "";
    const share = at("above_proved", row) ?? at("above_ceiling", row) ?? 0;
    return `. Here: ${Math.round(share * at("repetitions", row))} of ${at("repetitions", row)} repetitions; in the long run, 1 of 20 is allowed`;
  };
  const details = (row) => {
    const body = dialog.querySelector(".body");
    body.replaceChildren();
    dialog.querySelector("h2").replaceChildren(isolate(cut(String(at("attack", row)), 200)), " on ", isolate(cut(String(at("targets", row)), 200)), `, ε = ${format("epsilon", at("epsilon", row))}`);
    const flags = (at("flags", row) || "").split(" ").filter(Boolean);
    body.append(make("h3", {}, "Flags"));
    if (flags.length === 0) body.append(make("p", {}, "None."));
    else body.append(make("ul", {}, ...flags.map((name) => make("li", {}, make("span", { class: `flag ${data.flags[name].weight}` }, name), ` ${data.flags[name].text}${countExceeded(name, row)}`))));
    const got = at("_got", row);
    body.append(make("h3", {}, "Repetitions"));
    if (got === null || got === "") body.append(make("p", {}, "This row has no finished repetitions."));
    else {
      const [reps, mine, prior] = ["_reps", "_got", "_prior"].map((name) => at(name, row).split(" "));
      const lines = reps.map((rep, index) => make("tr", {}, ...[rep, mine[index], prior[index], String(Number(mine[index]) - Number(prior[index])).replace("-", "−")].map((text) => make("td", { class: "number" }, text))));
      const titles = ["repetition", "records reconstructed", "by the prior's guess", "difference"];
      body.append(make("div", { class: "scroll small", tabindex: "0", role: "region", "aria-label": "Repetitions" }, make("table", {}, make("thead", {}, make("tr", {}, ...titles.map((text) => make("th", { scope: "col", class: "number" }, text)))), make("tbody", {}, ...lines))));
    }
    const groups = [["Result", /^(rank|suite_rank|success|baseline|best_|normalised|gap_|above|seconds|repetitions|failures|skipped|error)/], ["Ceilings, in records", /^(ceiling_|tightest_)/], ["Paired comparisons", /^against_/], ["Printed in a paper", /^paper/], ["Score reliability", /^(promised|calibration)/], ["Setting of the game", /./]];
    const done = new Set(["flags", "facts"]);
    groups.forEach(([title, pattern]) => {
      const names = data.columns.map((each) => each.name).filter((name) => !done.has(name) && pattern.test(name));
      names.forEach((name) => done.add(name));
      const pairs = names.map((name) => [name, format(name, at(name, row)), [kinds.get(name).meaning, kinds.get(name).direction].filter(Boolean).join(". ")]).filter(([, value]) => value !== "");
      if (pairs.length) body.append(make("h3", {}, title), list(pairs));
    });
    const facts = JSON.parse(at("_facts", row));
    if (facts.length) body.append(make("h3", {}, "Facts about the mechanism"), list(facts));
    if (data.facts.length) body.append(make("h3", {}, "The run"), list(data.facts));
    dialog.showModal();
    dialog.scrollTop = 0;
  };
  dialog.querySelector("button.close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  // ---- figures
  const field = (name) => name.replace(/[^0-9A-Za-z]/g, "_");
  const selectRows = (chart, rows) => {
    const groups = new Map();
    rows.forEach((row) => {
      const computed = at("attack", row) === data.none && at("adversary", row) === data.none;
      const mechanism = at("mechanism", row);
      if (computed === chart.played || chart.needs.some((name) => at(name, row) === null)) return;
      if (chart.lacks.some((name) => name in data.cells && at(name, row) !== null)) return;
      if ((chart.among.length && !chart.among.includes(mechanism)) || chart.besides.includes(mechanism)) return;
      const key = JSON.stringify(chart.alike.map((name) => at(name, row)));
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(row);
    });
    const family = (group) => JSON.stringify(chart.alike.slice(0, -1).map((name) => at(name, group[0])));
    const count = (rows, name) => new Set(rows.map((row) => at(name, row))).size;
    const families = new Map();
    groups.forEach((group) => families.set(family(group), (families.get(family(group)) || []).concat(group)));
    const kept = Array.from(groups.values()).filter((group) => {
      if (chart.varies && count(group, chart.varies) < 2) return false;
      const all = families.get(family(group));
      return !chart.rival || count(all, chart.varies) >= count(all, chart.rival);
    });
    return { rows: kept.slice(0, chart.most).flat(), left: Math.max(0, kept.length - chart.most) };
  };
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const themeConfig = () => {
    const [ink, soft, rule, card] = ["--ink", "--soft", "--rule", "--card"].map(style);
    return {
      background: card, font: "system-ui, sans-serif", view: { stroke: rule },
      axis: { labelColor: ink, titleColor: ink, gridColor: rule, domainColor: soft, tickColor: soft, titleFontWeight: "normal", labelFontSize: 11 },
      legend: { labelColor: ink, titleColor: ink }, header: { labelColor: ink, titleColor: ink }, title: { color: ink, subtitleColor: soft },
    };
  };
  const fitSpec = (spec, width) => {
    const result = structuredClone(spec);
    const unit = result.spec ?? result;
    if (result.columns === 2 && width < 640) result.columns = 1;
    if (typeof unit.width === "number") {
      const margin = unit.height && unit.height.step ? (width < 500 ? 180 : 210) : 75;
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
      y.forEach((axis) => { axis.labelLimit = 148; });
    }
    return result;
  };
  const drawInto = (place, chart, rows, width, caption = {}) => {
    const values = rows.map((row) => Object.fromEntries(chart.columns.map((name) => [field(name), at(name, row)])));
    const spec = { ...fitSpec(chart.spec, width), ...caption, $schema: "https://vega.github.io/schema/vega-lite/v6.json", data: { name: "rows", values } };
    const dark = getComputedStyle(document.documentElement).colorScheme.startsWith("dark");
    return window.vegaEmbed(place, spec, { ast: true, actions: false, renderer: "svg", config: themeConfig(), tooltip: { theme: dark ? "dark" : "light" } });
  };
  const lines = (text, most) => text.split(" ").reduce((found, word) => {
    const last = found[found.length - 1];
    if (last !== undefined && last.length + word.length < most) found[found.length - 1] = `${last} ${word}`;
    else found.push(word);
    return found;
  }, []);
  const figures = data.charts.map((chart) => ({ chart, box: document.getElementById(`figure-${chart.name}`), drawn: null, wanted: null, seen: false, view: null, turn: 0 }));
  const embed = async (each) => {
    const turn = (each.turn += 1);
    const { chart, box, wanted } = each;
    const { rows, left } = selectRows(chart, wanted);
    each.drawn = wanted;
    each.rows = rows;
    const place = box.querySelector(".plot");
    const note = box.querySelector(".left");
    box.querySelectorAll(".save button").forEach((button) => { button.disabled = rows.length === 0; });
    note.textContent = rows.length === 0 ? `Nothing to draw: ${chart.absent}.` : left > 0 ? `${left} more groups of rows do not fit: use the filters to see them.` : "";
    if (each.view) { each.view.finalize(); each.view = null; }
    place.replaceChildren();
    if (rows.length === 0) return;
    const found = await drawInto(place, chart, rows, place.clientWidth);
    if (turn !== each.turn) { found.finalize(); return; }
    each.view = found.view;
    const svg = place.querySelector("svg");
    if (svg) { svg.setAttribute("role", "img"); svg.setAttribute("aria-label", `${chart.title}. ${chart.reads}`); }
    place.removeAttribute("role");
    box.dataset.drawn = String(rows.length);
  };
  const redraw = (rows) => figures.forEach((each) => {
    each.wanted = rows;
    if (each.seen) embed(each);
  });
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
      const { view, finalize } = await drawInto(make("div"), chart, selectRows(chart, each.wanted).rows, width, caption);
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
        const { rows } = selectRows(chart, each.wanted);
        save(`${chart.name}.csv`, csv(chart.columns.filter((name) => rows.some((row) => at(name, row) !== null) || name === "epsilon"), rows), "text/csv");
      },
    };
    box.querySelectorAll(".save button").forEach((button) => button.addEventListener("click", actions[button.dataset.save]));
  });
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (Math.abs(window.innerWidth - width) < 40) return;
    width = window.innerWidth;
    figures.forEach((each) => { each.drawn = null; if (each.seen) embed(each); });
  });

  // ---- light and dark
  const theme = document.getElementById("theme");
  const prefers = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (prefers.matches ? "dark" : "light")) === "dark";
  const labelTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", `Switch to the ${isDark() ? "light" : "dark"} theme`); };
  const repaint = () => { labelTheme(); figures.forEach((each) => { each.drawn = null; if (each.seen) embed(each); }); };
  theme.hidden = false;
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; repaint(); });
  prefers.addEventListener("change", repaint);
  labelTheme();

  // ---- the glossary, on hover and on focus
  const tip = document.getElementById("tip");
  const meaning = (target) => {
    if (target.dataset.tip) return target.dataset.tip;
    const name = target.dataset.term;
    const found = kinds.get(name);
    if (data.glossary[name] && !target.closest("th[data-name]")) return data.glossary[name];
    return found ? [found.meaning, found.direction].filter(Boolean).join(". ") : "";
  };
  let described = null;
  const hideTip = () => { tip.hidden = true; if (described) described.removeAttribute("aria-describedby"); described = null; };
  const showTip = (event) => {
    const target = event.target instanceof Element ? event.target.closest("[data-term], [data-tip]") : null;
    if (target === described) return;
    hideTip();
    if (!target || !meaning(target)) return;
    described = target;
    tip.textContent = meaning(target);
    tip.hidden = false;
    target.setAttribute("aria-describedby", "tip");
    const box = target.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(box.left, window.innerWidth - tip.offsetWidth - 8))}px`;
    const below = box.bottom + 6;
    tip.style.top = `${below + tip.offsetHeight > window.innerHeight ? Math.max(8, box.top - tip.offsetHeight - 6) : below}px`;
  };
  document.addEventListener("mouseover", showTip);
  document.addEventListener("focusin", showTip);
  document.addEventListener("scroll", hideTip, true);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

  if (table) refresh();
  document.documentElement.dataset.ready = "yes";
})();
