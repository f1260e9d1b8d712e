// Times node-redlock: one caller, and the hand-over from one client to another.
import { createRequire } from "node:module";
import Redis from "ioredis";

const require = createRequire(import.meta.url);
const Redlock = require("redlock").default;
const port = Number(process.argv[2]);
const seconds = Number(process.argv[3]);
const settings = { retryCount: -1, retryDelay: 1, retryJitter: 0 };
const now = () => Number(process.hrtime.bigint());
const clients = [new Redis(port), new Redis(port)];
const [giver, receiver] = clients.map((client) => new Redlock([client], settings));

function at(samples, share) {
  samples.sort((a, b) => a - b);
  return samples[Math.floor(samples.length * share)];
}

const samples = [];
for (const end = now() + seconds * 1e9; now() < end; ) {
  const begun = now();
  const lock = await giver.acquire(["node:one"], 30000);
  await lock.release();
  samples.push(now() - begun);
}

const handOvers = [];
for (let i = 0; i < 200; i++) {
  const held = await giver.acquire(["node:turn"], 30000);
  const next = receiver.acquire(["node:turn"], 30000).then((lock) => [lock, now()]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const gaveAt = now();
  const released = held.release();
  const [lock, hadAt] = await next;
  handOvers.push(hadAt - gaveAt);
  await released;
  await lock.release();
}

console.log(
  JSON.stringify({
    name: "node-redlock 5.0.0-beta.2",
    p50_ns: at(samples, 0.5),
    p99_ns: at(samples, 0.99),
    hand_over_p50_ns: at(handOvers, 0.5),
  }),
);
clients.forEach((client) => client.disconnect());
