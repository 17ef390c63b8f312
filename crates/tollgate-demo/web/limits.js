// The table of what one may still do. Rows are changed in place: nothing jumps when figures move.

import { byId, element, number, write } from "./dom.js";
import { countdown, everySecond, exactly, serverNow } from "./time.js";

const WITHOUT_STORE = {
  allow: ["go", "goes on without being counted while the store is gone"],
  deny: ["stop", "stops while the store is gone"],
  local: ["local", "is counted on this machine alone while the store is gone"],
};

/** At this share a bar takes the accent. */
const NEARLY = 0.8;

const shown = new Map();
let known = [];
const refusals = new Map();

/** The rows as the server last told them, for whoever explains an answer. */
export const rows = () => known;

export function showLimits({ up, rows: told }) {
  // What was counted before the store went is still true: nothing is counted meanwhile.
  const before = new Map(known.map((row) => [row.key, row]));
  known = told.map((row) => (row.used === null ? { ...before.get(row.key), ...policy(row) } : row));
  const keys = known.map((row) => row.key);
  for (const key of shown.keys()) if (!keys.includes(key)) shown.delete(key);
  const body = byId("rows");
  const nodes = known.map((row) => {
    if (!shown.has(row.key)) shown.set(row.key, build(row));
    return shown.get(row.key);
  });
  const changed = nodes.length !== body.children.length || nodes.some((node, at) => node.tr !== body.children[at]);
  if (changed) body.replaceChildren(...nodes.map((node) => node.tr));
  body.classList.toggle("gone", !up);
  known.forEach(update);
}

/** A policy refused until then: its countdown runs to that. */
export function refused(policies, until) {
  for (const name of policies) refusals.set(name, until);
  known.forEach(update);
}

/**
 * When a refusal ends, to the millisecond: its header has whole seconds, rounded up. A policy that refuses until its window ends has
 * told when that is.
 */
export function exactEnd(policies, until) {
  const ends = known.filter((row) => policies.includes(row.policy)).map((row) => row.reset_at);
  return ends.find((end) => end <= until && until - end < 2000) ?? until;
}

export function forgetRefusals() {
  refusals.clear();
}

const policy = ({ policy, key, window_ms, on_outage }) => ({ policy, key, window_ms, on_outage });

function build(row) {
  const tr = element("tr");
  tr.role = "row";
  const name = element("th");
  name.scope = "row";
  name.role = "rowheader";
  const label = element("span", "", "label");
  label.append(element("span", row.policy), element("wbr"), element("span", row.key.slice(row.policy.length), "soft"));
  const bar = element("span", "", "bar");
  const fill = element("span", "", "fill");
  bar.append(fill);
  const cell = element("div", "", "name");
  cell.append(label, bar);
  name.append(cell);
  const [used, resets, word] = [element("td", "", "number"), element("td", "", "number"), element("td", "", "number")];
  const [text, title] = WITHOUT_STORE[row.on_outage] ?? [row.on_outage, ""];
  const mark = element("span", text, `word ${text}`);
  mark.title = title;
  word.append(mark);
  for (const cell of [used, resets, word]) cell.role = "cell";
  tr.append(name, used, resets, word);
  return { tr, fill, used, resets };
}

function update(row) {
  const node = shown.get(row.key);
  if (!node) return;
  const { used = null, quota = null } = row;
  write(node.used, used === null ? "not known" : `${number(used)} of ${number(quota)}`);
  const share = used === null ? 0 : quota === 0 ? 1 : Math.min(1, used / quota);
  node.fill.style.transform = `scaleX(${share})`;
  node.tr.classList.toggle("nearly", share >= NEARLY && row.remaining !== 0);
  node.tr.classList.toggle("refuses", row.remaining === 0);
  tick(row, node);
}

function tick(row, node) {
  const until = refusals.get(row.policy);
  const isRefusing = until > serverNow() && row.remaining === 0;
  const at = isRefusing ? until : row.reset_at;
  const isKnown = at && at > serverNow() - 1000;
  write(node.resets, isKnown ? countdown(at) : "–");
  node.resets.title = isKnown ? exactly(at) : "";
}

everySecond(() => known.forEach((row) => shown.has(row.key) && tick(row, shown.get(row.key))));
