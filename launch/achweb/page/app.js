// app.js: the page: what came last, and how old it is.

import * as act from './act.js';
import * as body from './body.js';
import { $, dress, keyed, make, say } from './dom.js';
import { Link } from './link.js';
import * as plots from './plots.js';
import { mayAct as hasKey } from './proof.js';
import * as tables from './tables.js';

const DEAD_MS = 1000; // without a snapshot
const LEVELS = { run: ['● run', 'good'], hold: ['▲ hold', 'odd'], estop: ['■ e-stop', 'bad'] };
let robot = null, facts = { limits: {}, units: {} }, events = [], mayAct = false, mightAct = false, drawn = null;

// ---- what keeps the robot from being armed, and what to do ----

const LATCHES = {
	'position-unknown': 'home it', 'homing-aborted': 'home it again',
	'halted-by-other': 'find the program that halted it, then clear it', 'waits-for-person': 'look at it, then clear it',
};
const BUSES = {
	absent: 'plug the adapter in', stopped: 'bring the interface up', 'bus-off': 'check wiring, termination and bit rate',
	warning: 'check wiring and termination', passive: 'check wiring and termination',
};

function daemonAdvice(d) {
	if (d.life === 'fault')
		return 'remove the cause, then clear ' + d.name;
	return { failed: 'achctl log ' + d.name + ' says why; then clear ' + d.name, backoff: 'achctl log ' + d.name + ' says why',
		waiting: 'it waits for what it needs', stopped: 'achctl start ' + d.name }[d.state] || 'achctl log ' + d.name;
}

function checks() {
	const list = robot.doctor.map((f) => [f.part + ': ' + f.found, f.mend]);
	if (!robot.supervised)
		list.push(['no supervisor: ' + (robot.unsupervised_why || ''), 'start achstart']);
	robot.daemons.forEach((d, i) => {
		if (robot.daemon_ranks[i])
			list.push([d.name + ' is ' + (d.life === 'fault' ? 'in fault' : d.state || 'unknown') +
				(d.why ? ': ' + d.why : ''), daemonAdvice(d)]);
	});
	const inFault = robot.daemons.filter((d) => d.life === 'fault').map((d) => d.name);
	for (const d of robot.devices)
		for (const latch of d.latches)
			if (latch !== 'waits-for-person' || !inFault.includes(d.name)) // the same advice
				list.push([d.name + ': ' + latch, LATCHES[latch]]);
	robot.buses.forEach((b, i) => {
		if (robot.bus_ranks[i])
			list.push(['bus ' + b.name + ' is ' + (b.stalled ? 'stalled' : b.state), BUSES[b.state] || 'check the wiring']);
	});
	return list;
}

function showChecks() {
	const list = checks(), armed = robot.level === 'run';
	say($('checks-title'), list.length ? list.length + (list.length === 1 ? ' check fails:' : ' checks fail:') :
		'All checks pass.');
	keyed($('checks'), list, (c) => c[0], (c) => {
		const li = make('li');
		li.append(make('strong', '', c[0]), make('span', '', c[1] ? ' – ' + c[1] : ''));
		return li;
	}, () => {});
	$('arm').disabled = !mayAct || armed;
	say($('may'), mayAct ? armed ? 'The robot is armed.' : 'Takes two presses.' : mightAct ?
		'After a reload this page may look and stop. For more: achctl web --act prints a new link' :
		'This session may look and stop. For more: achctl web --act');
}

// ---- the bar ----

// Who set the level, and why.
function levelWords() {
	if (!robot.level)
		return robot.why || 'no e-stop channels';
	const by = robot.who ? ' by ' + robot.who : '', why = robot.why && robot.why !== 'armed' ? ': ' + robot.why : '';
	const word = { run: 'armed', hold: 'held', estop: 'stopped' }[robot.level] || robot.level;
	return word + by + why + ' (epoch ' + robot.epoch + ')';
}

