// lib.mjs: what the tests of the page share: packages, commands, cases.
import { execFileSync } from 'node:child_process';
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

export function cookieOf(response) {
	return response.headers.get('set-cookie').split(';')[0];
}

// A session, as a program would get it: its cookie, and the key to act.
export async function login(...words) {
	const url = new URL(link(...words));
	const response = await fetch(url.origin + '/login', { method: 'POST', body: JSON.stringify({ token: url.hash.slice(1) }),
		headers: { 'Content-Type': 'application/json', 'X-Endplate': '1', Origin: url.origin } });
	check(response.ok, 'login: ' + response.status);
	return { origin: url.origin, cookie: cookieOf(response), key: (await response.json()).key };
}
