// The few things that every part does with the document.

export const byId = (id) => document.getElementById(id);

export function element(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** Writes only what differs, so that nothing is announced or laid out anew without need. */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Says something to a screen reader, once it has finished what it says. */
export function announce(text) {
  write(byId("announcer"), text);
}

const figures = new Intl.NumberFormat("en");

export const number = (value) => figures.format(value);
