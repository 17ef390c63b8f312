// Calls of Upstash's own limiter, so many at a time, and how many a second are answered.
import { Redis } from "@upstash/redis";
import { Ratelimit } from "@upstash/ratelimit";

const callers = Number(process.argv[1]);
const redis = Redis.fromEnv({ enableAutoPipelining: true });
const limiter = Ratelimit.slidingWindow(2 ** 50, "1 d");
const ratelimit = new Ratelimit({ redis, limiter, prefix: "theirs", ephemeralCache: false });

// Longer than the other side's warm-up: a compiler that works while the program runs needs it.
const begin = performance.now() + 1_000;
const end = begin + 800;
let answered = 0;

await Promise.all(
  Array.from({ length: callers }, async (_, caller) => {
    for (;;) {
      const { success } = await ratelimit.limit(`caller-${caller}`);
      if (!success) throw new Error("a limit that nobody reaches was reached");
      const now = performance.now();
      if (now >= end) return;
      if (now >= begin) answered += 1;
    }
  }),
);
console.log(answered / 0.8);
