/** Results of worker(item, index) for all items, in their order; every worker is started at once. */
export function mapAll(items, worker) {
  return Promise.all(Array.from(items, (item, index) => worker(item, index)));
}

export async function mapLimit(items, limit, worker) {
  if (limit !== Infinity && (!Number.isInteger(limit) || limit < 1)) {
    throw new RangeError("limit");
  }
  const results = [];
  const iterator = items[Symbol.iterator]();
  let next = 0;
  let ended = false;
  async function lane() {
    while (!ended) {
      const { done, value } = iterator.next();
      if (done) {
        ended = true;
        return;
      }
      const index = next++;
      results[index] = await worker(value, index);
    }
  }
  const lanes = [];
  while (lanes.length < limit && !ended) {
    lanes.push(lane());
  }
  await Promise.all(lanes);
  return results;
}
