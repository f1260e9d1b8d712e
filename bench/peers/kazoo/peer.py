"""Times kazoo's Lock: one caller, and the hand-over from one client to another."""

import json
import statistics
import sys
import threading
import time

import kazoo
from kazoo.client import KazooClient

PORT, SECONDS = int(sys.argv[1]), float(sys.argv[2])


def connect():
    client = KazooClient(hosts=f"127.0.0.1:{PORT}")
    client.start()
    return client


def time_one_caller():
    client = connect()
    samples = []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        begun = time.perf_counter_ns()
        lock = client.Lock("/kazoo/one")
        lock.acquire()
        lock.release()
        samples.append(time.perf_counter_ns() - begun)
    client.stop()
    samples.sort()
    return samples[len(samples) // 2], samples[len(samples) * 99 // 100]


def time_hand_over():
    giver, receiver = connect(), connect()
    asked, had = threading.Event(), threading.Event()
    had_at = 0

    def receive():
        nonlocal had_at
        lock = receiver.Lock("/kazoo/turn")
        asked.set()
        lock.acquire()
        had_at = time.perf_counter_ns()
        lock.release()
        had.set()

    samples = []
    for _ in range(200):
        lock = giver.Lock("/kazoo/turn")
        lock.acquire()
        asked.clear()
        had.clear()
        thread = threading.Thread(target=receive)
        thread.start()
        asked.wait()
        while len(giver.get_children("/kazoo/turn")) < 2:
            time.sleep(0.0005)
        time.sleep(0.003)
        gave_at = time.perf_counter_ns()
        lock.release()
        had.wait()
        thread.join()
        samples.append(had_at - gave_at)
    return statistics.median(samples)


p50, p99 = time_one_caller()
print(json.dumps({"name": f"kazoo {kazoo.__version__}", "p50_ns": p50, "p99_ns": p99,
                  "hand_over_p50_ns": time_hand_over()}))
