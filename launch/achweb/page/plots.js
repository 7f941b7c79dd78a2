// plots.js: the last seconds of chosen fields.

import { $, make, say } from './dom.js';

const SECONDS = 20;
const USUAL = ['waist.position.0', 'balance.lean', 'wheels.current.0'];
const KEY = 'endplate-plots';
const plots = new Map();
let history = []; // { t, values by path }
let offered = '', chosen = false;

// What this person has chosen before; null: nothing.
function load() {
	try {
		return JSON.parse(localStorage.getItem(KEY));
	} catch (error) {
		return null;
	}
}

// The usual fields, or the first joints, of a robot for which no fields were chosen.
function choose(all) {
	const have = all.map((n) => n.path), usual = USUAL.filter((path) => have.includes(path));
	const list = usual.length ? usual : have.filter((path) => path.includes('.position.')).slice(0, 3);
	chosen = chosen || list.length > 0;
	list.forEach(add);
}

function save() {
	try {
		localStorage.setItem(KEY, JSON.stringify([...plots.keys()]));
	} catch (error) {
		// a browser that keeps nothing
	}
}

// Every number of the robot, by its path.
function* numbers(robot) {
	for (const device of robot.devices) {
		for (const [field, value] of Object.entries(device.fields)) {
			if (field === 'count' || field.endsWith('_count'))
				continue;
			const list = Array.isArray(value) ? value : [value];
			const names = device.fields.joint && list.length === device.fields.joint.length ? device.fields.joint : null;
			for (let i = 0; i < list.length; i++) {
				if (typeof list[i] !== 'number')
					continue;
				const path = [device.name, field].concat(Array.isArray(value) ? [i] : []).join('.');
				const label = device.name + ' ' + field + (Array.isArray(value) ? ' ' + (names ? names[i] : i) : '');
				yield { path, label, value: list[i], type: device.type, field, old: device.age_ms > 1000 };
			}
		}
	}
}

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name);
}

function draw(plot, now) {
	const { canvas } = plot, ratio = window.devicePixelRatio || 1, pen = canvas.getContext('2d');
	const width = canvas.clientWidth, height = canvas.clientHeight;
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
	}
	const points = history.filter((h) => h.values.has(plot.path)).map((h) => [h.t, h.values.get(plot.path)]);
	let low = Math.min(...points.map((p) => p[1])), high = Math.max(...points.map((p) => p[1]));
	pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	pen.clearRect(0, 0, width, height);
	if (!points.length)
		return;
	if (high - low < 1e-9) {
		low -= 0.5;
		high += 0.5;
	}
	const x = (t) => width - (now - t) / (SECONDS * 1000) * width;
	const y = (v) => 14 + (height - 28) * (high - v) / (high - low);
	pen.font = '11px system-ui, sans-serif';
	pen.fillStyle = colour('--dim');
	pen.strokeStyle = colour('--rule');
	pen.beginPath();
	for (const v of [low, high]) {
		pen.moveTo(0, y(v));
		pen.lineTo(width, y(v));
		pen.fillText(v.toPrecision(3), 2, v === high ? 11 : height - 3);
	}
	pen.stroke();
	pen.strokeStyle = colour('--accent');
	pen.lineWidth = 1.5;
	pen.beginPath();
	let before = -Infinity;
	for (const [t, v] of points) {
		if (t - before > 1000) // a gap is a gap
			pen.moveTo(x(t), y(v));
		else
			pen.lineTo(x(t), y(v));
		before = t;
	}
	pen.stroke();
}

function add(path) {
	if (plots.has(path))
		return;
	const figure = make('figure', 'plot'), caption = make('figcaption'), canvas = make('canvas');
	const close = make('button', 'small', 'Remove');
	close.type = 'button';
	close.addEventListener('click', () => {
		figure.remove();
		plots.delete(path);
		save();
	});
	figure.append(caption, canvas, close);
	$('plots').append(figure);
	plots.set(path, { path, canvas, caption: caption.appendChild(make('span')), close });
}

function offer(all) {
	const paths = all.map((n) => n.path).join(' ');
	if (paths === offered)
		return;
	offered = paths;
	$('field').replaceChildren(new Option('choose …', ''), ...all.map((n) => new Option(n.label, n.path)));
}

export function begin() {
	const saved = load();
	chosen = Array.isArray(saved);
	if (chosen)
		saved.slice(0, 12).forEach(add);
	$('field').addEventListener('change', () => {
		if ($('field').value)
			add($('field').value);
		$('field').value = '';
		save();
	});
}

export function update(robot, facts) {
	const now = performance.now(), all = [...numbers(robot)];
	history = history.filter((h) => now - h.t < SECONDS * 1000 + 500);
	history.push({ t: now, values: new Map(all.filter((n) => !n.old).map((n) => [n.path, n.value])) });
	offer(all);
	if (!chosen)
		choose(all);
	for (const plot of plots.values()) {
		const n = all.find((one) => one.path === plot.path);
		const unit = n && facts.units[n.type] && facts.units[n.type][n.field] || '';
		say(plot.caption, n ? n.label + ' = ' + n.value.toPrecision(4) + ' ' + unit : plot.path + ': no data');
		plot.close.setAttribute('aria-label', 'remove the plot of ' + plot.path);
		plot.canvas.setAttribute('role', 'img');
		plot.canvas.setAttribute('aria-label', plot.path + ', last ' + SECONDS + ' s');
		draw(plot, now);
	}
}
