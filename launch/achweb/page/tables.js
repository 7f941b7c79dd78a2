// tables.js: daemons, buses, joints, sensors, batteries, events.

import { buttons } from './act.js';
import { $, dress, keyed, make, number, row, say, time } from './dom.js';

const MARKS = ['●', '▲', '✖']; // state never by colour alone
const RANKS = ['good', 'odd', 'bad'];
const OLD_MS = 1000;
const tbody = (id) => $(id).tBodies[0];
const deg = (rad) => rad * 180 / Math.PI;
const celsius = (kelvin) => (kelvin === null || kelvin === undefined ? '–' : (kelvin - 273.15).toFixed(0) + ' °C');

function mark(cell, rank, text) {
	say(cell, MARKS[rank] + ' ' + text);
	dress(cell, 'rank ' + RANKS[rank]);
}

// A robot without batteries has no table of them.
function hide(id, list) {
	$(id).closest('section').hidden = !list.length;
}

// Flags as words; a dash says that none is set.
const words = (flags) => (flags === '-' ? '' : flags.replaceAll('|', ', '));

// "old": the data has an age worth saying.
function age(node, ms) {
	node.classList.toggle('old', !(ms < OLD_MS));
	return ms < OLD_MS ? '' : ' (' + (ms === null ? 'never' : time(ms / 1000) + ' old') + ')';
}

function explain(d) {
	return [d.why, d.pid > 0 && d.status !== d.life ? d.status : '', d.last_end && !(d.ready && d.uptime_s > 60) ?
		'last: ' + d.last_end : ''].filter(Boolean).join('; ');
}

export function daemons(robot, mayAct) {
	keyed(tbody('daemons'), robot.daemons.map((d, i) => ({ ...d, rank: robot.daemon_ranks[i] })), (d) => d.name, (d) => {
		const tr = row(11, [3, 4, 5, 6, 7, 8, 9]);
		tr.id = 'daemon-' + d.name;
		tr.cells[0].textContent = d.name;
		tr.cells[10].append(buttons(d.name, ['home', 'clear', 'restart']));
		return tr;
	}, (tr, d) => {
		const c = tr.cells;
		const texts = { 2: d.life || '–', 3: String(d.incarnation), 4: time(d.uptime_s), 5: String(d.restarts),
			6: d.rate_hz === null ? '–' : number(d.rate_hz, d.rate_hz < 10 ? 1 : 0, 'Hz'),
			7: time(d.age_ms === null ? null : d.age_ms / 1e3),
			8: time(d.late_p99_us === null ? null : d.late_p99_us / 1e6), 9: d.pid > 0 ? String(d.pid) : '–' };
		mark(c[1], d.rank, (d.life === 'fault' ? 'in fault' : d.state || 'unknown') + (d.rank ? ': ' + explain(d) : ''));
		for (const [i, text] of Object.entries(texts))
			say(c[i], text);
		c[5].classList.toggle('odd', d.restarts > 0);
		c[7].classList.toggle('old', d.age_ms > OLD_MS);
		c[10].firstChild.hidden = !mayAct;
		const [home] = c[10].firstChild.children;
		home.hidden = !d.life; // only a driver has a reply
	});
}

export function buses(robot) {
	hide('buses', robot.buses);
	keyed(tbody('buses'), robot.buses.map((b, i) => ({ ...b, rank: robot.bus_ranks[i] })), (b) => b.name,
		() => row(10, [3, 4, 5, 6, 7, 8, 9]), (tr, b) => {
			const texts = [b.name, b.interface, null, b.load === null ? '–' : (100 * b.load).toFixed(0) + ' %', b.stale,
				b.errors + b.rx_dropped, b.replaced, b.expired, b.lost, b.resets];
			texts.forEach((text, i) => i === 2 || say(tr.cells[i], String(text)));
			mark(tr.cells[2], b.rank, b.stalled ? 'stalled' : b.state || 'unknown');
			for (const i of [4, 5, 7, 8])
				tr.cells[i].classList.toggle('odd', texts[i] > 0);
		});
}

// ---- joints ----

export function limitsOf(facts, device, joint) {
	const all = facts.limits[device] || {};
	return all[joint] || all[''] || { position: [null, null] };
}

function joint(device, facts, i) {
	const f = device.fields;
	return { device: device.name, name: f.joint[i], position: f.position[i], velocity: f.velocity[i],
		current: f.current[i], temperature: f.temperature[i], life: f.lifecycle[i],
		flags: words(f.status[i]),
		ageMs: f.age_ns[i] === null ? null : f.age_ns[i] / 1e6 + device.age_ms,
		limits: limitsOf(facts, device.name, f.joint[i]).position };
}

// A limb, hubo-rarm, has a state of its own; its joints are those of hubo.
function isPart(d, all) {
	return all.some((whole) => d.name.startsWith(whole.name + '-') &&
		d.fields.joint.every((name) => whole.fields.joint.includes(name)));
}

export function jointsOf(robot, facts) {
	const all = robot.devices.filter((d) => d.type === 'joint-state');
	return all.filter((d) => !isPart(d, all))
		.flatMap((d) => d.fields.joint.map((_, i) => joint(d, facts, i)))
		.filter((j) => j.life !== 'down' || j.position !== null);
}

function gauge() {
	const bar = make('div', 'gauge');
	bar.append(make('i'));
	return bar;
}

function setGauge(bar, low, value, high) {
	const known = low !== null && high !== null && value !== null && high > low;
	bar.hidden = !known;
	if (known)
		bar.firstChild.style.left = Math.max(0, Math.min(100, 100 * (value - low) / (high - low))).toFixed(1) + '%';
}

