import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../lib/csv.mjs";

test("commas inside quotes", () => {
  assert.deepEqual(parse('"a,b",c\n'), [["a,b", "c"]]);
});

test("doubled quotes", () => {
  assert.deepEqual(parse('x,"say ""hi"""\n'), [["x", 'say "hi"']]);
});

test("a line break inside quotes", () => {
  assert.deepEqual(parse('"one\ntwo",3\n4,5\n'), [["one\ntwo", "3"], ["4", "5"]]);
});

test("a field that is not closed", () => {
  assert.throws(() => parse('a\n"b\n'), { name: "SyntaxError", message: "line 2: a quoted field is not closed" });
});

test("text without quotes", () => {
  assert.deepEqual(parse("a,b\n\nc\n"), [["a", "b"], [""], ["c"]]);
});
