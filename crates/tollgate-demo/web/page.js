// Puts the parts together. Everything shown comes from the server; nothing is staged here.

import { offer, send } from "./actions.js";
import { showActivity } from "./chart.js";
import { byId, write } from "./dom.js";
import { connectIdentity, showIdentity } from "./identity.js";
import { forgetRefusals, showLimits } from "./limits.js";
import { watch } from "./live.js";
import { forgetWaits } from "./waits.js";

const KINDS = { memory: "in memory, by this process alone", redis: "in Redis", upstash: "in Upstash's Redis" };
const GONE = "The store is cut off: what may go on is not counted, what costs money stops.";

let counted = "";
let isUp = true;

const stream = watch({
  hello(told) {
    counted = `Each request is counted ${KINDS[told.store] ?? `in ${told.store}`}.`;
    if (told.offers.model) counted += ` Answers are worded by ${told.offers.model}.`;
    byId("store").hidden = !told.offers.fault_switch;
    showIdentity(told);
    offer(told.offers);
  },
  limits(told) {
    isUp = told.up;
    byId("store").ariaChecked = String(isUp);
    write(byId("store").lastElementChild, isUp ? "on" : "off");
    notice(isUp ? counted : GONE, !isUp);
    showLimits(told);
    appear();
  },
  activity: showActivity,
  lost: () => {
    notice("The live figures are interrupted; connecting again…", true);
    appear();
  },
});

/** From the first figures on, or where there are none to come. */
const appear = () => document.querySelector("main").classList.remove("waiting");

function notice(text, isWarning) {
  write(byId("notice"), text);
  byId("notice").classList.toggle("warning", isWarning);
}

byId("store").addEventListener("click", () => send("PUT", "/api/store", { up: !isUp }));

// Whoever one is changes every key: the stream begins anew, and what somebody else was refused is no matter.
connectIdentity(async (method, path, body) => {
  if (!(await send(method, path, body))) return;
  forgetWaits();
  forgetRefusals();
  stream.reopen();
});
