import assert from "node:assert/strict";
import { test } from "node:test";
import { mapLimit } from "../lib/pool.mjs";

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("results in the order of the items", async () => {
  const ends = [];
  const done = mapLimit(["a", "b"], 2, (item) => new Promise((resolve) => ends.push(() => resolve(item + "!"))));
  await turn();
  ends[1]();
  await turn();
  ends[0]();
  assert.deepEqual(await done, ["a!", "b!"]);
});

test("no more than the limit at a time", async () => {
  let running = 0;
  let most = 0;
  await mapLimit([1, 2, 3, 4, 5], 2, async () => {
    running += 1;
    most = Math.max(most, running);
    await turn();
    running -= 1;
  });
  assert.equal(most, 2);
});

test("the error of a worker", async () => {
  const error = new Error("no");
  await assert.rejects(mapLimit([1], 1, () => Promise.reject(error)), error);
});

test("a limit of nothing", async () => {
  await assert.rejects(mapLimit([1], 0, () => 1), RangeError);
});
