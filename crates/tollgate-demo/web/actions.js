// The buttons: what each sends, and when it may be pressed again.

import { isShown, showBody, showFailure, showHead, showSaid } from "./answer.js";
import { announce, byId, element, write } from "./dom.js";
import { events } from "./events.js";
import { exactEnd, refused } from "./limits.js";
import { countdown, serverNow, wait } from "./time.js";
import { hold, onWaits, waitsUntil } from "./waits.js";

const BURST = 25;
const PROJECT = "tollgate";
const question = () => byId("question").value.trim() || "What is Tollgate?";
const ask = () => ["POST", "/api/ask", { project: PROJECT, question: question() }];

const ACTIONS = [
  { id: "ask", label: "Ask", hint: "five limits at once", run: () => one(...ask()), path: "/api/ask" },
  { id: "chat", label: "Chat", hint: "streamed", run: chat, path: "/api/chat" },
  { id: "burst", label: `Send ${BURST} at once`, hint: "past the limit", run: burst, path: "/api/ask" },
  { id: "look-up", label: "Look up", hint: "signed in only", run: () => one("POST", "/api/lookups"), path: "/api/lookups" },
  { id: "publish", label: "Publish", hint: "signed in only", run: () => one("POST", "/api/publishes"), path: "/api/publishes" },
  {
    id: "replay",
    label: "Replay a webhook twice",
    hint: "the second is a copy",
    run: () => one("POST", "/api/webhook-replays", {}),
    path: "/api/webhook-replays",
    offer: "webhook_replays",
  },
];

const busy = new Set();
const buttons = new Map();

/** Shows the buttons that lead somewhere on this server. */
export function offer(offers) {
  const wanted = ACTIONS.filter((action) => !action.offer || offers[action.offer]);
  const nodes = wanted.map((action) => {
    if (!buttons.has(action)) buttons.set(action, build(action));
    return buttons.get(action);
  });
  const group = byId("buttons");
  if (group.children.length !== nodes.length) group.replaceChildren(...nodes);
}

/** Sends one request, shows its answer, and returns whether it passed. */
export const send = (method, path, body) => guarded(() => one(method, path, body));

function build(action) {
  const button = element("button", "", "action");
  button.type = "button";
  button.id = action.id;
  const hint = element("span", action.hint, "hint");
  // The countdown changes each second: a screen reader is told once, by the announcement.
  hint.ariaHidden = "true";
  button.append(element("span", action.label), hint);
  button.addEventListener("click", () => press(action));
  return button;
}

async function press(action) {
  // A button that waits keeps its focus, so it is not disabled: it only does nothing.
  if (busy.has(action) || waitsUntil("POST", action.path)) return;
  busy.add(action);
  await guarded(action.run);
  busy.delete(action);
}

async function guarded(run) {
  try {
    return await run();
  } catch (error) {
    showFailure(`No answer: ${error.message}`);
    announce("The server gave no answer.");
    return false;
  }
}

function update(button, action) {
  const until = waitsUntil("POST", action.path);
  button.ariaDisabled = String(until !== 0);
  write(button.lastChild, until ? `again in ${countdown(until)}` : action.hint);
}

onWaits(() => buttons.forEach(update));

function request(method, path, body, accept = "application/json") {
  const headers = { accept };
  if (body !== undefined) headers["content-type"] = "application/json";
  return fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
}

/** What there is to show of an answer, before its body. */
function head(method, path, response, began) {
  const retryAfter = response.headers.get("retry-after");
  const at = serverNow();
  const isMetered = path !== "/api/store" && path !== "/api/visitor" && path !== "/api/webhook-replays";
  return {
    method,
    path,
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers],
    ms: Math.round(performance.now() - began),
    at,
    retryAt: retryAfter === null ? null : at + Number(retryAfter) * 1000,
    isMetered,
    isUncounted: response.ok && isMetered && !response.headers.has("ratelimit"),
    problem: null,
  };
}

async function one(method, path, body) {
  const began = performance.now();
  const response = await request(method, path, body);
  await finish(head(method, path, response, began), response);
  return response.ok;
}

async function finish(exchange, response, summary) {
  const text = await response.text();
  const json = parsed(text);
  if (response.headers.get("content-type")?.startsWith("application/problem+json")) exchange.problem = json;
  const policies = exchange.problem?.["violated-policies"] ?? [];
  if (exchange.retryAt !== null) exchange.retryAt = exactEnd(policies, exchange.retryAt);
  showHead(exchange, summary);
  showBody(text);
  showSaid(...said(json));
  settle(exchange);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function said(json) {
  if (json?.answer) return [{ text: json.answer, from: json.passages.map(({ page }) => page).join(", ") }];
  if (json?.edition) return [{ text: `Edition ${json.edition} is live: ${json.pages} pages, ${json.passages} passages.` }];
  if (json?.repository) return [{ text: `The repository ${json.repository} has ${json.pages.length} pages.` }];
  if (json && "first" in json && "second" in json) {
    const words = (answer) => (typeof answer === "string" ? answer : JSON.stringify(answer));
    return [{ text: `The first delivery: ${words(json.first)}\n\nThe second: ${words(json.second)}` }];
  }
  if (!Array.isArray(json?.passages)) return [];
  const [best] = json.passages;
  return [best ? { text: best.text, from: best.page } : { text: "No page of this site speaks of that." }];
}

/** Remembers until when a limit refuses, and tells those who do not see. */
function settle({ method, path, status, statusText, retryAt, problem, isUncounted }) {
  if (status === 429 && retryAt !== null) {
    refused(problem?.["violated-policies"] ?? [], retryAt);
    hold(method, path, retryAt, () => announce(`${labelOf(path)} is possible again.`));
    announce(`Refused: ${status}. It passes again in ${wait(retryAt)}.`);
  } else {
    announce(`${status} ${statusText}${isUncounted ? ", not counted" : ""}.`);
  }
}

const labelOf = (path) => ACTIONS.find((action) => action.path === path)?.label ?? "Signing in";

async function chat() {
  const began = performance.now();
  const response = await request("POST", "/api/chat", { message: question() }, "text/event-stream");
  const exchange = head("POST", "/api/chat", response, began);
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return finish(exchange, response);
  showHead(exchange);
  let [text, raw, from] = ["", "", ""];
  const arrived = (chunk) => {
    raw += chunk;
    if (isShown(exchange)) showBody(raw);
  };
  for await (const { event, data } of events(response, arrived)) {
    const told = JSON.parse(data);
    if (event === "text") text += told.text;
    if (event === "summary") from = told.sources.join(", ");
    if (event === "failed") text += `\n(${told.detail})`;
    if (isShown(exchange)) showSaid({ text, from });
  }
  settle(exchange);
}

async function burst() {
  const began = performance.now();
  const [method, path, body] = ask();
  const sent = Array.from({ length: BURST }, () => request(method, path, body));
  const responses = await Promise.all(sent);
  const counts = new Map();
  for (const { status } of responses) counts.set(status, (counts.get(status) ?? 0) + 1);
  const words = { 200: "allowed", 429: "refused", 503: "stopped" };
  const summary = [...counts].map(([status, count]) => `${count} ${words[status] ?? status}`).join(", ");
  const shown = responses.findLast(({ status }) => status !== 200) ?? responses.at(-1);
  await Promise.all(responses.filter((response) => response !== shown).map((response) => response.body?.cancel()));
  await finish(head(method, path, shown, began), shown, `${BURST} sent: ${summary}`);
}