export function joints(list) {
	hide('joints', list);
	keyed(tbody('joints'), list, (j) => j.device + '.' + j.name, (j) => {
		const tr = row(7, [2, 3, 4, 5]);
		tr.id = 'joint-' + j.device + '-' + j.name;
		tr.cells[0].textContent = j.device + ' ' + j.name;
		tr.cells[1].append(gauge(), make('span', 'note'));
		return tr;
	}, (tr, j) => {
		const c = tr.cells, [low, high] = j.limits;
		const bad = /fault|silent/.test(j.flags) || j.life === 'fault', odd = /limit|warning/.test(j.flags);
		const old = age(tr, j.ageMs);
		setGauge(c[1].firstChild, low, j.position, high);
		say(c[1].lastChild, low === null ? 'no limits' : '');
		c[1].title = low === null ? '' : deg(low).toFixed(0) + '° to ' + deg(high).toFixed(0) + '°';
		say(c[2], j.position === null ? '–' : deg(j.position).toFixed(1) + '°');
		say(c[3], j.velocity === null ? '–' : deg(j.velocity).toFixed(1) + ' °/s');
		say(c[4], number(j.current, 2, 'A'));
		say(c[5], celsius(j.temperature));
		mark(c[6], bad ? 2 : odd ? 1 : 0, [j.life, j.flags].filter(Boolean).join(': ') + old);
	});
}

// ---- sensors ----

const SENSORS = {
	imu: [['acceleration', 2, 'm/s²'], ['rate', 3, 'rad/s'], ['orientation', 3, '']],
	'force-torque': [['force', 1, 'N'], ['torque', 2, 'N m']],
	'gripper-state': [['grip', 0, ''], ['position', 2, ''], ['current', 2, 'A'], ['finger', 0, '']],
	'balance-state': [['mode', 0, ''], ['lean', 3, 'rad'], ['speed', 2, 'm/s'], ['travel', 2, 'm'],
		['current', 1, 'A']],
	'mux-state': [['output', 0, ''], ['in_charge', 0, '']],
};

function reading(value, digits, unit) {
	const all = (Array.isArray(value) ? value : [value]).map((v) => (typeof v === 'number' ? v.toFixed(digits) : v ?? '–'));
	return all.join('  ') + (unit && all.some((v) => v !== '–') ? ' ' + unit : '');
}

export function sensors(robot) {
	const list = robot.devices.filter((d) => SENSORS[d.type]).flatMap((d) => SENSORS[d.type]
		.filter(([field]) => !(Array.isArray(d.fields[field]) && d.fields[field].every((v) => v === null)))
		.map(([field, digits, unit], i) => ({ d, field, digits, unit, first: !i })));
	hide('sensors', list);
	keyed(tbody('sensors'), list, (s) => s.d.name + '.' + s.field, () => {
		const tr = row(3, []);
		tr.cells[0].append(make('span'));
		return tr;
	}, (tr, s) => {
		const old = age(tr, s.d.age_ms);
		say(tr.cells[0].firstChild, s.d.name);
		dress(tr.cells[0].firstChild, s.first ? '' : 'for-readers'); // of a screen
		say(tr.cells[1], s.field.replaceAll('_', ' '));
		say(tr.cells[2], reading(s.d.fields[s.field], s.digits, s.unit) + (s.first ? old : ''));
	});
}

export function batteries(robot) {
	const list = robot.devices.filter((d) => d.type === 'battery');
	hide('batteries', list);
	keyed(tbody('batteries'), list, (d) => d.name, (d) => {
		const tr = row(6, [2, 3, 4]);
		const bar = make('meter');
		bar.min = 0;
		bar.max = 1;
		bar.low = 0.2;
		bar.setAttribute('aria-label', 'charge of ' + d.name);
		tr.cells[1].append(bar, make('span'));
		return tr;
	}, (tr, d) => {
		const f = d.fields, c = tr.cells, old = age(tr, d.age_ms > 5000 ? d.age_ms : 0);
		const alarms = words(f.alarms);
		say(c[0], d.name);
		c[1].firstChild.value = f.charge || 0;
		c[1].firstChild.hidden = f.charge === null;
		say(c[1].lastChild, f.charge === null ? 'unknown' : ' ' + (100 * f.charge).toFixed(0) + ' %');
		say(c[2], number(f.voltage, 1, 'V'));
		say(c[3], number(f.current, 1, 'A'));
		say(c[4], celsius(f.temperature));
		mark(c[5], alarms ? 2 : 0, (alarms || 'none') + old);
	});
}

// ---- events ----

const SEVERITIES = ['info', 'warning', 'error', 'fatal'];

export function events(list) {
	const from = Number($('severity').value), word = $('search').value.toLowerCase();
	const shown = list.filter((e) => SEVERITIES.indexOf(e.severity) >= from &&
		(e.source + ' ' + e.code + ' ' + e.text).toLowerCase().includes(word));
	keyed(tbody('events'), shown, (e) => [e.t_ms, e.source, e.code, e.text, e.repeated].join('\t'), (e) => {
		const tr = row(4, []), rank = Math.min(2, SEVERITIES.indexOf(e.severity));
		tr.cells[0].textContent = new Date(e.t_ms).toLocaleTimeString([], { hour12: false }) + '.' +
			String(e.t_ms % 1000).padStart(3, '0');
		tr.cells[1].textContent = e.source;
		mark(tr.cells[2], rank, e.severity);
		tr.cells[3].textContent = e.code + ': ' + e.text + (e.repeated > 1 ? ' (' + e.repeated + ' times)' : '');
		return tr;
	}, () => {});
}
