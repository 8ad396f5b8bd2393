/** Results of worker(item, index) for all items, in their order; every worker is started at once. */
export function mapAll(items, worker) {
  return Promise.all(Array.from(items, (item, index) => worker(item, index)));
}
