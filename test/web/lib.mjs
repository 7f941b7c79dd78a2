// lib.mjs: what the tests of the page share: packages, commands, cases.
import { execFileSync } from 'node:child_process';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import http from 'node:http';
import { createRequire } from 'node:module';

export const require = createRequire(process.env.NPM_FOLDER + '/package.json');

export function achctl(...words) {
	try {
		return execFileSync('achctl', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
	} catch (error) {
		return (error.stdout || '').trim();
	}
}

export const status = () => JSON.parse(achctl('status', '--json'));
export const daemon = (name) => status().daemons.find((one) => one.name === name);
export const link = (...words) => achctl('web', ...words);
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

export async function until(what, test, ms = 60000) {
	const end = Date.now() + ms;
	for (;;) {
		const found = await test();
		if (found)
			return found;
		if (Date.now() > end)
			throw new Error('timed out: ' + what);
		await sleep(20);
	}
}

// On a loaded machine a driver may be late and refuse for a moment.
export const arm = () => until('the robot is armed', () => {
	achctl('arm');
	return status().level === 'run';
});

export function check(condition, what) {
	if (!condition)
		throw new Error(what);
}

// Each case by itself: one that fails does not keep the others from running.
export async function run(cases) {
	for (const [name, test] of Object.entries(cases)) {
		try {
			await test();
			console.log(name + ':PASS');
		} catch (error) {
			console.log(name + ':FAIL: ' + String(error.stack).replaceAll('\n', ' | '));
		}
	}
}

const made = new Set();

// A message on a channel of the robot, as one of its drivers would publish it.
export function put(channel, type, fields) {
	const name = process.env.ENDPLATE_PREFIX + channel;
	if (!made.has(name))
		execFileSync('ach', ['mk', name, '--type', type]);
	made.add(name);
	execFileSync('ach', ['put', name, '--type', type, '--json', JSON.stringify(fields)]);
}

// ---- a page's side of the protocol (launch/achweb/proof.h), by another implementation ----

const fields = (list) => list.map((x) => Buffer.byteLength(x) + ':' + x).join('');
const mac = (key, ...list) => createHmac('sha256', key).update(fields(list));
const digest = (body) => createHash('sha256').update(body).digest('hex');

// The answer, or { status: 101 }; names below localhost are for browsers.
export function ask(origin, path, headers, method = 'GET', body = '') {
	const url = new URL(origin);
	return new Promise((done, fail) => {
		const request = http.request({ host: '127.0.0.1', port: url.port, path, method, headers: { Host: url.host, ...headers } },
			(response) => {
				let text = '';
				response.on('data', (part) => { text += part; });
				response.on('end', () => done({ status: response.statusCode, headers: response.headers, text }));
			});
		request.on('upgrade', (response, socket) => {
			socket.destroy();
			done({ status: 101, headers: response.headers });
		});
		request.on('error', fail);
		request.end(body);
	});
}

export class Session {
	constructor(url) {
		const key = Buffer.from(url.hash.slice(1), 'hex');
		Object.assign(this, { origin: url.origin, host: url.host, port: url.port, challenge: '-', count: 0 });
		this.client = randomBytes(16).toString('hex');
		this.id = mac(key, 'id').digest('hex').slice(0, 32);
		this.keys = { look: mac(key, 'look').digest(), act: mac(key, 'act').digest() };
	}

	key(path) {
		return path === '/act' ? this.keys.act : this.keys.look;
	}

	claim(method, path, body) {
		const count = String(++this.count);
		const proof = mac(this.key(path), 'ask', this.challenge, this.client, count, method, path, digest(body)).digest('hex');
		return [this.id, this.client, count, this.challenge, proof].join(' ');
	}

	headers(path, body) {
		return { Origin: this.origin, 'Content-Type': 'application/json', 'X-Endplate': this.claim('POST', path, body) };
	}

	// The answer, with proven; asks again with a new challenge.
	async post(path, what) {
		const body = JSON.stringify(what), used = this.challenge;
		const answer = await ask(this.origin, path, this.headers(path, body), 'POST', body);
		const proof = mac(this.key(path), 'answer', used, this.client, String(this.count), String(answer.status),
			digest(answer.text)).digest('hex');
		answer.proven = answer.headers['x-endplate'] === proof;
		if (answer.status !== 409)
			return answer;
		check(answer.proven, 'a challenge that is not proven');
		this.challenge = JSON.parse(answer.text).challenge;
		return this.post(path, what);
	}

	async login() {
		const answer = await this.post('/login', {});
		check(answer.status === 200 && answer.proven, 'login: ' + answer.status + ' ' + answer.text);
		this.id = JSON.parse(answer.text).session;
		for (const word of ['look', 'act'])
			this.keys[word] = mac(this.keys[word], 'session', this.client, this.id).digest();
		return this;
	}
}

// A session, as a program would get it.
export const login = (...words) => new Session(new URL(link(...words))).login();
