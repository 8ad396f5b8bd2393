import { mapAll } from "./pool.mjs";

/** The text of every page; `load` takes an address and returns a promise of its text. */
export async function pages(addresses, load) {
  const texts = await mapAll(addresses, load);
  return new Map(texts.map((text, index) => [addresses[index], text]));
}
