import assert from "node:assert/strict";
import { test } from "node:test";
import { parse, stringify } from "../lib/csv.mjs";

test("rows and fields", () => {
  assert.deepEqual(parse("a,b\nc,d\n"), [["a", "b"], ["c", "d"]]);
});

test("the last line may lack its end", () => {
  assert.deepEqual(parse("a\r\nb"), [["a"], ["b"]]);
});

test("an empty text has no rows, an empty line has one empty field", () => {
  assert.deepEqual(parse(""), []);
  assert.deepEqual(parse("\n\n"), [[""], [""]]);
});

test("a quote in the middle is a character", () => {
  assert.deepEqual(parse('5" pipe,x\n'), [['5" pipe', "x"]]);
});

test("stringify quotes what needs it", () => {
  assert.equal(stringify([["a,b", 'c"d', 1], ["", "x"]]), '"a,b","c""d",1\r\n,x\r\n');
});
