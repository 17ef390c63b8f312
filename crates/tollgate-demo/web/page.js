// Shows what the server says, and nothing else.

const FIELDS = ["retry-after", "ratelimit-policy", "ratelimit", "x-request-id"];
const ON_OUTAGE = { allow: "goes on, not counted", deny: "stops", local: "counts here alone" };

const byId = (id) => document.getElementById(id);

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

const number = new Intl.NumberFormat();

function used(limit) {
  return limit.used === null ? "not known" : `${number.format(limit.used)} of ${number.format(limit.quota)}`;
}

function until(at) {
  if (at === null) return "";
  const seconds = Math.max(0, Math.round((at - Date.now()) / 1000));
  if (seconds < 120) return `in ${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`;
}

function row(limit) {
  const made = document.createElement("tr");
  const policy = element("td", limit.key);
  const resets = element("td", until(limit.reset_at));
  if (limit.reset_at !== null) resets.title = new Date(limit.reset_at).toLocaleString();
  const count = element("td", used(limit));
  if (limit.remaining === 0) count.className = "refused";
  made.append(policy, count, resets, element("td", ON_OUTAGE[limit.on_outage] ?? limit.on_outage));
  return made;
}

async function showLimits() {
  try {
    const response = await fetch("/api/limits");
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const limits = await response.json();
    byId("limits").replaceChildren(...limits.map(row));
    const gone = limits.some((limit) => limit.used === null);
    byId("store").textContent = gone ? "The store is gone: the figures are not known." : "";
  } catch (error) {
    byId("store").textContent = `The limits cannot be read: ${error.message}.`;
  }
}

function passage({ text, page }) {
  const made = element("blockquote", text);
  made.append(element("footer", `from the page ${page}`));
  return made;
}

function showAnswer(response, body, ms) {
  const status = byId("status");
  status.textContent = `${response.status} ${response.statusText} in ${ms} ms`;
  status.className = response.ok ? "" : "refused";
  const fields = FIELDS.filter((name) => response.headers.has(name));
  byId("fields").replaceChildren(
    ...fields.flatMap((name) => [element("dt", name), element("dd", response.headers.get(name))]),
  );
  const passages = body.passages ?? [];
  const said = passages.length ? passages.map(passage) : [element("p", body.detail ?? "No page speaks of that.")];
  byId("passages").replaceChildren(...said);
}

byId("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.target.querySelector("button");
  button.disabled = true;
  try {
    const asked = performance.now();
    const response = await fetch("/api/ask", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ project: "tollgate", question: byId("question").value }),
    });
    const body = await response.json();
    showAnswer(response, body, Math.round(performance.now() - asked));
  } catch (error) {
    byId("status").textContent = `No answer: ${error.message}.`;
  }
  button.disabled = false;
  await showLimits();
});

await showLimits();
setInterval(() => document.hidden || showLimits(), 5000);
