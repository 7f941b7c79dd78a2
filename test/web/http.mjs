// http.mjs: requests that a page of another origin, another program or another user could send.
import { arm as armRobot, ask, check, link, login, require, run, sleep } from './lib.mjs';

const WebSocket = require('ws');
const UPGRADE = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13',
	'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' };
const ARM = { do: 'arm', seen: ['1', '1', '1', '1'] };

// A WebSocket of the page: what came, and how it ended.
function open(session) {
	const ws = new WebSocket(`ws://127.0.0.1:${session.port}/socket`, { headers: { Origin: session.origin, Host: session.host } });
	const seen = { ws, messages: [], code: new Promise((done) => { ws.on('close', done); ws.on('error', () => done('error')); }) };
	ws.on('message', (data) => seen.messages.push(String(data)));
	return new Promise((done) => ws.on('open', () => done(seen)));
}

await run({
	async foreign_origins_and_hosts_are_refused() {
		const session = await login('--act'), { origin } = session, evil = 'http://evil.example';
		const expect = async (status, ...words) => {
			const got = await ask(origin, ...words);
			check(got.status === status, `${words[0]} ${JSON.stringify(words[1])}: ${got.status} instead of ${status}`);
			check(!got.headers['set-cookie'], 'a cookie');
			return got;
		};
		const post = (path, body, headers) => expect(headers.status, path, { ...session.headers(path, body), ...headers.with },
			'POST', body);
		await expect(101, '/socket', { Origin: origin, ...UPGRADE });
		await expect(403, '/socket', { Origin: evil, ...UPGRADE });
		await expect(421, '/', { Host: 'evil.example' });
		await expect(421, '/', { Host: '0123456789abcdef.localhost:' + session.port }); // was not given out
		await expect(200, '/', { Host: '127.0.0.1:' + session.port });
		await expect(200, '/', { Host: 'localhost:' + session.port });
		await post('/stop', '{}', { status: 403, with: { Origin: evil } });
		await post('/stop', '{}', { status: 403, with: { 'X-Endplate': '' } });
		await post('/stop', '{}', { status: 401, with: { 'X-Endplate': '1' } });
		await expect(405, '/stop', {});
		await expect(404, '/../../etc/passwd', {});
		await post('/login', '{}', { status: 401, with: {} }); // a session is not a link
		const page = await expect(200, '/', {});
		check(/default-src 'none'.*worker-src 'none'/.test(page.headers['content-security-policy']), 'no content policy');
		check(page.headers['x-content-type-options'] === 'nosniff', 'no nosniff');
		for (const path of ['/', '/app.js', '/style.css'])
			check((await expect(200, path, {})).headers['cache-control'] === 'no-store', path + ' may be kept');
	},
	async looking_and_acting_are_two_rights() {
		const look = await login(), act = await login('--act');
		check((await look.post('/act', ARM)).status === 401, 'look arms');
		const answer = await act.post('/act', ARM);
		check(answer.status === 200 && answer.proven, 'act does not');
		act.keys.act = act.keys.look;
		check((await act.post('/act', ARM)).status === 401, 'the key to look acts');
		check((await look.post('/stop', { level: 'hold' })).proven, 'look does not stop');
		await armRobot();
	},
	async a_request_is_good_once() {
		const session = await login('--act');
		await session.post('/act', ARM); // learns the challenge
		const body = JSON.stringify(ARM), headers = session.headers('/act', body);
		check((await ask(session.origin, '/act', headers, 'POST', body)).status === 200, 'not at all');
		check((await ask(session.origin, '/act', headers, 'POST', body)).status === 401, 'twice');
	},
	async a_page_that_sends_frames_is_closed() {
		const session = await login(), seen = await open(session);
		seen.ws.send(session.claim('GET', '/socket', ''));
		while (!seen.messages.length)
			await sleep(10);
		seen.ws.send('{"op":"reference"}');
		check(await seen.code === 1008, 'not closed with 1008');
		const other = await open(session);
		other.ws.send('{"op":"reference"}');
		check(await other.code === 1008 && !other.messages.length, 'without a proof: not closed, or served');
	},
	async too_many_logins_are_slowed_down() {
		const { origin } = await login(), session = await login();
		const all = await Promise.all(Array.from({ length: 20 }, () => ask(origin, '/login', { ...session.headers('/login', '{}'),
			Origin: origin }, 'POST', '{}')));
		check(all.some((one) => one.status === 429), 'none was refused');
		check(/^http:/.test(link()), 'achctl web does not work beside it');
	},
});
process.exit(0);
