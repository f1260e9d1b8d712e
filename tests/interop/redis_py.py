"""Takes and releases locks with redis-py, as told on standard input, one command a line."""

import sys

import redis
from redis.exceptions import LockError

client = redis.Redis(unix_socket_path=sys.argv[1])
locks = {}


def acquire(key, ttl, patience):
    lock = client.lock(key, timeout=float(ttl), sleep=0.01)
    patience = float(patience)
    if not lock.acquire(blocking=patience > 0, blocking_timeout=patience or None):
        return "busy"
    locks[key] = lock
    return "acquired"


def extend(key, ttl):
    try:
        locks[key].extend(float(ttl), replace_ttl=True)
        return "extended"
    except LockError:
        return "lost"


def release(key):
    try:
        locks.pop(key).release()
        return "released"
    except LockError:
        return "lost"


COMMANDS = {"acquire": acquire, "extend": extend, "release": release}

print("ready", flush=True)
for line in sys.stdin:
    words = line.split()
    print(COMMANDS[words[0]](*words[1:]), flush=True)
