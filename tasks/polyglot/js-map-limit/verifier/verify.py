"""Hidden checks of js-map-limit. Workers end when the check says so; no clock is involved."""

from fairtrial.verify import Failed, Verification

v = Verification()
HEAD = """\
import { mapAll, mapLimit } from "./lib/pool.mjs";
const turn = () => new Promise((resolve) => setImmediate(resolve));
const log = [];
process.on("unhandledRejection", (error) => log.push("unhandled " + error.message));
const ends = {};
const fails = {};
const worker = (item, index) => {
  log.push(`start ${item} ${index}`);
  return new Promise((resolve, reject) => {
    ends[item] = (value) => { log.push(`end ${item}`); resolve(value); };
    fails[item] = (message) => { log.push(`fail ${item}`); reject(new Error(message)); };
  });
};
const watched = (items) => ({
  [Symbol.iterator]() {
    let at = 0;
    return {
      next() {
        log.push(at < items.length ? `read ${items[at]}` : "read the end");
        return at < items.length ? { done: false, value: items[at++] } : { done: true, value: undefined };
      },
      return() { log.push("returned"); return { done: true, value: undefined }; },
    };
  },
});
const said = (promise) => promise.then((value) => ["value", value], (error) => [error.name, error.message]);
"""


def play(scene: str) -> object:
    """Run a scene as a module beside the product's lib/; it prints one JSON document, also when nothing ends it."""
    files = {"scene.mjs": HEAD + scene}
    return v.ok(v.run(["node", "scene.mjs"], files=files, timeout=20)).json()


@v.check("order")
def order() -> None:
    """Results in the order of the items, plain values too, an empty iterable, a value that is undefined."""
    got = play(
        """
const done = said(mapLimit(new Set(["a", "b", "c"]), 3, worker));
await turn(); ends.c(3); await turn(); ends.a(1); await turn(); ends.b(2);
const plain = await said(mapLimit("xyz", 1, (item, index) => item + index));
const none = await said(mapLimit([], 4, worker));
const late = await said(mapLimit([3, 1, 2], Infinity, async (n) => { for (let i = 0; i < n; i++) await turn(); return n; }));
console.log(JSON.stringify([await done, plain, none, late]));
"""
    )
    v.equal(got, [["value", [1, 2, 3]], ["value", ["x0", "y1", "z2"]], ["value", []], ["value", [3, 1, 2]]], "results")


@v.check("limit")
def limit() -> None:
    """The next item is read and started when any one ends, never earlier, never in batches."""
    got = play(
        """
const done = said(mapLimit(watched(["a", "b", "c", "d"]), 2, worker));
await turn(); log.push("-"); ends.b("B"); await turn(); log.push("-"); ends.c("C"); await turn(); log.push("-");
ends.a("A"); ends.d("D");
console.log(JSON.stringify([log, await done]));
"""
    )
    want = ["read a", "start a 0", "read b", "start b 1", "-", "end b", "read c", "start c 2", "-", "end c", "read d"]
    want += ["start d 3", "-", "end a", "end d"]
    if not isinstance(got, list) or len(got) != 2:
        raise Failed(f"not the two parts asked for: {got!r}")
    v.equal([step for step in got[0] if step != "read the end"], want, "steps")
    v.equal(got[1], ["value", ["A", "B", "C", "D"]], "result")


@v.check("failing")
def failing() -> None:
    """The first error ends it: nothing more is read or started, the iterator is closed, later errors are swallowed."""
    got = play(
        """
const done = said(mapLimit(watched(["a", "b", "c", "d"]), 2, worker));
await turn(); fails.b("first"); const first = await done;
ends.a("A"); await turn(); await turn();
const both = said(mapLimit(["p", "q"], 2, worker));
await turn(); fails.p("one"); fails.q("two"); const second = await both; await turn();
const thrown = await said(mapLimit(watched(["x", "y"]), 1, () => { throw new TypeError("at once"); }));
await turn();
console.log(JSON.stringify([log, first, second, thrown]));
"""
    )
    want = ["read a", "start a 0", "read b", "start b 1", "fail b", "returned", "end a"]
    want += ["start p 0", "start q 1", "fail p", "fail q", "read x", "returned"]
    v.equal(got, [want, ["Error", "first"], ["Error", "one"], ["TypeError", "at once"]], "steps and errors")


@v.check("arguments")
def arguments() -> None:
    """A wrong limit is a rejection with RangeError, before anything is read."""
    got = play(
        """
const names = [];
for (const limit of [0, -1, 1.5, NaN, "2", undefined, null]) {
  let promise;
  try { promise = mapLimit(watched(["a"]), limit, worker); } catch (error) { names.push("thrown"); continue; }
  names.push((await said(promise))[0]);
}
console.log(JSON.stringify([log, names]));
"""
    )
    v.equal(got, [[], ["RangeError"] * 7], "what was read and the errors")


@v.check("map-all")
def map_all() -> None:
    """mapAll starts everything at once, as before."""
    got = play(
        """
const done = said(mapAll(["a", "b", "c"], worker));
await turn(); log.push("-"); ends.a(1); ends.b(2); ends.c(3);
console.log(JSON.stringify([log, await done]));
"""
    )
    want = ["start a 0", "start b 1", "start c 2", "-", "end a", "end b", "end c"]
    v.equal(got, [want, ["value", [1, 2, 3]]], "steps and result")


@v.check("fetcher-untouched")
def fetcher_untouched() -> None:
    """lib/fetcher.mjs is byte for byte what was handed out."""
    want = (v.task / "workspace" / "lib" / "fetcher.mjs").read_bytes()
    if v.read("lib/fetcher.mjs") != want:
        raise Failed("lib/fetcher.mjs was changed")


v.finish()
