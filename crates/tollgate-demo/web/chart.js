// The last five minutes as stacked columns, one for each step that the server counts in.

import { byId, number, write } from "./dom.js";
import { everySecond, serverNow } from "./time.js";

const KINDS = ["allowed", "refused", "let_through", "stopped"];
const WORDS = ["allowed", "refused", "let through without being counted", "stopped because the store was gone"];
const [WIDTH, HEIGHT] = [600, 96];
const SVG = "http://www.w3.org/2000/svg";

let told = { step_ms: 5000, span_ms: 300000, steps: [] };
let drawn = "";

export function showActivity(activity) {
  told = activity;
  draw();
}

function draw() {
  const { step_ms, span_ms, steps } = told;
  const first = Math.floor(serverNow() / step_ms) * step_ms - span_ms + step_ms;
  const seen = steps.filter(({ at }) => at >= first);
  const state = JSON.stringify([first, seen]);
  if (state === drawn || (!seen.length && drawn === "[]")) return;
  drawn = seen.length ? state : "[]";

  const sum = (step) => KINDS.reduce((total, kind) => total + step[kind], 0);
  const most = Math.max(0, ...seen.map(sum));
  const pitch = WIDTH / (span_ms / step_ms);
  byId("chart").replaceChildren(
    ...seen.flatMap((step) => column(step, ((step.at - first) / step_ms) * pitch, pitch, (HEIGHT - 2) / most)),
  );
  write(byId("most"), most ? `at most ${number(most)} in ${step_ms / 1000} s` : "");

  const totals = KINDS.map((kind) => seen.reduce((total, step) => total + step[kind], 0));
  [...byId("legend").children].forEach((item, at) => write(item.lastChild, number(totals[at])));
  const parts = totals.flatMap((total, at) => (total ? [`${number(total)} ${WORDS[at]}`] : []));
  const text = parts.length ? `In the last five minutes: ${parts.join(", ")}.` : "Nothing was checked in the last five minutes.";
  byId("chart").ariaLabel = text;
}

function column(step, x, pitch, unit) {
  let top = HEIGHT;
  return KINDS.flatMap((kind) => {
    if (!step[kind]) return [];
    const height = step[kind] * unit;
    top -= height;
    const rect = document.createElementNS(SVG, "rect");
    const box = { x: x + 1, y: top + 0.5, width: pitch - 2, height: Math.max(1, height - 1) };
    for (const [name, value] of Object.entries(box)) rect.setAttribute(name, value.toFixed(2));
    rect.setAttribute("class", kind.replace("_", "-"));
    return [rect];
  });
}

everySecond(draw);
