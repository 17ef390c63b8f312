// Upstash's limiter and Tollgate spend from one count: given one prefix, key and limit, in either order.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
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
    const clients = () => {
      const prefix = `share:${randomUUID()}`;
      const limit = new Ratelimit({ redis, limiter, prefix, ephemeralCache: false });
      const theirs = async (times) => {
        let admitted = 0;
        for (let n = 0; n < times; n += 1) admitted += Number((await limit.limit("spend:alice")).success);
        return admitted;
      };
      const ours = (times) => Number(execFileSync(process.env.TOLLGATE_SPEND, [name, prefix, "alice", String(times)]));
      return { theirs, ours };
    };

    test(`${version} ${name}: they spend seven of ten, three are left for Tollgate`, async () => {
      const { theirs, ours } = clients();
      assert.equal(await theirs(7), 7);
      assert.equal(ours(8), 3);
      assert.equal(await theirs(1), 0);
    });

    test(`${version} ${name}: Tollgate spends seven of ten, three are left for them`, async () => {
      const { theirs, ours } = clients();
      assert.equal(ours(7), 7);
      assert.equal(await theirs(8), 3);
      assert.equal(ours(1), 0);
    });
  }
}
