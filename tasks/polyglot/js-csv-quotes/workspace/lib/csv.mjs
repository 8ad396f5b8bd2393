/** Rows of a comma-separated text. */
export function parse(text) {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") {
    lines.pop();
  }
  return lines.map((line) => line.split(","));
}

/** The text of rows; a field with a comma, a quote or a line break is quoted. */
export function stringify(rows) {
  return rows.map((row) => row.map(field).join(",") + "\r\n").join("");
}

function field(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
