// proof.js: proofs of what this page asks, and of what it gets (launch/achweb/proof.h has the lists of fields).
//
// The token of the link and the keys are never sent. The key to look, and to stop, is kept for a reload; the key to act is
// in the memory of this page alone, so that a page of another program on the same port finds no key to act.

import { hex, hmac, sha256, unhex, utf8 } from './sha256.js';

const KEPT = 'endplate-session'; // in sessionStorage: "ID KEY"
const client = hex(crypto.getRandomValues(new Uint8Array(16))); // of this load of the page
let id = '', look = null, act = null, challenge = '-', count = 0;

// Each field with its length before it: no two lists have the same text.
const fields = (list) => utf8(list.map((x) => utf8(x).length + ':' + x).join(''));
const derive = (key, ...list) => hmac(key, fields(list));
const make = (key, ...list) => hex(derive(key, ...list));

// ---- the session ----

export const mayAct = () => act !== null;
export const isLoggedIn = () => look !== null;

export function useToken(token) {
	const key = unhex(token);
	id = make(key, 'id').slice(0, 32);
	look = derive(key, 'look');
	act = derive(key, 'act');
}

// Keys of the session that the link was exchanged for: the link itself is worth nothing from now on.
export function useSession(session) {
	id = session;
	look = derive(look, 'session', client, id);
	act = derive(act, 'session', client, id);
	try {
		sessionStorage.setItem(KEPT, id + ' ' + hex(look));
	} catch (error) {
		// a browser that keeps nothing: a reload has to log in
	}
}

export function forget() {
	id = '';
	look = act = null;
}

// After a reload.
export function restore() {
	let kept = null;
	try {
		kept = /^([0-9a-f]{32}) ([0-9a-f]{64})$/.exec(sessionStorage.getItem(KEPT));
	} catch (error) {
		// the same
	}
	if (kept) {
		id = kept[1];
		look = unhex(kept[2]);
	}
}

// ---- requests ----

// A request: its header, and the functions that check the answer to it.
export function ask(method, path, body) {
	const key = path === '/act' ? act : look, n = String(++count), used = challenge;
	const proof = make(key, 'ask', used, client, n, method, path, hex(sha256(utf8(body))));
	return {
		header: [id, client, n, used, proof].join(' '),
		isAnswer: (sent, status, bytes) => sent === make(key, 'answer', used, client, n, String(status), hex(sha256(bytes))),
		isSnapshot: (sent, number, now, text) =>
			sent === make(key, 'snapshot', client, n, number, now, hex(sha256(utf8(text)))),
	};
}

// A challenge that came with a proof.
export function renew(now) {
	challenge = now;
}
