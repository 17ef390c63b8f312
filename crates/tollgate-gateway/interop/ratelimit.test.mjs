// The official TypeScript limiter, today's and the last one before scripts asked for key locking.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { Redis } from "@upstash/redis";
import * as today from "@upstash/ratelimit";
import * as before from "ratelimit-before-key-locking";

const redis = Redis.fromEnv();

for (const [version, { Ratelimit }] of Object.entries({ today, before })) {
  const algorithms = {
    fixed: Ratelimit.fixedWindow(10, "7 d"),
    sliding: Ratelimit.slidingWindow(10, "7 d"),
    bucket: Ratelimit.tokenBucket(10, "7 d", 10),
  };
  for (const [name, limiter] of Object.entries(algorithms)) {
    const make = (more = {}) => new Ratelimit({ redis, limiter, prefix: `ratelimit.test:${randomUUID()}`, ephemeralCache: false, ...more });

    test(`${version} ${name}: ten pass, the eleventh does not`, async () => {
      const limit = make();
      for (let left = 9; left >= 0; left -= 1) {
        const { success, remaining, limit: quota, reset } = await limit.limit("alice");
        assert.deepEqual({ success, remaining, quota }, { success: true, remaining: left, quota: 10 });
        assert.ok(reset > Date.now());
      }
      const refused = await limit.limit("alice");
      assert.deepEqual([refused.success, refused.remaining], [false, 0]);
      assert.equal((await limit.limit("bob")).success, true);
    });

    test(`${version} ${name}: many at once are counted once each`, async () => {
      const limit = make();
      const answers = await Promise.all(Array.from({ length: 30 }, () => limit.limit("alice")));
      assert.equal(answers.filter((answer) => answer.success).length, 10);
    });

    test(`${version} ${name}: what is left, and starting anew`, async () => {
      const limit = make();
      const left = async () => {
        const answer = await limit.getRemaining("alice");
        return typeof answer === "number" ? answer : answer.remaining;
      };
      assert.equal(await left(), 10);
      await limit.limit("alice", { rate: 7 });
      assert.equal(await left(), 3);
      await limit.resetUsedTokens("alice");
      assert.equal(await left(), 10);
    });

    test(`${version} ${name}: the local cache of refusals`, async () => {
      const limit = make({ ephemeralCache: new Map() });
      for (let n = 0; n < 11; n += 1) await limit.limit("alice");
      assert.equal((await limit.limit("alice")).reason, "cacheBlock");
    });

    test(`${version} ${name}: analytics are written`, async () => {
      const limit = make({ analytics: true });
      await (await limit.limit("alice")).pending;
      assert.equal((await redis.keys(`${limit.prefix}:events:*`)).length, 1);
    });
  }

  const short = {
    fixed: Ratelimit.fixedWindow(1, "1 s"),
    sliding: Ratelimit.slidingWindow(1, "1 s"),
    bucket: Ratelimit.tokenBucket(1, "1 s", 1),
  };
  for (const [name, limiter] of Object.entries(short)) {
    test(`${version} ${name}: waiting until there is room`, async () => {
      const limit = new Ratelimit({ redis, limiter, prefix: `ratelimit.test:${randomUUID()}` });
      for (let n = 0; n < 2; n += 1) {
        assert.equal((await limit.blockUntilReady("alice", 10_000)).success, true);
      }
    });
  }
}

test("today: a limit that changes while it runs", async () => {
  const { Ratelimit } = today;
  const limit = new Ratelimit({ redis, limiter: Ratelimit.fixedWindow(10, "7 d"), prefix: `ratelimit.test:${randomUUID()}`, dynamicLimits: true });
  await limit.setDynamicLimit({ limit: 2 });
  assert.deepEqual(await limit.getDynamicLimit(), { dynamicLimit: 2 });
  const answers = [];
  for (let n = 0; n < 3; n += 1) answers.push((await limit.limit("alice")).success);
  assert.deepEqual(answers, [true, true, false]);
});
