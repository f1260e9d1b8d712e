"""Takes and releases kazoo's locks, as told on standard input, one command a line.

usage: kazoo_lock.py SERVERS SESSION_TIMEOUT_MS
"""

import logging
import sys
import threading

from kazoo.client import KazooClient

logging.disable(logging.CRITICAL)
client = KazooClient(sys.argv[1], timeout=float(sys.argv[2]) / 1000)
client.start(timeout=60)


class Attempt:
    """One lock, waited for in a thread."""

    def __init__(self, lock):
        self.lock = lock
        self.held = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        if self.lock.acquire():
            self.held.set()


attempts = {}
RECIPES = {"lock": client.Lock, "read": client.ReadLock, "write": client.WriteLock}


def begin(path, recipe="lock"):
    attempts[path] = Attempt(RECIPES[recipe](path))
    return "begun"


def held(path, patience_ms):
    return "held" if attempts[path].held.wait(float(patience_ms) / 1000) else "waiting"


def attempt(path, recipe="lock"):
    lock = RECIPES[recipe](path)
    if not lock.acquire(blocking=False):
        return "busy"
    lock.release()
    return "held"


def release(path):
    attempts.pop(path).lock.release()
    return "released"


COMMANDS = {"begin": begin, "held": held, "try": attempt, "release": release}

print("ready", flush=True)
for line in sys.stdin:
    words = line.split()
    print(COMMANDS[words[0]](*words[1:]), flush=True)
