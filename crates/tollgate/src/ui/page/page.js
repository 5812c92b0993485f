// Keeps the page up to date: the server says that something changed, the page asks for its main
// part and puts it in place. What is open, and where the keyboard is, stays as it was.
"use strict";
(() => {
  const live = document.getElementById("live");
  const main = document.getElementById("main");
  let asked = false;
  let asking = false;

  // The server says when in UTC; whoever reads it lives elsewhere.
  const localize = (root) => {
    for (const one of root.querySelectorAll("time[datetime]")) {
      const at = new Date(one.dateTime);
      if (isNaN(at)) continue;
      one.title = `${one.textContent} UTC`;
      one.textContent = at.toLocaleString("sv-SE");
    }
  };
  localize(document);
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  document.getElementById("zone").textContent = `Times are local (${zone}).`;

  const say = (text) => { if (live.textContent !== text) live.textContent = text; };

  const refresh = async () => {
    if (asking) { asked = true; return; }
    asking = true;
    try {
      const answer = await fetch("main", { cache: "no-store" });
      if (answer.ok) replace(await answer.text());
    } catch { say("disconnected; what is shown may be old"); }
    asking = false;
    if (asked) { asked = false; setTimeout(refresh, 500); }
  };

  const replace = (html) => {
    const fresh = new DOMParser().parseFromString(html, "text/html").body;
    localize(fresh);
    for (const part of fresh.querySelectorAll("section")) {
      const old = document.getElementById(part.id);
      for (const now of part.querySelectorAll("details")) {
        const before = document.getElementById(now.id);
        if (before) now.open = before.open;
      }
      for (const now of part.querySelectorAll("input[type=radio]")) {
        const before = document.getElementById(now.id);
        if (before) now.checked = before.checked;
      }
      if (!old) { main.append(document.adoptNode(part)); continue; }
      if (old.innerHTML === part.innerHTML) continue;
      // What somebody is typing stays.
      if ([...old.querySelectorAll("input:not([type=radio])")].some((field) => field.value || field === document.activeElement)) continue;
      const focus = old.contains(document.activeElement) ? document.activeElement : null;
      const place = focus && focus.closest("details");
      old.replaceChildren(...document.adoptNode(part).childNodes);
      const again = place && document.getElementById(place.id);
      const same = focus && focus.id && document.getElementById(focus.id);
      if (same) same.focus({ preventScroll: true });
      else if (again) (focus.tagName === "PRE" && again.querySelector("pre") || again.querySelector("summary")).focus({ preventScroll: true });
    }
  };

  // What is filtered for may be among the older ones.
  document.addEventListener("change", (event) => {
    const more = document.getElementById("more-decisions");
    if (event.target.name === "kind" && event.target.id !== "kind-all" && more) more.open = true;
  });

  const events = new EventSource("events");
  events.onopen = () => { say("live"); refresh(); };
  events.onerror = () => say("disconnected; what is shown may be old");
  events.addEventListener("change", refresh);
  events.addEventListener("decision", (event) => {
    const decision = JSON.parse(event.data);
    say(`live: ${decision.verdict} ${decision.guard || ""} ${decision.code || ""}`.trim());
  });
  // Overrides: asked here, confirmed with the word that only the terminal shows.
  const send = async (place, form) => {
    const fields = Object.fromEntries(new FormData(form));
    const body = JSON.stringify(fields);
    const answer = await fetch(place, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    const result = await answer.json();
    return result.error || result.allowed || "The terminal of tollgate serve shows a word now. Type it here.";
  };
  document.addEventListener("submit", async (event) => {
    const place = { "allow-ask": "allow", "allow-word": "allow/word" }[event.target.id];
    if (!place) return;
    event.preventDefault();
    const form = event.target;
    let shown;
    try { shown = await send(place, form); } catch { shown = "The page is not served any more."; }
    document.getElementById("allow-answer").textContent = shown;
    if (place === "allow/word") form.reset();
    else document.querySelector("#allow-word input").focus();
  });
  window.addEventListener("pagehide", () => events.close());
})();
