"use strict";
(function () {
  var box = document.querySelector(".search"), input = box.querySelector("input"), told = box.querySelector("output");
  var all = Array.from(document.querySelectorAll(".other, .list tbody tr"));
  var rows = all.filter(function (row) { return row.closest(".pane") === null; });
  var texts = rows.map(function (row) { return row.textContent.toLowerCase(); });
  var folds = Array.from(document.querySelectorAll("details")).map(function (fold) { return [fold, fold.open]; });
  function find() {
    var word = input.value.trim().toLowerCase(), hits = 0;
    rows.forEach(function (row, at) {
      row.hidden = word !== "" && texts[at].indexOf(word) < 0;
      hits += row.hidden ? 0 : 1;
    });
    folds.forEach(function (pair) {
      pair[0].open = word === "" ? pair[1] : pair[0].querySelector(".other:not([hidden]), tbody tr:not([hidden])") !== null;
    });
    told.textContent = word === "" ? "" : hits + (hits === 1 ? " row" : " rows");
  }
  input.addEventListener("input", find);
  box.hidden = false;
}());
