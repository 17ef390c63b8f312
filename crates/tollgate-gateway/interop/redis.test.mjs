// The official TypeScript client: commands, values, pipelines, transactions, scripts.
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { test } from "node:test";
import { Redis } from "@upstash/redis";

const redis = Redis.fromEnv();
const prefix = `redis.test:${randomUUID()}`;
const key = (name) => `${prefix}:${name}`;

test("values of every kind come back as they went", async () => {
  const values = { text: "grüße", ok: "OK", empty: "", number: 7, float: 1.5, flag: true, list: [1, "OK", null], object: { a: "OK" } };
  for (const [name, value] of Object.entries(values)) {
    assert.equal(await redis.set(key(name), value), "OK");
    assert.deepEqual(await redis.get(key(name)), value, name);
  }
  assert.equal(await redis.get(key("missing")), null);
  assert.deepEqual(await redis.mget(key("ok"), key("missing"), key("number")), ["OK", null, 7]);
  assert.equal(await redis.ping(), "PONG");
  assert.equal(await redis.echo("OK"), "OK");
});

test("numbers keep every digit", async () => {
  await redis.set(key("big"), "9007199254740993");
  assert.equal(await redis.get(key("big")), "9007199254740993");
  assert.equal(await redis.incrbyfloat(key("sum"), 1.5), 1.5);
  assert.equal(await redis.incrby(key("count"), 41), 41);
  assert.equal(await redis.incr(key("count")), 42);
});

test("structures", async () => {
  await redis.hset(key("hash"), { a: 1, b: "OK" });
  assert.deepEqual(await redis.hgetall(key("hash")), { a: 1, b: "OK" });
  await redis.rpush(key("queue"), "a", "OK", 3);
  assert.deepEqual(await redis.lrange(key("queue"), 0, -1), ["a", "OK", 3]);
  await redis.zadd(key("board"), { score: 1.5, member: "x" }, { score: 2, member: "y" });
  assert.deepEqual(await redis.zrange(key("board"), 0, -1, { withScores: true }), ["x", 1.5, "y", 2]);
  assert.equal(await redis.zscore(key("board"), "x"), 1.5);
  const id = await redis.xadd(key("stream"), "*", { field: "value" });
  assert.deepEqual(await redis.xrange(key("stream"), "-", "+"), { [id]: { field: "value" } });
  let cursor = "0";
  const found = new Set();
  do {
    const [next, keys] = await redis.scan(cursor, { match: key("*"), count: 10 });
    keys.forEach((name) => found.add(name));
    cursor = next;
  } while (cursor !== "0");
  assert.ok(found.has(key("hash")) && found.has(key("board")));
});

test("a pipeline has a result or an error for each command", async () => {
  const pipeline = redis.pipeline();
  pipeline.set(key("p"), "text").incr(key("p")).get(key("p")).eval("return {1, 'OK', redis.status_reply('OK')}", [], []);
  const answers = await pipeline.exec({ keepErrors: true });
  assert.deepEqual(answers.map((answer) => answer.result ?? null), ["OK", null, "text", [1, "OK", "OK"]]);
  assert.match(answers[1].error, /^ERR value is not an integer/);
  await assert.rejects(redis.pipeline().incr(key("p")).exec(), /value is not an integer/);
});

test("a transaction runs as a whole or not at all", async () => {
  const key_ = key("tx");
  assert.deepEqual(await redis.multi().set(key_, 1).incr(key_).get(key_).exec(), ["OK", 2, 2]);
  const broken = redis.multi().incr(key_);
  broken.eval("not lua", [], []); // fails when it runs: the others stay
  await assert.rejects(broken.exec());
  assert.equal(await redis.get(key_), 3);
  const discarded = redis.multi().incr(key_);
  discarded.set(key_); // is not even queued
  await assert.rejects(discarded.exec());
  assert.equal(await redis.get(key_), 3);
});

test("transactions of many clients do not mix", async () => {
  const once = async () => {
    const [, , ...seen] = await redis.multi().del(key("mix")).set(key("mix"), 0).incr(key("mix")).incr(key("mix")).exec();
    assert.deepEqual(seen, [1, 2]);
  };
  await Promise.all(Array.from({ length: 50 }, once));
});

test("errors name what went wrong", async () => {
  await redis.set(key("text"), "x");
  await assert.rejects(redis.lpush(key("text"), 1), /WRONGTYPE/);
  const stranger = new Redis({ url: process.env.UPSTASH_REDIS_REST_URL, token: "wrong" });
  await assert.rejects(stranger.get("x"), /WRONGPASS/);
  const reader = new Redis({ url: process.env.UPSTASH_REDIS_REST_URL, token: process.env.UPSTASH_REDIS_REST_READONLY_TOKEN });
  assert.equal(await reader.get(key("text")), "x");
  await assert.rejects(reader.set(key("text"), "y"), /NOPERM this user has no permissions to run the 'set' command/);
  await assert.rejects(reader.eval("return 1", [], []), /NOPERM .*'eval'/);
});

const scripts = {
  plain: "return {KEYS[1], ARGV[1]}",
  locking: "#!lua flags=allow-key-locking\nreturn {KEYS[1], ARGV[1]}",
  reading: "#!lua flags=allow-key-locking,no-writes\nreturn {KEYS[1], ARGV[1]}",
};
for (const [name, text] of Object.entries(scripts)) {
  test(`a ${name} script goes by its own digest`, async () => {
    const unique = `${text} -- ${randomUUID()}`;
    const sha = createHash("sha1").update(unique).digest("hex");
    await assert.rejects(redis.evalsha(sha, ["k"], ["v"]), /NOSCRIPT No matching script\. Please use EVAL\./);
    assert.deepEqual(await redis.scriptExists(sha), [0]);
    assert.deepEqual(await redis.eval(unique, ["k"], ["v"]), ["k", "v"]);
    assert.deepEqual(await redis.evalsha(sha, ["k"], ["v"]), ["k", "v"]);
    assert.equal(await redis.scriptLoad(unique), sha);
    assert.deepEqual(await redis.scriptExists(sha, "0".repeat(40)), [1, 0]);
    assert.deepEqual(await redis.multi().evalsha(sha, ["k"], ["v"]).exec(), [["k", "v"]]);
    await redis.scriptFlush();
    await assert.rejects(redis.evalsha(sha, ["k"], ["v"]), /NOSCRIPT/);
  });
}

test("createScript and read-only scripts", async () => {
  const script = redis.createScript(`#!lua flags=allow-key-locking\nreturn redis.call('INCR', KEYS[1]) -- ${randomUUID()}`);
  assert.equal(await script.exec([key("script")], []), 1);
  assert.equal(await script.exec([key("script")], []), 2);
  assert.equal(await redis.evalRo("#!lua flags=allow-key-locking,no-writes\nreturn redis.call('GET', KEYS[1])", [key("script")], []), 2);
});

test("a script's error tells the line of the script as it was written", async () => {
  await assert.rejects(redis.eval("#!lua flags=allow-key-locking\nlocal a\nerror('here')", [], []), /:3: here/);
});
