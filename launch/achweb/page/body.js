// body.js: a picture of the robot that moves with it: Krang from its side, or a bar for each joint.

import { $, dress, keyed, make, say, svg } from './dom.js';

const WHEEL = 0.264, BASE = 0.51, UPPER = 0.95, HEAD = 0.09, ARM = [0.33, 0.32, 0.22]; // m
const deg = (rad) => (rad === null ? '–' : (rad * 180 / Math.PI).toFixed(1) + '°');
let krang = null, bars = null;

function line(group, className) {
	const node = svg('line', { class: className });
	group.append(node);
	return node;
}

function place(node, from, to) {
	for (const [name, value] of [['x1', from[0]], ['y1', -from[1]], ['x2', to[0]], ['y2', -to[1]]])
		node.setAttribute(name, value.toFixed(3));
}

const along = (from, angle, length) => [from[0] + length * Math.sin(angle), from[1] + length * Math.cos(angle)];

function buildKrang() {
	const root = svg('svg', { viewBox: '-1.8 -1.75 3.6 2.1', role: 'img', 'aria-label': 'side view of the robot' });
	const k = { root, floor: line(root, 'floor'), arms: {} };
	place(k.floor, [-1.7, -WHEEL], [1.7, -WHEEL]);
	for (const [name, side] of [['rarm', 'far'], ['larm', 'near']])
		k.arms[name] = { side, links: [] };
	const addArm = (name) => {
		k.arms[name].links = ARM.map(() => line(root, 'arm ' + k.arms[name].side));
	};
	addArm('rarm');
	k.base = line(root, 'link');
	k.upper = line(root, 'link');
	k.head = root.appendChild(svg('circle', { r: HEAD, class: 'head' }));
	k.wheel = root.appendChild(svg('circle', { r: WHEEL, class: 'wheel' }));
	k.spoke = line(root, 'spoke');
	addArm('larm');
	return k;
}

function drawKrang(k, balance, devices) {
	const f = balance.fields, pitch = f.pitch || 0, upper = pitch + (f.waist_position || 0);
	const waist = along([0, 0], pitch, BASE), neck = along(waist, upper, UPPER), head = along(neck, upper, HEAD);
	const shoulder = along(waist, upper, UPPER * 0.85);
	place(k.base, [0, 0], waist);
	place(k.upper, waist, neck);
	k.head.setAttribute('cx', head[0].toFixed(3));
	k.head.setAttribute('cy', (-head[1]).toFixed(3));
	place(k.spoke, [0, 0], along([0, 0], (f.travel || 0) / WHEEL, WHEEL));
	for (const [name, arm] of Object.entries(k.arms)) {
		const state = devices.find((d) => d.name === name), angles = state ? state.fields.position : null;
		let at = shoulder, angle = upper + Math.PI;
		arm.links.forEach((link, i) => {
			// Every second joint bends the arm, those between turn it: a sketch, not its kinematics.
			angle -= angles && angles[2 * i + 1] || 0;
			const next = along(at, angle, ARM[i]);
			place(link, at, next);
			link.style.display = state ? '' : 'none';
			at = next;
		});
	}
	dress($('picture'), f.pitch === null || balance.age_ms > 1000 ? 'stale' : '');
}

function drawBars(joints) {
	if (!bars) {
		bars = make('div', 'jointbars');
		bars.setAttribute('role', 'img');
		bars.setAttribute('aria-label', 'joints within their limits; the table of joints has the numbers');
		$('picture').replaceChildren(bars);
	}
	keyed(bars, joints, (j) => j.device + '.' + j.name, (j) => {
		const bar = make('div', 'jointbar');
		bar.append(make('div', 'track'), make('small', '', j.name));
		bar.firstChild.append(make('i'));
		return bar;
	}, (bar, j) => {
		const [low, high] = j.limits, value = j.position === null ? 0 : j.position;
		const a = low === null ? -Math.PI : low, b = high === null ? Math.PI : high;
		const share = Math.max(0, Math.min(1, (value - a) / (b - a || 1)));
		bar.firstChild.firstChild.style.bottom = (100 * share).toFixed(1) + '%';
		bar.title = j.device + ' ' + j.name + ' ' + deg(j.position);
		dress(bar, 'jointbar' + (/fault|silent/.test(j.flags) ? ' bad' : '') + (j.ageMs < 1000 ? '' : ' stale'));
	});
}

function posture(pairs) {
	keyed($('posture'), pairs, (p) => p[0], (p) => {
		const div = make('div');
		div.append(make('dt', '', p[0]), make('dd'));
		return div;
	}, (div, p) => say(div.lastChild, p[1]));
}

export function update(robot, joints) {
	const balance = robot.devices.find((d) => d.type === 'balance-state');
	if (!balance) {
		drawBars(joints);
		posture([['joints', String(joints.length)]]);
		return;
	}
	if (!krang) {
		krang = buildKrang();
		$('picture').replaceChildren(krang.root);
	}
	const f = balance.fields;
	drawKrang(krang, balance, robot.devices);
	posture([['mode', f.mode], ['lean', deg(f.lean)], ['pitch', deg(f.pitch)], ['waist', deg(f.waist_position)],
		['speed', f.speed === null ? '–' : f.speed.toFixed(2) + ' m/s'],
		['inputs', 'imu ' + f.imu + ', wheels ' + f.wheels + ', waist ' + f.waist]]);
}
