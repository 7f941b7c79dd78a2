// studio.mjs: the live server, as Foxglove's own client library sees it.
import { readFileSync } from 'node:fs';
import { arm, check, link, put, require, run, sleep, status, until } from './lib.mjs';

const WebSocket = require('ws');
const { FoxgloveClient } = require('@foxglove/ws-protocol');
const { parse } = require('@foxglove/rosmsg');
const { MessageReader } = require('@foxglove/rosmsg2-serialization');

async function connect(protocol, ...words) {
	const enough = typeof words[0] === 'function' ? words.shift() : (topics) => topics.has('/waist-state/joint_states');
	const client = new FoxgloveClient({ ws: new WebSocket(link('--foxglove', ...words), [protocol]) });
	const seen = { client, channels: new Map(), services: new Map(), messages: new Map(), errors: [], time: 0n };
	client.on('serverInfo', (info) => { seen.info = info; });
	client.on('advertise', (list) => {
		if (!seen.time)
			seen.errors.push('channels before the time');
		list.forEach((one) => seen.channels.set(one.topic, one));
	});
	client.on('advertiseServices', (list) => list.forEach((one) => seen.services.set(one.name, one)));
	client.on('message', (message) => seen.messages.set(message.subscriptionId, message));
	client.on('time', (event) => { seen.time = event.timestamp; });
	client.on('error', (error) => seen.errors.push(String(error)));
	await until('serverInfo with ' + protocol, () => seen.info);
	await until('channels', () => enough(seen.channels));
	return seen;
}

async function read(seen, topic) {
	const channel = seen.channels.get(topic), id = seen.client.subscribe(channel.id);
	const message = await until(topic, () => seen.messages.get(id));
	seen.client.unsubscribe(id);
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
			check(Math.abs(joints.header.stamp.sec - Number(seen.time) / 1e9) < 60, 'stamp ' + joints.header.stamp.sec);
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
		// What studios' readers of JSON schemas insist on.
		for (const { name, request, response } of seen.services.values())
			for (const { encoding, schemaEncoding, schema } of [request, response]) {
				const { type, properties } = JSON.parse(schema), known = ['boolean', 'string', 'array'];
				check(encoding === 'json' && schemaEncoding === 'jsonschema', name);
				check(type === 'object' && Object.values(properties).every((one) => known.includes(one.type)), name);
			}
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
		for (let i = 0; i < 10 && !answer.ok; i++) // a driver may be late and refuse for a moment
			answer = await call(await fresh(), '/arm', await ask());
		check(answer.ok && status().level === 'run', JSON.stringify(answer));
		for (const one of [looks, acts, ...all])
			one.client.close();
	},
	async a_3d_panel_shows_the_robot() {
		const put_both = () => {
			put('larm-state', 'joint-state', { count: 7, joint: ['4', '5', '6', '7', '8', '9', '10'], position: [0, 1.2, 0, 0, 0, 0, 0],
				velocity: [0, 0, 0, 0, 0, 0, 0], current: [0, 0, 0, 0, 0, 0, 0] });
			put('balance-state', 'balance-state', { pitch: 0.6, waist_position: 0.2, travel: 0.1, mode: 'standing' });
		};
		put_both();
		const seen = await connect('foxglove.sdk.v1',
			(topics) => topics.has('/larm-state') && topics.has('/balance-state/markers'));
		check(seen.channels.get('/balance-state/markers').schemaName === 'visualization_msgs/msg/MarkerArray', 'type');
		const markers = await until('an arm', async () => { // its state soon is too old
			put_both();
			const { markers } = await read(seen, '/balance-state/markers');
			return markers.some((one) => one.id === 20) && markers;
		});
		check(markers.every((one) => one.header.frame_id === 'base_footprint' && one.frame_locked && one.color.a === 1), 'frame');
		const base = markers.find((one) => one.id === 4), words = markers.filter((one) => one.type === 9);
		check(Math.abs(base.pose.orientation.y - Math.sin(0.3)) < 1e-9, 'pitch ' + base.pose.orientation.y);
		check(words.length === 1 && words[0].text === 'standing', 'text');
		check(markers.some((one) => one.id === 20) && !markers.some((one) => one.id === 30), 'one arm');
		seen.client.close();
	},
	async the_layout_shows_what_there_is() {
		const layout = JSON.parse(readFileSync('launch/achweb/bench-krang.layout.json', 'utf8')), paths = [];
		const panels = (node) => (typeof node === 'string' ? [node] : [...panels(node.first), ...panels(node.second)]);
		check(panels(layout.layout).sort().join() === Object.keys(layout.configById).sort().join(), 'panels');
		for (const [id, config] of Object.entries(layout.configById)) {
			const kind = id.split('!')[0];
			check(['3D', 'Plot', 'DiagnosticSummary', 'RosOut', 'Gauge', 'RawMessages', 'CallService'].includes(kind), id);
			paths.push(...(config.paths || []).map((one) => one.value), config.path, config.topicPath, config.topicToRender,
				...Object.keys(config.topics || {}));
			check(!config.followTf || config.followTf === 'base_footprint', 'frame');
		}
		// Channels of the whole robot, which is not up here.
		for (const name of ['rarm', 'wheels'])
			put(name + '-state', 'joint-state', { joint: ['a', 'b', 'c', 'd'], position: [1, 2, 3, 4], velocity: [0, 0, 0, 0],
				current: [1, 2, 3, 4] });
		for (const name of ['lft', 'rft'])
			put(name + '-state', 'force-torque', { force: [1, 2, 3], torque: [1, 2, 3] });
		const wanted = paths.filter(Boolean).map((path) => /^(\/[-a-z_/]+)(.*)$/.exec(path));
		const seen = await connect('foxglove.sdk.v1', (topics) => wanted.every(([, topic]) => topics.has(topic)));
		check(seen.services.has(layout.configById['CallService!stop'].serviceName), 'service');
		for (const [path, topic, fields] of wanted) {
			let value = await read(seen, topic);
			for (const [, field, index] of fields.matchAll(/\.(\w+)|\[(\d+)\]/g))
				value = value[field ?? Number(index)];
			check(fields ? typeof value === 'number' : value, path + ' is ' + value);
		}
		seen.client.close();
		await arm();
	},
});
process.exit(0);
