// Who one is to this server: as it counts, and whom one is signed in as.

import { byId, element, write } from "./dom.js";

const ORG = "acme";
let org = null;

export function showIdentity(hello) {
  org = hello.org;
  write(byId("visitor"), hello.visitor);
  write(byId("org"), org ? `signed in as ${org}` : "not signed in");
  write(byId("sign"), org ? "Sign out" : `Sign in as ${ORG}`);
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

/** Whether somebody is signed in. */
export const isSignedIn = () => org !== null;

/** The requests behind the two controls; `send` makes one and shows its answer. */
export function connectIdentity(send) {
  byId("sign").addEventListener("click", () =>
    org ? send("DELETE", "/api/session") : send("POST", "/api/session", { org: ORG }),
  );
  byId("role").addEventListener("change", ({ target }) => send("PUT", "/api/visitor", { acts_as: target.value || null }));
}
