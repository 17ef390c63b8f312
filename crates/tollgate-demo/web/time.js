// The server's time, and times as people read them.

let ahead = 0;

/** Takes over the server's clock: countdowns must not depend on this machine's. */
export function sync(now) {
  ahead = now - Date.now();
}

export const serverNow = () => Date.now() + ahead;

const two = (value) => String(value).padStart(2, "0");

/** `0:41`, `12:05`, `11h 02m`: until an instant, rounded up, never below zero. */
export function countdown(at) {
  const seconds = Math.max(0, Math.ceil((at - serverNow()) / 1000));
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
  const minutes = Math.ceil(seconds / 60);
  return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
}

/** The same as a sentence has it. */
export function wait(at) {
  const seconds = Math.max(0, Math.ceil((at - serverNow()) / 1000));
  const say = (count, unit) => `${count} ${unit}${count === 1 ? "" : "s"}`;
  if (seconds < 120) return say(seconds, "second");
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return say(minutes, "minute");
  return `${say(Math.floor(minutes / 60), "hour")} and ${say(minutes % 60, "minute")}`;
}

export const exactly = (at) => new Date(at).toISOString().replace("T", " ").replace("Z", " UTC");

export const clockTime = (at) => new Date(at).toLocaleTimeString("en-GB");

/** Calls back now and each second while the page is seen. */
export function everySecond(callback) {
  callback();
  setInterval(() => document.hidden || callback(), 1000);
}