function truth() {
	const ready = robot.daemons.filter((d) => d.ready || d.state === 'done').length;
	const bad = robot.daemons.filter((d, i) => robot.daemon_ranks[i]).map((d) => d.name + ' ' + (d.life === 'fault' ? 'in fault' : d.state));
	const buses = robot.buses.filter((b, i) => robot.bus_ranks[i]).map((b) => 'bus ' + b.name + ' ' + (b.stalled ? 'stalled' : b.state));
	const parts = [];
	if (!robot.supervised)
		parts.push('NO SUPERVISOR');
	if (robot.stopping)
		parts.push('stopping');
	if (robot.apart)
		parts.push(robot.apart + ' is at another level');
	parts.push(...bad, ...buses);
	if (!parts.length)
		parts.push('all ' + robot.daemons.length + ' daemons ready, ' + robot.buses.length + (robot.buses.length === 1 ? ' bus fine' : ' buses fine'));
	else
		parts.push(ready + ' of ' + robot.daemons.length + ' ready');
	if (robot.clock_still)
		parts.push("the robot's clock stands still: " + robot.clock_still);
	if (robot.pace !== null)
		parts.push('virtual clock' + (robot.behind_s >= 0.1 ? ', ' + robot.behind_s.toFixed(1) + ' s behind life' : ''));
	return { text: parts.join(', ') + ' – ' + levelWords(), fine: robot.fine };
}

function showBar(dead) {
	if (dead || !robot) {
		const never = link.silence() === Infinity;
		dress($('level'), 'badge unknown');
		say($('level'), '? unknown');
		say($('line'), never ? link.why : 'NO DATA for ' + (link.silence() / 1000).toFixed(0) + ' s: ' + link.why +
			'. Everything below is old.');
		dress($('bar'), never ? 'waiting' : 'dead');
		$('arm').disabled = true; // what it would be for is not known
	} else {
		const [word, kind] = LEVELS[robot.level] || ['? unknown', 'unknown'], t = truth();
		dress($('level'), 'badge ' + kind);
		say($('level'), word);
		say($('line'), t.text);
		dress($('bar'), t.fine ? 'fine' : 'odd');
	}
	$('main').classList.toggle('stale', dead);
	say($('age'), robot ? 'data ' + (link.silence() < 950 ? '< 1' : (link.silence() / 1000).toFixed(0)) + ' s old' : '');
}

// ---- drawing ----

function draw() {
	const dead = link.silence() > DEAD_MS;
	showBar(dead);
	if (!robot || robot === drawn)
		return;
	drawn = robot;
	say($('robot'), robot.robot || 'robot');
	document.title = (robot.level || '?') + ' ' + (robot.robot || 'robot');
	const joints = tables.jointsOf(robot, facts);
	showChecks();
	tables.daemons(robot, mayAct);
	tables.buses(robot);
	tables.joints(joints);
	tables.sensors(robot);
	tables.batteries(robot);
	body.update(robot, joints);
	plots.update(robot, facts);
	$('main').hidden = false;
	$('login').hidden = true;
}

const link = new Link({
	login: (why) => {
		$('login').hidden = false;
		$('main').hidden = !robot;
		say($('login-why'), why || '');
	},
	hello: (message) => {
		$('login').hidden = true;
		mightAct = message.act;
		mayAct = mightAct && hasKey();
	},
	facts: (message) => { facts = message; },
	events: (message) => {
		events = message.list;
		tables.events(events);
	},
	robot: (message) => {
		const level = robot && robot.level;
		robot = message;
		if (level && level !== robot.level && robot.level === 'run')
			act.clearAlarm();
		requestAnimationFrame(draw);
	},
});

$('main').hidden = true;
act.begin(() => robot && robot.seen);
plots.begin();
for (const id of ['severity', 'search'])
	$(id).addEventListener('input', () => tables.events(events));
setInterval(draw, 200);
link.begin();
