"use strict";
// Making a passkey: a new credential, and at once a first signature with it, which proves that it works.

async function made(form) {
  const begun = await Passkeys.send("/enrolment/options", { token: form.dataset.token });
  form.dataset.token = begun.token || "";
  if (begun.code !== null) {
    return begun;
  }
  const wanted = begun.result;
  const credential = await navigator.credentials.create({
    publicKey: {
      rp: { id: wanted.rp_id, name: wanted.rp_name },
      user: { id: Passkeys.bytes(wanted.user_id), name: wanted.name, displayName: wanted.name },
      challenge: Passkeys.bytes(wanted.challenge),
      pubKeyCredParams: wanted.algorithms.map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: wanted.known.map((id) => ({ type: "public-key", id: Passkeys.bytes(id) })),
      authenticatorSelection: { userVerification: "required", residentKey: "discouraged" },
      attestation: "none",
      timeout: 120000,
    },
  });
  return Passkeys.send("/enrolment/credential", {
    credential_id: Passkeys.text(credential.rawId),
    client_data_json: Passkeys.text(credential.response.clientDataJSON),
    attestation_object: Passkeys.text(credential.response.attestationObject),
    token: form.dataset.token,
  });
}

async function enrol(form) {
  const outcome = document.getElementById("outcome");
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    let answer = await made(form);
    form.dataset.token = answer.token || "";
    if (answer.code === null) {
      outcome.textContent = "Made. Confirm once more, to prove that it signs.";
      const assertion = await Passkeys.assertion(answer.result);
      answer = await Passkeys.send("/enrolment/proof", { ...assertion, token: form.dataset.token });
    }
    outcome.dataset.kind = answer.code === null ? "done" : "refused";
    outcome.textContent = answer.code === null ? "Done. Go on at the terminal; this page can be closed." : `${answer.code}: ${answer.message}`;
    button.disabled = answer.code === null;
  } catch (error) {
    outcome.dataset.kind = "refused";
    outcome.textContent = Passkeys.words(error);
    button.disabled = false;
  }
  outcome.focus();
}

const enrolment = document.getElementById("enrolment");
enrolment.addEventListener("submit", (event) => {
  event.preventDefault();
  enrol(enrolment);
});
