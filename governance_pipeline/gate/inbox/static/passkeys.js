"use strict";
// Passkeys between the page and its server: bytes are Base64url in JSON, and ArrayBuffers in the browser.

const Passkeys = {
  bytes(text) {
    const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(plain, (character) => character.charCodeAt(0));
  },

  text(buffer) {
    const plain = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
    return btoa(plain).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  },

  async sha256(text) {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  },

  // An assertion over a challenge, in the members the server asks for. A person must be verified.
  async assertion(wanted) {
    const credential = await navigator.credentials.get({
      publicKey: {
        challenge: Passkeys.bytes(wanted.challenge),
        rpId: wanted.rp_id,
        allowCredentials: wanted.credentials.map((id) => ({ type: "public-key", id: Passkeys.bytes(id) })),
        userVerification: "required",
        timeout: 120000,
      },
    });
    return {
      credential_id: Passkeys.text(credential.rawId),
      authenticator_data: Passkeys.text(credential.response.authenticatorData),
      client_data_json: Passkeys.text(credential.response.clientDataJSON),
      signature: Passkeys.text(credential.response.signature),
    };
  },

  // Sends one request with an effect; the answer is govern/inbox-answer/v1 whatever the status is.
  async send(path, members) {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      body: JSON.stringify(members),
    });
    return response.json();
  },

  // What went wrong at the authenticator, in words; browsers say little on purpose.
  words(error) {
    if (error.name === "NotAllowedError") {
      return "The authenticator did not sign: it was cancelled, timed out, or has no passkey that may sign this.";
    }
    return error.name === "TypeError" ? "The inbox does not answer; is it still running?" : String(error.message);
  },
};
