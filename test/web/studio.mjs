// studio.mjs: the live server, as Foxglove's own client library sees it.
import { execFileSync } from 'node:child_process';
import { achctl, check, link, require, run, sleep, status, until } from './lib.mjs';

const WebSocket = require('ws');
const { FoxgloveClient } = require('@foxglove/ws-protocol');
const { parse } = require('@foxglove/rosmsg');
const { MessageReader } = require('@foxglove/rosmsg2-serialization');

async function connect(protocol, ...words) {
	const client = new FoxgloveClient({ ws: new WebSocket(link('--foxglove', ...words), [protocol]) });
	const seen = { client, channels: new Map(), services: new Map(), messages: new Map(), errors: [], time: 0n };
	client.on('serverInfo', (info) => { seen.info = info; });
	client.on('advertise', (list) => list.forEach((one) => seen.channels.set(one.topic, one)));
	client.on('advertiseServices', (list) => list.forEach((one) => seen.services.set(one.name, one)));
	client.on('message', (message) => seen.messages.set(message.subscriptionId, message));
	client.on('time', (event) => { seen.time = event.timestamp; });
	client.on('error', (error) => seen.errors.push(String(error)));
	await until('serverInfo with ' + protocol, () => seen.info);
	await until('channels', () => seen.channels.has('/waist-state/joint_states'));
	return seen;
}

async function read(seen, topic) {
	const channel = seen.channels.get(topic), id = seen.client.subscribe(channel.id);
	const message = await until(topic, () => seen.messages.get(id));
	return new MessageReader(parse(channel.schema, { ros2: true })).readMessage(message.data);
}

function call(seen, name, request) {
	const service = seen.services.get(name), bytes = new TextEncoder().encode(JSON.stringify(request));
	return new Promise((done) => {
		seen.client.on('serviceCallResponse', (answer) => answer.callId === 7 &&
			done(JSON.parse(new TextDecoder().decode(answer.data))));
		seen.client.on('serviceCallFailure', (answer) => done({ ok: false, text: answer.message }));
		seen.client.sendServiceCallRequest({ serviceId: service.id, callId: 7, encoding: 'json',
			data: new DataView(bytes.buffer) });
	});
}

await run({
	async both_subprotocols_show_the_robot() {
		for (const protocol of ['foxglove.websocket.v1', 'foxglove.sdk.v1']) {
			const seen = await connect(protocol);
			const joints = await read(seen, '/waist-state/joint_states');
			check(joints.name.length === 1 && joints.name[0] === '15', JSON.stringify(joints.name));
			check(Math.abs(joints.position[0]) < 4, 'position ' + joints.position[0]);
			check(Math.abs(joints.header.stamp.sec - Date.now() / 1000) < 60, 'stamp ' + joints.header.stamp.sec);
			const own = await read(seen, '/waist-state');
			check(own.joint[0] === '15' && own.common.level !== undefined, 'endplate_msgs');
			const log = await read(seen, '/rosout');
			check(log.name && log.msg, JSON.stringify(log));
			const diagnostics = await read(seen, '/diagnostics');
			check(diagnostics.status.length > 0, 'diagnostics');
			await until('the time', () => seen.time > 0n);
			check(!seen.errors.length, seen.errors.join('; '));
			seen.client.close();
		}
	},
	async every_schema_is_understood() {
		const seen = await connect('foxglove.sdk.v1');
		for (const channel of seen.channels.values())
			parse(channel.schema, { ros2: true });
		check(seen.channels.size >= 6, seen.channels.size + ' channels');
		seen.client.close();
	},
	async other_subprotocols_and_keys_are_refused() {
		const refused = (url, protocols) => new Promise((done) => {
			const ws = new WebSocket(url, protocols);
			ws.on('unexpected-response', (request, response) => done(response.statusCode));
			ws.on('open', () => done(101));
			ws.on('error', () => {});
		});
		check(await refused(link('--foxglove'), ['other.v1']) === 400, 'other subprotocol');
		check(await refused(link('--foxglove').replace(/key=.*/, 'key=0123456789abcdef0123456789abcdef'),
			['foxglove.sdk.v1']) === 401, 'other key');
	},
	async services_stop_and_with_the_right_to_act_arm() {
		const looks = await connect('foxglove.sdk.v1'), acts = await connect('foxglove.sdk.v1', '--act');
		const all = [], fresh = async () => all[all.push(await connect('foxglove.sdk.v1', '--act')) - 1];
		check(!looks.services.has('/arm') && looks.services.has('/stop') && acts.services.has('/arm'), 'services');
		let answer = await call(looks, '/stop', {});
		check(answer.ok && status().level === 'estop', JSON.stringify(answer));
		answer = await call(acts, '/arm', { epoch: status().epoch });
		check(!answer.ok && /seen/.test(answer.text), 'armed by its epoch: ' + JSON.stringify(answer));
		await sleep(500); // the server looks ten times a second
		const ask = async () => JSON.parse(/\{"seen".*\}/.exec((await call(await fresh(), '/arm', {})).text)[0]);
		const early = await ask();
		check((await call(await fresh(), '/stop', {})).ok, 'a second stop');
		answer = await call(await fresh(), '/arm', early);
		check(!answer.ok && status().level === 'estop', 'armed over a stop that was not seen: ' + JSON.stringify(answer));
		await sleep(500);
		answer = await call(await fresh(), '/arm', await ask());
		check(answer.ok && status().level === 'run', JSON.stringify(answer));
		for (const one of [looks, acts, ...all])
			one.client.close();
	},
	async the_layout_names_topics_that_there_are() {
		const text = execFileSync('cat', ['launch/achweb/bench-krang.layout.json'], { encoding: 'utf8' });
		check(JSON.parse(text).configById, 'not a layout');
		check(/waist-state\/joint_states|\/waist-state\./.test(text) && /\/rosout/.test(text), 'no topics');
		achctl('arm');
	},
});
process.exit(0);
