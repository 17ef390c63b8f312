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
  JSON.stringify({ commits: Array.from({ length: 50 }, () => ({ id: randomUUID(), message: "a line\r\nand another" })) }),
];

// A digit of hex above nine is the same in either case, which is one bit.
const lettersOf = (signature) => signature.slice("sha256=".length).replace(/[0-9]/g, "").length;

test("@octokit/webhooks-methods", async () => {
  for (const body of bodies) {
    const secret = randomBytes(20).toString("hex");
    const signature = await sign(secret, body);
    const asked = { scheme: "github", secrets: [secret], body, signature, flips: true };
    const rotated = { ...asked, secrets: [randomBytes(20).toString("hex"), secret], flips: false };
    const foreign = { ...rotated, secrets: [randomBytes(20).toString("hex")] };
    const [genuine, either, other] = ask([asked, rotated, foreign]);
    assert.deepEqual([genuine.verified, either.verified, other.verified], [true, true, false]);
    // Of each bit of the body and of the header.
    assert.deepEqual(genuine.flips, [0, lettersOf(signature)]);
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
    const asked = { scheme: "standard", secrets: [secret], id, timestamp, body, signature, now: sent.getTime(), flips: true };
    const other = new Webhook(`whsec_${randomBytes(32).toString("base64")}`).sign(id, sent, body);
    const several = { ...asked, signature: `${other} ${signature}` };
    const forged = [
      { ...asked, signature: other },
      { ...asked, id: `${id}0` },
      { ...asked, timestamp: (Number(timestamp) + 1).toString() },
      { ...asked, now: sent.getTime() + 302_000 },
      { ...asked, now: sent.getTime() - 302_000 },
    ].map((forged) => ({ ...forged, flips: false }));
    const [genuine, either, ...others] = ask([asked, { ...several, flips: false }, ...forged]);
    assert.deepEqual([genuine.verified, either.verified], [true, true]);
    assert.ok(others.every(({ verified }) => !verified));
    // Of each bit of the body and of the three headers.
    assert.deepEqual(genuine.flips, [0, 0, 0, 0]);
    assert.equal(genuine.signature, signature);
    const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": genuine.signature };
    assert.doesNotThrow(() => webhook.verify(body, headers, { jsonParse: false }));
  }
});
