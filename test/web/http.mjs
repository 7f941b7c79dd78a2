// http.mjs: requests that a page of another origin, another program or another user could send.
import http from 'node:http';
import { check, link, login, require, run } from './lib.mjs';

const WebSocket = require('ws');

// The status, or 101.
function ask(origin, path, headers, method = 'GET', body = '') {
	const url = new URL(origin);
	return new Promise((done, fail) => {
		const request = http.request({ host: url.hostname, port: url.port, path, method, headers: { Host: url.host, ...headers } },
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

const socket = (origin, cookie) => ({ Origin: origin, Cookie: cookie, Connection: 'Upgrade', Upgrade: 'websocket',
	'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' });
const post = (origin, cookie, key) => ({ Origin: origin, Cookie: cookie, 'X-Endplate': key || '1',
	'Content-Type': 'application/json' });

await run({
	async foreign_origins_and_hosts_are_refused() {
		const { origin, cookie } = await login('--act');
		const evil = 'http://evil.example';
		const expect = async (status, ...words) => {
			const got = await ask(origin, ...words);
			check(got.status === status, `${words[0]} ${JSON.stringify(words[1])}: ${got.status} instead of ${status}`);
			return got;
		};
		await expect(101, '/socket', socket(origin, cookie));
		await expect(403, '/socket', socket(evil, cookie));
		await expect(401, '/socket', socket(origin, 'a=b'));
		await expect(421, '/', { Host: 'evil.example' });
		await expect(403, '/stop', post(evil, cookie), 'POST', '{}');
		await expect(403, '/stop', { ...post(origin, cookie), 'X-Endplate': '' }, 'POST', '{}');
		await expect(405, '/stop', post(origin, cookie));
		await expect(404, '/../../etc/passwd', {});
		await expect(400, '/login', post(origin, ''), 'POST', '{"token":"x"}');
		await expect(401, '/login', post(origin, ''), 'POST', '{"token":"0123456789abcdef0123456789abcdef"}');
		const page = await expect(200, '/', {});
		check(/default-src 'none'/.test(page.headers['content-security-policy']), 'no content policy');
		check(page.headers['x-content-type-options'] === 'nosniff', 'no nosniff');
	},
	async looking_and_acting_are_two_rights() {
		const look = await login(), act = await login('--act');
		const arm = JSON.stringify({ do: 'arm', seen: ['1', '1', '1', '1'] });
		check((await ask(look.origin, '/act', post(look.origin, look.cookie), 'POST', arm)).status === 403, 'look arms');
		check((await ask(act.origin, '/act', post(act.origin, act.cookie), 'POST', arm)).status === 403, 'a cookie acts');
		check((await ask(act.origin, '/act', post(act.origin, act.cookie, act.key), 'POST', arm)).status === 200,
			'act does not');
		check((await ask(look.origin, '/session', { Cookie: look.cookie })).status === 200, 'no session');
	},
	async a_page_that_sends_frames_is_closed() {
		const { origin, cookie } = await login();
		const ws = new WebSocket(origin.replace('http', 'ws') + '/socket', { headers: { Origin: origin, Cookie: cookie } });
		const code = await new Promise((done) => {
			ws.on('open', () => ws.send('{"op":"reference"}'));
			ws.on('close', done);
			ws.on('error', () => done('error'));
		});
		check(code === 1008, 'closed with ' + code);
	},
	async too_many_logins_are_slowed_down() {
		const { origin } = await login();
		const wrong = '{"token":"0123456789abcdef0123456789abcdef"}';
		const all = await Promise.all(Array.from({ length: 20 }, () => ask(origin, '/login', post(origin, ''), 'POST', wrong)));
		check(all.some((one) => one.status === 429), 'none was refused');
		check(/^http:/.test(link()), 'achctl web does not work beside it');
	},
});
process.exit(0);
