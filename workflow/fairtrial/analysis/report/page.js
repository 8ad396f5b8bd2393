(function () {
  "use strict";
  var root = document.documentElement;
  function dark() {
    var said = root.getAttribute("data-theme");
    return said ? said === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }
  try {
    var kept = localStorage.getItem("fairtrial-theme");
    if (kept === "dark" || kept === "light") root.setAttribute("data-theme", kept);
  } catch (error) { /* storage is closed to local files in some browsers */ }
  function label(button) { button.setAttribute("aria-pressed", dark() ? "true" : "false"); }
  var button = document.getElementById("theme");
  if (button) {
    label(button);
    button.addEventListener("click", function () {
      var next = dark() ? "light" : "dark";
      root.setAttribute("data-theme", next);
      label(button);
      try { localStorage.setItem("fairtrial-theme", next); } catch (error) { /* as above */ }
    });
  }
  function value(row, place) {
    var cell = row.cells[place];
    var key = cell.getAttribute("data-v");
    var text = key === null ? cell.textContent.trim() : key;
    if (text === "" || text === "\u2013") return null;
    var number = Number(text);
    return isNaN(number) ? text.toLowerCase() : number;
  }
  function compare(a, b) {
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? -1 : 1;
  }
  function sort(header) {
    var table = header.closest("table"), body = table.tBodies[0];
    var place = Array.prototype.indexOf.call(header.parentNode.cells, header);
    var down = header.getAttribute("aria-sort") === "ascending";
    Array.prototype.forEach.call(header.parentNode.cells, function (cell) { cell.setAttribute("aria-sort", "none"); });
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    var rows = Array.prototype.map.call(body.rows, function (row, order) { return [value(row, place), order, row]; });
    rows.sort(function (a, b) {
      if (a[0] === null || b[0] === null) return a[0] === b[0] ? a[1] - b[1] : a[0] === null ? 1 : -1;
      return (down ? -compare(a[0], b[0]) : compare(a[0], b[0])) || a[1] - b[1];
    });
    rows.forEach(function (entry) { body.appendChild(entry[2]); });
  }
  Array.prototype.forEach.call(document.querySelectorAll("table.sortable thead button"), function (button) {
    button.addEventListener("click", function () { sort(button.closest("th")); });
  });
})();
