// What the official packages of the senders sign verifies here, and what is signed here verifies there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { test } from "node:test";
import { sign, verify } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";

const ask = (lines) => {
  const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const output = execFileSync(process.env.TOLLGATE_SIGNATURES, { input, encoding: "utf8" });
  return output.trim().split("\n").map((line) => JSON.parse(line));
};

const bodies = [
  '{"ref":"refs/heads/main"}',
  '{\n  "zen": "Keep it logically awesome.",\n  "ü": "🦀 \\u0000"\n}\n',
  " ",
  "payload=%7B%22ref%22%3A1%7D",
  JSON.stringify({ commits: Array.from({ length: 500 }, () => ({ id: randomUUID(), message: "a line\r\nand another" })) }),
];

// Another text that differs in one bit, for each of some places.
const flipped = (text) =>
  [0, Math.floor(text.length / 2), text.length - 1].map((at) => {
    const other = String.fromCharCode(text.charCodeAt(at) ^ 1);
    return text.slice(0, at) + other + text.slice(at + 1);
  });

test("@octokit/webhooks-methods", async () => {
  for (const body of bodies) {
    const secret = randomBytes(20).toString("hex");
    const signature = await sign(secret, body);
    const asked = { scheme: "github", secrets: [secret], body, signature };
    const rotated = { ...asked, secrets: [randomBytes(20).toString("hex"), secret] };
    const foreign = { ...asked, secrets: [randomBytes(20).toString("hex")] };
    const forged = [
      foreign,
      ...flipped(body).map((body) => ({ ...asked, body })),
      ...flipped(signature).map((signature) => ({ ...asked, signature })),
    ];
    const [genuine, either, ...others] = ask([asked, rotated, ...forged]);
    assert.deepEqual([genuine.verified, either.verified], [true, true]);
    assert.ok(others.every(({ verified }) => !verified));
    assert.equal(genuine.signature, signature);
    assert.ok(await verify(secret, body, genuine.signature));
  }
});

test("standardwebhooks", () => {
  for (const body of bodies) {
    const secret = `whsec_${randomBytes(32).toString("base64")}`;
    const webhook = new Webhook(secret);
    const [id, sent] = [`msg_${randomUUID()}`, new Date()];
    const timestamp = Math.floor(sent.getTime() / 1000).toString();
    const signature = webhook.sign(id, sent, body);
    const asked = { scheme: "standard", secrets: [secret], id, timestamp, body, signature, now: sent.getTime() };
    const other = new Webhook(`whsec_${randomBytes(32).toString("base64")}`).sign(id, sent, body);
    const several = { ...asked, signature: `${other} ${signature}` };
    const forged = [
      { ...asked, signature: other },
      { ...asked, id: `${id}0` },
      { ...asked, timestamp: (Number(timestamp) + 1).toString() },
      { ...asked, now: sent.getTime() + 302_000 },
      { ...asked, now: sent.getTime() - 302_000 },
      ...flipped(body).map((body) => ({ ...asked, body })),
    ];
    const [genuine, either, ...others] = ask([asked, several, ...forged]);
    assert.deepEqual([genuine.verified, either.verified], [true, true]);
    assert.ok(others.every(({ verified }) => !verified));
    assert.equal(genuine.signature, signature);
    const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": genuine.signature };
    assert.doesNotThrow(() => webhook.verify(body, headers, { jsonParse: false }));
  }
});
