"use strict";
(function () {
  var header = {}, every = 10000, busy = false;
  function told(text) { document.getElementById("told").textContent = text; }
  function kept(key, value) {
    try { if (value !== undefined) { sessionStorage.setItem(key, value); } return sessionStorage.getItem(key) || ""; } catch (e) { return value || ""; }
  }
  function ask(path, options) {
    options.headers = Object.assign({}, header, options.headers);
    return fetch(path, Object.assign({ cache: "no-store", credentials: "omit", redirect: "error", mode: "same-origin" }, options));
  }
  function why(text, status) {
    try { var found = JSON.parse(text); return found.message + (found.details && found.details.newerPlan ? " (plan " + found.details.newerPlan + " is shown now)" : ""); } catch (e) { return "status " + status; }
  }
  function show(text) {
    var found = new DOMParser().parseFromString(text, "text/html"), main = found.querySelector("main"), had = document.activeElement;
    if (main === null) { return; }
    main.querySelectorAll("details[id]").forEach(function (fold) {
      var before = document.getElementById(fold.id);
      if (before !== null) { fold.open = before.open; }
    });
    var focus = had === null ? "" : had.tagName === "SUMMARY" ? had.id : "", label = had !== null && had.tagName === "BUTTON" ? had.textContent : "";
    document.querySelectorAll("main input").forEach(function (one) {
      var same = main.querySelector("input[name=" + one.name + "]");
      if (same !== null) { same.value = one.value; }
    });
    document.querySelector("main").replaceWith(document.adoptNode(main));
    document.title = found.title;
    var goal = focus ? document.getElementById(focus) : Array.from(document.querySelectorAll("button")).find(function (one) { return one.textContent === label; });
    if (goal) { goal.focus(); }
  }
  function load() {
    return ask("/", { headers: { Accept: "text/html" } }).then(function (answer) {
      return answer.text().then(function (text) { if (answer.ok) { show(text); } else { told(why(text, answer.status)); } return answer.ok; });
    }, function () { told("No answer; is it still running?"); return false; });
  }
  function send(form) {
    var body = {}, reason = form.elements.reason, minutes = form.elements.minutes;
    if (reason) { body.reason = reason.value; }
    if (minutes && minutes.value) { body.seconds = 60 * Number(minutes.value); }
    var headers = { "Content-Type": "application/json", "Accept": "application/json", "If-Match": "\"" + form.dataset.match + "\"" };
    busy = true;
    ask(form.dataset.post, { method: "POST", headers: headers, body: JSON.stringify(body) }).then(function (answer) {
      return answer.text().then(function (text) {
        var words = answer.ok ? form.dataset.done : "Not done: " + why(text, answer.status);
        if (document.activeElement !== null) { document.activeElement.blur(); }
        return load().then(function (isThere) { if (isThere) { told(words); } });
      });
    }, function () { told("Not done: no answer."); }).finally(function () { busy = false; });
  }
  function again() {
    var typing = /^(INPUT|BUTTON)$/.test((document.activeElement || {}).tagName || "") || Array.from(document.querySelectorAll("main input")).some(function (one) { return one.value !== ""; });
    if (!busy && !typing && !document.hidden) { load().then(wait, wait); } else { wait(); }
  }
  function wait() { setTimeout(again, every); }
  function open(key) {
    if (!key) { told("Open the address that rescheduler ui has printed; it is good for one tab."); return; }
    header["X-Rescheduler-Key"] = key;
    load().then(wait, wait);
  }
  document.addEventListener("submit", function (event) { event.preventDefault(); if (!busy) { send(event.target); } });
  if (document.querySelector("main[data-shell]") === null) { wait(); return; }
  var secret = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  if (!secret) { open(kept("key")); return; }
  ask("/session", { method: "POST", headers: { "X-Rescheduler-Secret": secret } }).then(function (answer) {
    return answer.text().then(function (text) { if (answer.ok) { open(kept("key", JSON.parse(text).key)); } else { told(why(text, answer.status)); } });
  }, function () { told("No answer; is it still running?"); });
}());
