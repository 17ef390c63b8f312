// Who one is to this server: as it counts, and whom one is signed in as.

import { byId, element, write } from "./dom.js";
import { countdown } from "./time.js";
import { onWaits, waitsUntil } from "./waits.js";

const ORG = "acme";
const PATH = "/api/session";
let org = null;

export function showIdentity(hello) {
  org = hello.org;
  write(byId("visitor"), hello.visitor);
  write(byId("org"), org ? `signed in as ${org}` : "not signed in");
  showSign();
  byId("roles").hidden = hello.roles.length === 0;
  const choices = [["", "yourself"], ...hello.roles.map(({ name, visitor }) => [name, `${name} · ${visitor}`])];
  const select = byId("role");
  if (select.children.length !== choices.length) {
    select.replaceChildren(
      ...choices.map(([value, text]) => {
        const option = element("option", text);
        option.value = value;
        return option;
      }),
    );
  }
  select.value = hello.acts_as ?? "";
}

/** The requests behind the two controls; `send` makes one, shows its answer and takes over who one is then. */
export function connectIdentity(send) {
  byId("sign").addEventListener("click", () => {
    if (waitsUntil(method(), PATH)) return;
    if (org) send("DELETE", PATH);
    else send("POST", PATH, { org: ORG });
  });
  byId("role").addEventListener("change", ({ target }) => send("PUT", "/api/visitor", { acts_as: target.value || null }));
  onWaits(showSign);
}

const method = () => (org ? "DELETE" : "POST");

function showSign() {
  const until = waitsUntil(method(), PATH);
  const text = org ? "Sign out" : `Sign in as ${ORG}`;
  write(byId("sign"), until ? `again in ${countdown(until)}` : text);
  byId("sign").ariaDisabled = String(until !== 0);
}
