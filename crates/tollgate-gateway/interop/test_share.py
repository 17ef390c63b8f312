"""Upstash's Python limiter and Tollgate spend from one count, windows only: its buckets have fields of other names."""

import os
import subprocess
import unittest
import uuid

from upstash_ratelimit import FixedWindow, Ratelimit, SlidingWindow
from upstash_redis import Redis

LIMITERS = {
    "fixed": FixedWindow(max_requests=10, window=7, unit="d"),
    "sliding": SlidingWindow(max_requests=10, window=7, unit="d"),
}


class Share(unittest.TestCase):
    def clients(self, name):
        prefix = f"share:{uuid.uuid4()}"
        limit = Ratelimit(redis=Redis.from_env(), limiter=LIMITERS[name], prefix=prefix)

        def theirs(times):
            return sum(limit.limit("spend:alice").allowed for _ in range(times))

        def ours(times):
            command = [os.environ["TOLLGATE_SPEND"], name, prefix, "alice", str(times)]
            return int(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

        return theirs, ours

    def test_they_spend_first(self):
        for name in LIMITERS:
            with self.subTest(limiter=name):
                theirs, ours = self.clients(name)
                self.assertEqual((theirs(7), ours(8)), (7, 3))

    def test_tollgate_spends_first(self):
        for name in LIMITERS:
            with self.subTest(limiter=name):
                theirs, ours = self.clients(name)
                self.assertEqual((ours(7), theirs(8)), (7, 3))


if __name__ == "__main__":
    unittest.main()
