// ---- light and dark
const theme = document.getElementById("theme");
const prefers = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (prefers.matches ? "dark" : "light")) === "dark";
const labelTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", `Switch to the ${isDark() ? "light" : "dark"} theme`); };
theme.hidden = false;
theme.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; labelTheme(); writeState(); });
prefers.addEventListener("change", labelTheme);
labelTheme();

// ---- the address keeps filters, order, theme and the open row: #section&dataset=acs&sort=-rank
const readFragment = () => {
  const [first, ...rest] = window.location.hash.slice(1).split("&");
  const anchor = first.includes("=") ? "" : first;
  return { anchor, state: new URLSearchParams((anchor === first ? rest : [first, ...rest]).join("&")) };
};
const writeState = () => {
  const state = new URLSearchParams();
  chosen.forEach((values, name) => values.forEach((value) => state.append(name, plain(name, value))));
  if (search && search.value) state.set("words", search.value);
  if (order.name !== null) state.set("sort", `${order.sign < 0 ? "-" : ""}${order.name}`);
  if (document.documentElement.dataset.theme) state.set("theme", document.documentElement.dataset.theme);
  if (opened !== null) state.set("row", at("_id", opened));
  const text = [readFragment().anchor, String(state)].filter(Boolean).join("&");
  if (text !== window.location.hash.slice(1)) window.history.replaceState(null, "", text ? `#${text}` : window.location.pathname + window.location.search);
};
const applyState = (state) => {
  chosen.clear();
  filters.forEach(({ name, values }) => {
    const wanted = new Set(state.getAll(name));
    const known = values.filter((value) => wanted.has(plain(name, value)));
    if (known.length) chosen.set(name, new Set(known));
  });
  search.value = state.get("words") ?? "";
  const sort = state.get("sort") ?? "";
  const name = sort.replace(/^-/, "");
  order = data.shown.includes(name) ? { name, sign: sort.startsWith("-") ? -1 : 1 } : { name: null, sign: 1 };
  markOrder();
  if (["light", "dark"].includes(state.get("theme"))) document.documentElement.dataset.theme = state.get("theme");
  labelTheme();
  refresh();
  const row = state.has("row") ? column("_id").indexOf(state.get("row")) : -1;
  if (row >= 0) { opened = row; details(row); } else if (dialog.open) dialog.close();
  if (state.has("row") && row < 0) document.getElementById("count").textContent += "; the linked row is not on this page";
};
if (table) window.addEventListener("hashchange", () => {
  const { anchor, state } = readFragment();
  if (anchor && String(state) === "") writeState();
  else applyState(state);
});

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

if (table) applyState(readFragment().state);
const start = readFragment();
if (start.anchor && String(start.state)) document.getElementById(start.anchor)?.scrollIntoView();
document.documentElement.dataset.ready = "yes";
