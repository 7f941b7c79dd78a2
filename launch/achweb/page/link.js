// link.js: the connection to achweb: login, requests, the WebSocket, and the page's own clock.
//
// What comes without a proof is not believed: another program may have taken achweb's port.

import * as proof from './proof.js';

const RETRY_MS = 1000;
const IMPOSTOR = 'ANOTHER PROGRAM answers in place of achweb';
const ENDED = 'the session has ended, or ' + IMPOSTOR + ': open the link that achctl web prints';
// Of a WebSocket that was closed, by code. A close has no proof: whatever program sent it, its words are not shown.
const CLOSED = { 1008: ENDED, 1013: 'too many pages are open, or ' + IMPOSTOR };

export class Link {
	// on: an object of functions, by the word "op" of a message, and login.
	constructor(on) {
		this.on = on;
		this.last = -Infinity; // when a snapshot came, by performance.now()
		this.why = 'connecting';
	}

	// Milliseconds since the robot was last seen.
	silence() {
		return performance.now() - this.last;
	}

	async begin() {
		const token = /^#([0-9a-f]{64})$/.exec(location.hash);
		let why = '';
		if (token) {
			history.replaceState(null, '', location.pathname);
			proof.useToken(token[1]);
			const answer = await post('/login', {});
			if (answer.ok)
				proof.useSession(answer.session);
			else
				proof.forget();
			why = answer.text;
		}
		if (!proof.isLoggedIn())
			proof.restore();
		if (proof.isLoggedIn())
			this.connect();
		else
			this.on.login(this.why = why || 'not logged in');
	}

	connect() {
		const scheme = location.protocol === 'https:' ? 'wss://' : 'ws://';
		const socket = new WebSocket(scheme + location.host + '/socket');
		let asked = null, last = 0, fault = '', opened = false;
		const greet = () => {
			asked = proof.ask('GET', '/socket', '');
			last = 0;
			socket.send(asked.header);
		};
		socket.onopen = () => {
			opened = true;
			greet();
		};
		socket.onmessage = (event) => {
			const [, sent, number, now, text] = /^(\w+) (\d+) (\w+)\n([^]*)$/.exec(event.data) || [];
			if (!text || Number(number) !== last + 1 || !asked.isSnapshot(sent, number, now, text)) {
				fault = IMPOSTOR;
				socket.close();
				return;
			}
			last++;
			proof.renew(now);
			this.take(JSON.parse(text), greet);
		};
		socket.onclose = (event) => {
			this.why = fault || CLOSED[event.code] || (opened ? 'the connection was closed' : 'achweb does not answer');
			if (!fault && event.code === 1008)
				this.on.login(ENDED);
			setTimeout(() => this.connect(), RETRY_MS);
		};
	}

	take(message, greet) {
		if (message.op === 'again')
			greet();
		if (message.op === 'robot')
			this.last = performance.now();
		if (this.on[message.op])
			this.on[message.op](message);
	}
}

async function send(path, body, signal) {
	const asked = proof.ask('POST', path, body);
	const answer = await fetch(path, {
		method: 'POST', cache: 'no-store', credentials: 'omit', redirect: 'error', signal, body,
		headers: { 'Content-Type': 'application/json', 'X-Endplate': asked.header },
	});
	const bytes = new Uint8Array(await answer.arrayBuffer());
	const proven = asked.isAnswer(answer.headers.get('X-Endplate'), answer.status, bytes);
	return { proven, status: answer.status, text: new TextDecoder().decode(bytes) };
}

// achweb proves no answer to a request that it could not check.
function unproven(answer, path) {
	if (answer.status !== 401 && answer.status !== 429)
		return IMPOSTOR;
	if (path === '/login')
		return 'this link was used, or is older than 5 minutes (or ' + IMPOSTOR + '): achctl web prints another';
	return ENDED;
}

// The answer {ok, text}; ok is undefined if there is none that is proven.
export async function post(path, body, withinMs) {
	if (!(path === '/act' ? proof.mayAct() : proof.isLoggedIn()))
		return { ok: false, text: 'achctl web' + (path === '/act' ? ' --act' : '') + ' prints a link for that' };
	const end = new AbortController();
	const timer = setTimeout(() => end.abort(), withinMs || 5000);
	try {
		for (let i = 0; i < 3; i++) {
			const answer = await send(path, JSON.stringify(body), end.signal);
			if (!answer.proven)
				return { ok: undefined, text: unproven(answer, path) };
			const got = JSON.parse(answer.text);
			if (answer.status !== 409)
				return got;
			proof.renew(got.challenge); // of a new process, or after a time without snapshots
		}
		return { ok: undefined, text: 'achweb has restarted again and again' };
	} catch (error) {
		return { ok: undefined, text: end.signal.aborted ? 'no answer in time' : 'the server does not answer' };
	} finally {
		clearTimeout(timer);
	}
}
