// Server-sent events out of a response's body: EventSource cannot send a question.

/** The events of a response, each `{ event, data }`, and its text as it came by through `raw`. */
export async function* events(response, raw) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    raw(value);
    buffer += value;
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop();
    for (const block of blocks) {
      const event = parse(block);
      if (event.data) yield event;
    }
  }
}

function parse(block) {
  const found = { event: "message", data: "" };
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    const [name, value] = [line.slice(0, at), line.slice(at + 1).replace(/^ /, "")];
    if (name === "event") found.event = value;
    if (name === "data") found.data += value;
  }
  return found;
}
