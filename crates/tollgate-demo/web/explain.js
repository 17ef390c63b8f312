// An answer in three plain sentences: what decided, under which key, and when the same request would pass.

import { rows } from "./limits.js";
import { exactly, serverNow, wait } from "./time.js";

export function explain(exchange) {
  if (exchange.status === 429) return refused(exchange);
  if (exchange.status === 503) return stopped(exchange);
  if (exchange.status === 401) return unknown();
  if (exchange.status >= 400) return wrong(exchange);
  return passed(exchange);
}

/** The names of the policies that an answer speaks of. */
export function policiesOf(exchange) {
  const value = exchange.headers.find(([name]) => name === "ratelimit-policy")?.[1] ?? "";
  return [...value.matchAll(/"([^"]+)";q=/g)].map(([, name]) => name);
}

/** One policy has a key for each account path; otherwise there is one key of a name. */
function keyOf(policy, path, method) {
  const named = rows().filter((row) => row.policy === policy);
  if (named.length < 2) return named[0]?.key;
  const account = { POST: "/sign-in", DELETE: "/sign-out", GET: "/session" }[method];
  return named.find((row) => row.key.endsWith(account))?.key;
}

const list = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);

function keys(policies, { path, method }) {
  const found = policies.map((name) => keyOf(name, path, method)).filter(Boolean);
  if (!found.length) return "Its key is not among those shown here.";
  return found.length === 1 ? `Its key is ${found[0]}.` : `Their keys are ${list(found)}.`;
}

function refused(exchange) {
  const policies = exchange.problem?.["violated-policies"] ?? [];
  if (!policies.length) return [exchange.problem?.detail ?? "A limit is reached.", "It names no policy.", again(exchange)];
  const others = policiesOf(exchange).length - policies.length;
  const none = others > 0 ? `, so the request is charged to none of its ${policies.length + others} limits` : "";
  const who = policies.length === 1 ? `The policy ${policies[0]}` : `The policies ${list(policies)}`;
  const spent = policies.length === 1 ? "it has" : "they have";
  return [`${who} refused it: ${spent} no unit left${none}.`, keys(policies, exchange), again(exchange)];
}

function again({ retryAt }) {
  if (retryAt === null) return "The same request would never pass: it asks for more than the limit ever allows.";
  if (retryAt <= serverNow()) return "The same request would pass now.";
  return `The same request would pass in ${wait(retryAt)}, at ${exactly(retryAt)}, if nothing else is spent.`;
}

function stopped({ path }) {
  const stops = rows().filter((row) => row.on_outage === "deny" && belongs(row, path));
  const names = list(stops.map((row) => row.policy));
  const guard = stops.length === 1 ? "stops without it, because what it guards" : "stop without it, because what they guard";
  return [
    `No limit is known to be reached: the store is gone, and ${names} ${guard} costs money.`,
    stops.length === 1 ? `Its key is ${stops[0].key}.` : `Their keys are ${list(stops.map((row) => row.key))}.`,
    "The same request passes as soon as the store is back; nothing was counted for this one.",
  ];
}

/** Whatever is answered takes its tokens out of one budget. */
const belongs = ({ policy }, path) => policy === "tokens" || policy.startsWith(path === "/api/chat" ? "playground" : "ask");

function unknown() {
  return [
    "No policy refused it: this action is for those who are signed in.",
    "It was charged to no key.",
    "The same request passes once you have signed in.",
  ];
}

function wrong({ problem, status }) {
  return [
    problem?.detail ? `The server says: ${problem.detail}.`.replace("..", ".") : `The server answered ${status}.`,
    "No policy refused it.",
    "The same request gets the same answer: it is not a matter of time.",
  ];
}

function passed(exchange) {
  const policies = policiesOf(exchange);
  if (policies.length) {
    const all = policies.length === 1 ? "One policy" : `All ${policies.length} policies`;
    const each = policies.length === 1 ? "it" : "each of them";
    const next = `The same request passes again while ${each} has units left.`;
    return [`${all} let it through: ${list(policies)}.`, keys(policies, exchange), next];
  }
  if (exchange.path === "/api/webhook-replays") {
    return [
      "No policy refused it: the server signed one push and delivered it to itself twice.",
      "Its key is the delivery's own id, which can be claimed once.",
      "The same request passes at any time; each delivery's answer says what became of it.",
    ];
  }
  if (!exchange.isMetered) return ["It is not metered.", "It was charged to no key.", "The same request always passes."];
  return [
    "The store is gone, and the policy of this action goes on without it: it was let through and not counted.",
    "So no key was charged.",
    "The same request passes as often as you like until the store is back.",
  ];
}
