"use strict";
// The pages of the inbox. Everything from a server is put into the page as text.

function say(element, words, kind) {
  element.textContent = words;
  element.dataset.kind = kind;
}

// ---- the entrance: the secret of the link is in the fragment, which browsers send to nobody
async function enter(outcome) {
  const link = location.hash.slice(1);
  history.replaceState(null, "", "/enter");
  const response = await fetch("/enter", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    credentials: "same-origin",
    body: JSON.stringify({ link }),
  });
  const answer = await response.json();
  if (response.ok) {
    location.replace("/");
  } else {
    say(outcome, `${answer.code}: ${answer.message}`, "refused");
  }
}

// ---- the list
function filter(input, cards, count) {
  const wanted = input.value.trim().toLowerCase().split(/\s+/);
  let left = 0;
  for (const card of cards) {
    const fits = wanted.every((word) => card.dataset.words.includes(word));
    card.hidden = !fits;
    left += fits ? 1 : 0;
  }
  count.textContent = input.value.trim() === "" ? "" : `${left} of ${cards.length}`;
}

// ---- one request
const WORDS = { APPROVE: "approved", REJECT: "rejected", REVOKE: "revoked" };

function setBusy(form, isBusy) {
  form.setAttribute("aria-busy", String(isBusy));
  for (const control of form.querySelectorAll("button, textarea")) {
    control.disabled = isBusy;
  }
}

async function signed(form, verb, outcome) {
  const members = { verb, reason: form.elements.reason.value, token: form.dataset.token };
  if (verb === "APPROVE") {
    members.seen_sha256 = await Passkeys.sha256(document.getElementById("display").textContent);
  }
  const begun = await Passkeys.send(`/requests/${form.dataset.request}/decisions`, members);
  form.dataset.token = begun.token || "";
  if (begun.code !== null) {
    return begun;
  }
  say(outcome, "Confirm with your passkey.", "waiting");
  const assertion = await Passkeys.assertion(begun.result);
  const finished = await Passkeys.send(`/ceremonies/${begun.result.ceremony}`, {
    ...assertion,
    token: form.dataset.token,
  });
  form.dataset.token = finished.token || "";
  return finished;
}

function shown(form, answer, outcome) {
  const entry = answer.result === null ? null : answer.result.results.results[0];
  if (entry === null) {
    say(outcome, `${answer.code}: ${answer.message}`, "refused");
  } else if (!entry.recorded) {
    say(outcome, `Refused. ${entry.code}: ${entry.message}`, "refused");
  } else {
    const opens = entry.code === null ? "The gate is open for exactly these bytes." : `${entry.code}: ${entry.message}`;
    say(outcome, `Recorded: ${WORDS[entry.decision]}. ${opens}`, entry.code === null ? "done" : "closed");
    return true;
  }
  return false;
}

async function decide(form, verb) {
  const outcome = document.getElementById("outcome");
  say(outcome, "One moment.", "waiting");
  setBusy(form, true);
  let isDone = false;
  try {
    isDone = shown(form, await signed(form, verb, outcome), outcome);
  } catch (error) {
    say(outcome, Passkeys.words(error), "refused");
  }
  if (!isDone) {
    setBusy(form, false);
  }
  outcome.focus();
}

// ---- wiring
const entrance = document.getElementById("entrance");
if (entrance !== null) {
  enter(document.getElementById("outcome"));
}

const box = document.getElementById("filter");
if (box !== null) {
  const cards = Array.from(document.querySelectorAll("#cards > li"));
  const count = document.getElementById("filter-count");
  box.addEventListener("input", () => filter(box, cards, count));
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== box) {
      event.preventDefault();
      box.focus();
    }
  });
}

const decision = document.getElementById("decision");
if (decision !== null) {
  decision.addEventListener("submit", (event) => {
    event.preventDefault();
    decide(decision, (event.submitter || decision.querySelector("button")).dataset.verb);
  });
}
