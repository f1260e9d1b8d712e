"""Times redis-py's Lock: one caller, and the hand-over from one client to another."""

import json
import statistics
import sys
import threading
import time

import redis

PORT, SECONDS = int(sys.argv[1]), float(sys.argv[2])


def lock_of(client, name):
    return client.lock(name, timeout=30, blocking=True, sleep=0.001)


def time_one_caller():
    client = redis.Redis(port=PORT)
    samples = []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        begun = time.perf_counter_ns()
        lock = lock_of(client, "py:one")
        lock.acquire()
        lock.release()
        samples.append(time.perf_counter_ns() - begun)
    samples.sort()
    return samples[len(samples) // 2], samples[len(samples) * 99 // 100]


def time_hand_over():
    giver, receiver = redis.Redis(port=PORT), redis.Redis(port=PORT)
    asked, had = threading.Event(), threading.Event()
    had_at = 0

    def receive():
        nonlocal had_at
        lock = lock_of(receiver, "py:turn")
        asked.set()
        lock.acquire()
        had_at = time.perf_counter_ns()
        lock.release()
        had.set()

    samples = []
    for _ in range(200):
        lock = lock_of(giver, "py:turn")
        lock.acquire()
        asked.clear()
        had.clear()
        thread = threading.Thread(target=receive)
        thread.start()
        asked.wait()
        time.sleep(0.005)
        gave_at = time.perf_counter_ns()
        lock.release()
        had.wait()
        thread.join()
        samples.append(had_at - gave_at)
    return statistics.median(samples)


p50, p99 = time_one_caller()
print(json.dumps({"name": f"redis-py {redis.__version__}", "p50_ns": p50, "p99_ns": p99,
                  "hand_over_p50_ns": time_hand_over()}))
