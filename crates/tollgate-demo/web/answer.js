// The last answer as it came over the wire: status, fields, body, and what it says.

import { byId, element, write } from "./dom.js";
import { explain } from "./explain.js";
import { clockTime, exactly } from "./time.js";

let last = null;

/** Begins to show an answer that is still coming. */
export function showHead(exchange, summary) {
  last = exchange;
  const status = byId("status");
  write(status, `${exchange.status} ${exchange.statusText}`);
  status.className = `mono ${kind(exchange)}`;
  const note = exchange.isUncounted ? " · not counted" : "";
  const took = byId("took");
  write(took, `${summary ?? `${exchange.method} ${exchange.path}`} · ${exchange.ms} ms · ${clockTime(exchange.at)}${note}`);
  took.title = exactly(exchange.at);
  byId("fields").replaceChildren(
    ...exchange.headers.flatMap(([name, value]) => [element("dt", name), element("dd", value)]),
  );
  byId("raw").hidden = false;
  byId("explain").hidden = false;
  byId("said").replaceChildren();
  showBody("");
  fillExplanation();
}

/** Whether it is this one that is shown: another may have been asked for while it is still coming. */
export const isShown = (exchange) => last === exchange;

export function showBody(text) {
  write(byId("body"), text);
}

/** What a person wants to read of it: paragraphs with where they are from. */
export function showSaid(...passages) {
  byId("said").replaceChildren(
    ...passages.map(({ text, from }) => {
      const quote = element("blockquote", unwrapped(text));
      if (from) quote.append(element("footer", `from ${from}`));
      return quote;
    }),
  );
}

/** Markdown breaks its lines anywhere; a paragraph is one line here, and lists and fenced code stay as they are. */
function unwrapped(text) {
  const parts = text.split("```");
  const flowing = (part) => part.replace(/(?<!\n)\n(?![\n\s|*-]|\d+\.|$)/g, " ");
  return parts.map((part, at) => (at % 2 ? part : flowing(part))).join("```");
}

export function showFailure(text) {
  write(byId("status"), text);
  byId("status").className = "mono refused";
}

function kind({ status }) {
  if (status === 429 || status >= 500) return "refused";
  return status < 400 ? "passed" : "";
}

function fillExplanation() {
  if (last && byId("explain").open) {
    byId("sentences").replaceChildren(...explain(last).map((sentence) => element("li", sentence)));
  }
}

byId("explain").addEventListener("toggle", fillExplanation);
