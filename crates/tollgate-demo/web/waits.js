// Until when each request has to wait because a limit refused it. An outage is no reason to wait: it may end at any moment.

import { everySecond, serverNow } from "./time.js";

const waits = new Map();
const watchers = [];
const tell = () => watchers.forEach((watcher) => watcher());

/** Until when this request is refused; 0 if it is not. */
export function waitsUntil(method, path) {
  const until = waits.get(`${method} ${path}`) ?? 0;
  return until > serverNow() ? until : 0;
}

/** Notes a refusal, and calls `back` at the moment the same request passes again. */
export function hold(method, path, until, back) {
  waits.set(`${method} ${path}`, until);
  tell();
  const after = until - serverNow();
  // A timer holds 24 days at most; who waits longer has left the page.
  if (after >= 2 ** 31) return;
  setTimeout(() => {
    if (waits.get(`${method} ${path}`) !== until) return;
    waits.delete(`${method} ${path}`);
    tell();
    back();
  }, after);
}

/** Whoever asks now is somebody else. */
export function forgetWaits() {
  waits.clear();
  tell();
}

/** Calls back when a wait begins or ends, and each second for the countdowns. */
export function onWaits(watcher) {
  watchers.push(watcher);
  everySecond(watcher);
}
