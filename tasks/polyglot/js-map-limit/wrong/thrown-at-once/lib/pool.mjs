/** Results of worker(item, index) for all items, in their order; every worker is started at once. */
export function mapAll(items, worker) {
  return Promise.all(Array.from(items, (item, index) => worker(item, index)));
}

/** Like mapAll with at most `limit` unfinished workers; the first error ends it. */
export function mapLimit(items, limit, worker) {
  if (!(limit >= 1)) {
    throw new RangeError("limit");
  }
  return limited(items, limit, worker);
}

async function limited(items, limit, worker) {
  if (!(limit >= 1)) {
    throw new RangeError(`limit must be a whole number of at least 1, not ${String(limit)}`);
  }
  const iterator = items[Symbol.iterator]();
  const results = [];
  await new Promise((resolve, reject) => {
    const state = { running: 0, next: 0, ended: false, failed: false };
    const fail = (error, close) => {
      if (!state.failed) {
        state.failed = true;
        reject(error);
        close?.();
      }
    };
    const settle = () => {
      state.running -= 1;
      fill();
    };
    const start = (item, index) => {
      state.running += 1;
      const close = () => iterator.return?.();
      let answer;
      try {
        answer = worker(item, index);
      } catch (error) {
        fail(error, close);
        return;
      }
      Promise.resolve(answer).then(
        (value) => {
          results[index] = value;
          settle();
        },
        (error) => fail(error, state.ended ? undefined : close),
      );
    };
    const fill = () => {
      try {
        while (!state.failed && !state.ended && state.running < limit) {
          const { done, value } = iterator.next();
          if (done) {
            state.ended = true;
          } else {
            start(value, state.next++);
          }
        }
      } catch (error) {
        fail(error);
      }
      if (state.ended && state.running === 0) {
        resolve();
      }
    };
    fill();
  });
  return results;
}
