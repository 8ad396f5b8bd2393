/** Results of worker(item, index) for all items, in their order; every worker is started at once. */
export function mapAll(items, worker) {
  return Promise.all(Array.from(items, (item, index) => worker(item, index)));
}

export async function mapLimit(items, limit, worker) {
  if (limit !== Infinity && (!Number.isInteger(limit) || limit < 1)) {
    throw new RangeError("limit");
  }
  const all = [...items];
  const results = [];
  for (let at = 0; at < all.length; at += limit) {
    const part = all.slice(at, at + limit);
    results.push(...(await mapAll(part, (item, place) => worker(item, at + place))));
  }
  return results;
}
