// What the server tells by itself: one stream while the page is seen, opened again whenever it ends.

import { sync } from "./time.js";

const AGAIN_MS = 5000;
const EVENTS = ["hello", "limits", "activity", "beat"];

/** Calls `handlers[event](data)` for each event, and `handlers.lost()` when the stream breaks. */
export function watch(handlers) {
  let source = null;
  let again = 0;

  function open() {
    close();
    source = new EventSource("/api/live");
    for (const name of EVENTS) {
      source.addEventListener(name, ({ data }) => {
        const told = JSON.parse(data);
        sync(told.now);
        handlers[name]?.(told);
      });
    }
    source.addEventListener("error", () => {
      handlers.lost();
      // The browser connects again by itself, but not after an answer that is no stream: then there were too many.
      if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN_MS);
    });
  }

  function close() {
    clearTimeout(again);
    source?.close();
    source = null;
  }

  // A page that nobody sees holds no place on the server.
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  if (!document.hidden) open();
  return { reopen: open };
}
