"""The official Python clients: commands, pipelines, transactions, scripts, limits."""

import hashlib
import unittest
import uuid

from upstash_ratelimit import FixedWindow, Ratelimit, SlidingWindow, TokenBucket
from upstash_redis import Redis
from upstash_redis.errors import UpstashError

redis = Redis.from_env()


def key(name):
    return f"test_clients:{uuid.uuid4()}:{name}"


class Commands(unittest.TestCase):
    def test_values(self):
        for value in ["text", "grüße", "OK", "", "9007199254740993"]:
            name = key("value")
            self.assertIs(redis.set(name, value), True)
            self.assertEqual(redis.get(name), value)
        self.assertIsNone(redis.get(key("missing")))
        self.assertEqual(redis.ping(), "PONG")

    def test_structures(self):
        name = key("hash")
        redis.hset(name, values={"a": "1", "b": "OK"})
        self.assertEqual(redis.hgetall(name), {"a": "1", "b": "OK"})
        name = key("board")
        redis.zadd(name, {"x": 1.5})
        self.assertEqual(redis.zscore(name, "x"), 1.5)

    def test_pipeline_and_transaction(self):
        name = key("count")
        self.assertEqual(redis.pipeline().set(name, 1).incr(name).get(name).exec(), [True, 2, "2"])
        self.assertEqual(redis.multi().incr(name).incr(name).exec(), [3, 4])
        with self.assertRaises(UpstashError):
            redis.lpush(name, "x")

    def test_scripts(self):
        text = f"#!lua flags=allow-key-locking\nreturn {{KEYS[1], ARGV[1]}} -- {uuid.uuid4()}"
        sha = hashlib.sha1(text.encode()).hexdigest()
        with self.assertRaisesRegex(UpstashError, "NOSCRIPT"):
            redis.evalsha(sha, keys=["k"], args=["v"])
        self.assertEqual(redis.script_load(text), sha)
        self.assertEqual(redis.script_exists(sha), [True])
        self.assertEqual(redis.evalsha(sha, keys=["k"], args=["v"]), ["k", "v"])
        self.assertEqual(redis.eval(text, keys=["k"], args=["v"]), ["k", "v"])


class Limits(unittest.TestCase):
    def limiters(self, quota, window, unit):
        yield FixedWindow(max_requests=quota, window=window, unit=unit)
        yield SlidingWindow(max_requests=quota, window=window, unit=unit)
        yield TokenBucket(max_tokens=quota, refill_rate=quota, interval=window, unit=unit)

    def test_counts(self):
        for limiter in self.limiters(10, 7, "d"):
            with self.subTest(limiter=type(limiter).__name__):
                limit = Ratelimit(redis=redis, limiter=limiter, prefix=key("limit"))
                self.assertEqual(limit.get_remaining("alice"), 10)
                left = [limit.limit("alice").remaining for _ in range(10)]
                self.assertEqual(left, list(range(9, -1, -1)))
                self.assertFalse(limit.limit("alice").allowed)
                self.assertEqual(limit.get_remaining("alice"), 0)
                self.assertGreater(limit.get_reset("alice"), 0)
                self.assertEqual(limit.get_remaining("bob"), 10)

    def test_waiting(self):
        for limiter in self.limiters(1, 1, "s"):
            with self.subTest(limiter=type(limiter).__name__):
                limit = Ratelimit(redis=redis, limiter=limiter, prefix=key("limit"))
                for _ in range(2):
                    self.assertTrue(limit.block_until_ready("alice", 10).allowed)


if __name__ == "__main__":
    unittest.main()
