/** Rows of a comma-separated text. Throws SyntaxError where quotes are wrong. */
export function parse(text) {
  const rows = [];
  const at = { place: 0, line: 1 };
  while (at.place < text.length) {
    rows.push(readRow(text, at));
  }
  return rows;
}

function readRow(text, at) {
  const row = [];
  for (;;) {
    row.push(text[at.place] === '"' ? readQuoted(text, at) : readPlain(text, at));
    if (text[at.place] === ",") {
      at.place += 1;
      continue;
    }
    at.place += text.startsWith("\r\n", at.place) ? 2 : 1;
    at.line += 1;
    return row;
  }
}

function readPlain(text, at) {
  const [found] = /^(?:(?!,|\r?\n)[^])*/.exec(text.slice(at.place));
  at.place += found.length;
  return found;
}

function readQuoted(text, at) {
  const begins = at.line;
  let value = "";
  for (at.place += 1; ; at.place += 1) {
    if (at.place >= text.length) {
      throw new SyntaxError(`line ${begins}: a quoted field is not closed`);
    }
    if (text[at.place] === '"') {
      if (text[at.place + 1] !== '"') {
        break;
      }
      at.place += 1;
    }
    at.line += text[at.place] === "\n" ? 1 : 0;
    value += text[at.place];
  }
  at.place += 1;
  if (at.place < text.length && !/^(?:,|\r?\n)/.test(text.slice(at.place, at.place + 2))) {
    throw new SyntaxError(`line ${begins}: text after a closing quote`);
  }
  return value;
}

/** The text of rows; a field with a comma, a quote or a line break is quoted. */
export function stringify(rows) {
  return rows.map((row) => row.map(field).join(",") + "\r\n").join("");
}

function field(value) {
  const text = String(value);
  return `"${text.replaceAll('"', '""')}"`;
}
