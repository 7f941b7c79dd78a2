// link.js: the connection to achweb: login, the WebSocket, and the page's own clock.

const RETRY_MS = 1000;
const KEY = 'endplate-key'; // of the session: only pages of this address and port can read it

function keep(key) {
	try {
		localStorage.setItem(KEY, key);
	} catch (error) {
		// without storage the page looks and stops
	}
}

function keyOf() {
	try {
		return localStorage.getItem(KEY) || '1';
	} catch (error) {
		return '1';
	}
}

export class Link {
	// on: an object of functions, by the word "op" of a message, and open, login.
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
		const token = /^#([0-9a-f]{32})$/.exec(location.hash);
		if (token) {
			history.replaceState(null, '', location.pathname);
			const answer = await post('/login', { token: token[1] });
			if (answer.ok)
				keep(answer.key);
			else
				this.on.login(answer.text);
		}
		this.connect();
	}

	connect() {
		const scheme = location.protocol === 'https:' ? 'wss://' : 'ws://';
		const socket = new WebSocket(scheme + location.host + '/socket');
		let opened = false;
		socket.onopen = () => {
			opened = true;
			this.on.open();
		};
		socket.onmessage = (event) => {
			const message = JSON.parse(event.data);
			if (message.op === 'robot')
				this.last = performance.now();
			if (this.on[message.op])
				this.on[message.op](message);
		};
		socket.onclose = () => {
			this.why = 'achweb does not answer';
			if (!opened)
				this.ask();
			setTimeout(() => this.connect(), RETRY_MS);
		};
	}

	// A browser does not say why a WebSocket was refused.
	async ask() {
		const answer = await fetch('/session', { cache: 'no-store' }).catch(() => null);
		if (answer && answer.status === 401) {
			this.why = 'not logged in';
			this.on.login((await answer.json()).text);
		}
	}
}

// The answer {ok, text}; ok is undefined if there is none.
export async function post(path, body, withinMs) {
	const end = new AbortController();
	const timer = setTimeout(() => end.abort(), withinMs || 5000);
	try {
		const answer = await fetch(path, {
			method: 'POST', cache: 'no-store', signal: end.signal,
			headers: { 'Content-Type': 'application/json', 'X-Endplate': keyOf() },
			body: JSON.stringify(body),
		});
		return await answer.json();
	} catch (error) {
		return { ok: undefined, text: end.signal.aborted ? 'no answer in time' : 'the server does not answer' };
	} finally {
		clearTimeout(timer);
	}
}
