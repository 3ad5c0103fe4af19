const data = JSON.parse(document.getElementById("data").textContent);
const size = data.size;
const PAGE = 50;
const PRINTED = 500;
const ALL_GROUPS = 400;
const PAUSE = 400;
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
const COUNTS = /^(success|expected_success|baseline|ceiling_|tightest_|best_possible$|best_attack_|promised$|gap_(attack|rows|threat|bound|open)|paper_(s|b|c)|against_(prior|rap)(_low|_high)?$)/;
const format = (name, value) => {
  if (name === "epsilon" && value === null) return "∞";
  if (value === null || value === undefined || value === "") return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && !COUNTS.test(name) && name !== "gap_closed") return String(value);
  const text = COUNTS.test(name) ? value.toFixed(1) : name === "gap_closed" ? `${(100 * value).toFixed(1)} %` : name === "normalised_advantage" ? value.toFixed(3) : String(Number(value.toPrecision(3)));
  return text.replace(/^-/, "−");
};

// ---- filters: any number of values of each column
const chosen = new Map();
const search = document.getElementById("search");
const plain = (name, value) => (name === "epsilon" && value === null ? "inf" : String(value ?? ""));
const filters = Array.from(document.querySelectorAll("details.filter"), (box) => {
  const name = box.dataset.column;
  const values = Array.from(new Set(column(name)));
  if (numeric(name)) values.sort((a, b) => (a ?? Infinity) - (b ?? Infinity));
  const inputs = values.map((value) => {
    const input = make("input", { type: "checkbox" });
    box.querySelector(".choices").append(make("label", { title: cut(format(name, value), 300) }, input, isolate(cut(format(name, value)) || "(empty)")));
    input.addEventListener("change", () => {
      const wanted = values.filter((_, index) => inputs[index].checked);
      if (wanted.length) chosen.set(name, new Set(wanted));
      else chosen.delete(name);
      refresh();
      writeState();
    });
    return input;
  });
  const show = () => {
    const wanted = chosen.get(name);
    inputs.forEach((input, index) => { input.checked = Boolean(wanted && wanted.has(values[index])); });
    const names = wanted ? values.filter((value) => wanted.has(value)).map((value) => cut(format(name, value), 20)) : [];
    box.querySelector("summary b").textContent = names.length === 0 ? "all" : names.length > 3 ? `${names.length} of ${values.length}` : names.join(", ");
  };
  return { name, values, box, show };
});
document.addEventListener("click", (event) => filters.forEach(({ box }) => { if (!box.contains(event.target)) box.open = false; }));
document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && filters.find(({ box }) => box.open);
  if (open) { open.box.open = false; open.box.querySelector("summary").focus(); }
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
  const wanted = Array.from(chosen);
  const rows = [];
  for (let row = 0; row < size; row += 1) {
    if (wanted.every(([name, values]) => values.has(at(name, row))) && words.every((word) => textOf(row).includes(word))) rows.push(row);
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
  const [low, high] = [`${name}_low`, `${name}_high`].map((end) => (end in data.cells ? at(end, row) : null));
  if (value !== null && low !== null && high !== null) return make("span", {}, text, make("small", {}, ` ${format(name, low)} – ${format(name, high)}`));
  if (name === "gap_closed" && at("tightest_mean", row) !== null) {
    const noGap = make("small", { "data-tip": data.flags["no-gap"].text }, text === "" ? "no gap" : text);
    if (text === "" && at("expected_success", row) !== null) return noGap;
    if (text !== "" && (at("flags", row) || "").split(" ").includes("no-gap")) return noGap;
  }
  if (name === "targets") return make("span", {}, isolate(text), make("span", { class: "narrow" }, isolate(String(at("dataset", row)))));
  return numeric(name) ? document.createTextNode(text) : isolate(text);
};
const draw = (most = PAGE) => {
  const body = make("tbody");
  const page = current.slice(first, first + most);
  page.forEach((row, index) => {
    const line = make("tr", { "data-row": String(row), "aria-rowindex": String(first + index + 2) });
    const label = `Details of ${cut(String(at("attack", row)))} on ${cut(String(at("targets", row)))}, ε ${format("epsilon", at("epsilon", row))}`;
    const link = make("a", { href: `#row=${at("_id", row)}`, class: "open", "aria-label": label, "aria-haspopup": "dialog" }, "+");
    line.append(make("td", {}, link));
    data.shown.forEach((name) => line.append(make("td", { "data-name": name, class: numeric(name) ? "number" : name === "flags" ? "wide" : "text" }, content(name, row))));
    body.append(line);
  });
  table.tBodies[0].replaceWith(body);
  table.setAttribute("aria-rowcount", String(current.length + 1));
  const last = Math.min(first + most, current.length);
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
  filters.forEach(({ show }) => show());
};
const markOrder = () => table.querySelectorAll("th[aria-sort]").forEach((th) => th.setAttribute("aria-sort", th.dataset.name !== order.name ? "none" : order.sign > 0 ? "ascending" : "descending"));
if (table) {
  const head = make("tr", {}, make("th", { scope: "col" }, make("span", { class: "hidden" }, "details")));
  data.shown.forEach((name) => {
    const button = make("button", { type: "button", "data-term": name }, data.titles[name] ?? name);
    const th = make("th", { scope: "col", "aria-sort": "none", "data-name": name, ...(numeric(name) ? { class: "number" } : {}) }, button, make("span", { class: "paper" }, data.titles[name] ?? name));
    button.addEventListener("click", () => {
      order = { name, sign: order.name === name ? -order.sign : 1 };
      markOrder();
      current = sortRows(current);
      first = 0;
      draw();
      writeState();
    });
    head.append(th);
  });
  table.tHead.append(head);
  table.addEventListener("click", (event) => {
    const line = event.target.closest("tbody tr");
    const link = event.target.closest("a");
    if (!line || (link && (event.ctrlKey || event.metaKey || event.shiftKey))) return;
    if (link) event.preventDefault();
    if (link || !String(window.getSelection())) openRow(Number(line.dataset.row));
  });
  document.getElementById("previous").addEventListener("click", () => { first = Math.max(0, first - PAGE); draw(); });
  document.getElementById("next").addEventListener("click", () => { first += PAGE; draw(); });
  document.getElementById("save").addEventListener("click", () => save("leaderboard-rows.csv", csv(data.columns.map((each) => each.name), current), "text/csv"));
  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => { refresh(); writeState(); }, 120); });
  document.getElementById("reset").addEventListener("click", () => {
    chosen.clear();
    search.value = "";
    refresh();
    writeState();
  });
  // Paper has no pages of 50 rows.
  window.addEventListener("beforeprint", () => draw(PRINTED));
  window.addEventListener("afterprint", () => draw());
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
  body.append(make("p", {}, make("a", { href: `#row=${at("_id", row)}` }, "Link to this row"), " (copy its address)"));
  const groups = [["Result", /^(rank|suite_rank|expected_success|scored_by|success|baseline|best_|normalised|gap_|above|seconds|repetitions|failures|skipped|error)/], ["Ceilings, in records", /^(ceiling_|tightest_)/], ["Paired comparisons", /^against_/], ["Printed in a paper", /^paper/], ["Score reliability", /^(promised|calibration)/], ["Setting of the game", /./]];
  const done = new Set(["flags", "facts"]);
  groups.forEach(([title, pattern]) => {
    const names = data.columns.map((each) => each.name).filter((name) => !done.has(name) && pattern.test(name));
    names.forEach((name) => done.add(name));
    names.sort((a, b) => b.startsWith("expected_success") - a.startsWith("expected_success"));
    const pairs = names.map((name) => [name, format(name, at(name, row)), [kinds.get(name).meaning, kinds.get(name).direction].filter(Boolean).join(". ")]).filter(([, value]) => value !== "");
    if (pairs.length) body.append(make("h3", {}, title), list(pairs));
  });
  const facts = JSON.parse(at("_facts", row));
  if (facts.length) body.append(make("h3", {}, "Facts about the mechanism"), list(facts));
  if (data.facts.length) body.append(make("h3", {}, "The run"), list(data.facts));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
};
let opened = null;
const openRow = (row) => {
  opened = row;
  details(row);
  writeState();
};
dialog.addEventListener("close", () => { opened = null; writeState(); });
dialog.querySelector("button.close").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
