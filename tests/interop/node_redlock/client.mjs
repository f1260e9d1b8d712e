// Takes and releases locks with node-redlock, as told on standard input, one command a line.

import readline from "node:readline";

import Redis from "ioredis";
import Redlock from "redlock";

const kRetryMs = 10;
const redlock = new Redlock([new Redis(process.argv[2])], { retryJitter: 0 });
const locks = new Map();

const milliseconds = (seconds) => Math.round(Number(seconds) * 1000);

const commands = {
  async acquire(key, ttl, patience) {
    const retryCount = Math.ceil(milliseconds(patience) / kRetryMs);
    try {
      const settings = { retryCount, retryDelay: kRetryMs };
      locks.set(key, await redlock.acquire([key], milliseconds(ttl), settings));
      return "acquired";
    } catch {
      return "busy";
    }
  },
  async extend(key, ttl) {
    try {
      locks.set(key, await locks.get(key).extend(milliseconds(ttl)));
      return "extended";
    } catch {
      return "lost";
    }
  },
  async release(key) {
    try {
      await locks.get(key).release();
      return "released";
    } catch {
      return "lost";
    }
  },
};

redlock.on("error", () => {});
console.log("ready");
for await (const line of readline.createInterface({ input: process.stdin })) {
  const [command, ...words] = line.trim().split(/\s+/);
  console.log(await commands[command](...words));
}
process.exit(0);
