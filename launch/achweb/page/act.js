// act.js: stopping with one gesture, everything else with two.

import { $, dress, make, say } from './dom.js';
import { post } from './link.js';

const AGAIN_MS = 500;
const STOPS = 6; // attempts, if the server does not answer
const SURE_MS = 4000;
const BOUNCE_MS = 350; // a double click is one gesture

function alarm(text, kind) {
	say($('alarm'), text);
	dress($('alarm'), text ? 'loud ' + kind : '');
}

export function result(answer, what) {
	const good = answer.ok === true;
	say($('said'), good ? answer.text : what + (answer.ok === false ? ': ' : ' NOT CONFIRMED: ') + answer.text);
	dress($('said'), good ? 'good' : 'bad');
}

// Says loudly what is not confirmed, and tries again as long as the server is silent.
export async function stop(level) {
	const word = level === 'hold' ? 'HOLD' : 'STOP';
	alarm(word + ' sent, not confirmed yet', 'busy');
	for (let i = 0; i < STOPS; i++) {
		const answer = await post('/stop', { level }, 3000);
		if (answer.ok) {
			alarm(word + ' confirmed: ' + answer.text, 'done');
			return;
		}
		alarm(word + ' NOT CONFIRMED: ' + answer.text + '. Use the hardware stop!', 'bad');
		if (answer.ok === false)
			return;
		await new Promise((done) => setTimeout(done, AGAIN_MS));
	}
}

export function clearAlarm() {
	if ($('alarm').classList.contains('done'))
		alarm('', '');
}

// The first press asks, the second one, within seconds, does it: for what the person saw at the first one.
export function twice(button, question, action, look = () => null) {
	let since = -Infinity, timer = 0, saw = null;
	const label = button.textContent;
	const calm = () => {
		since = -Infinity;
		button.textContent = label;
		button.classList.remove('sure');
	};
	button.addEventListener('click', async () => {
		const now = performance.now();
		if (now - since < BOUNCE_MS)
			return;
		clearTimeout(timer);
		if (now - since > SURE_MS) {
			since = now;
			saw = look();
			button.textContent = question;
			button.classList.add('sure');
			timer = setTimeout(calm, SURE_MS);
			return;
		}
		calm();
		button.disabled = true;
		say($('said'), label + ' …');
		dress($('said'), '');
		await action(saw);
		button.disabled = false;
	});
	return button;
}

export function act(word, name, withinMs) {
	return async () => result(await post('/act', { do: word, name }, withinMs), word + ' ' + name);
}

export function buttons(name, words) {
	const span = make('span', 'acts');
	for (const word of words) {
		const button = make('button', 'small', word);
		button.type = 'button';
		button.setAttribute('aria-label', word + ' ' + name);
		span.append(twice(button, word + ' ' + name + '?', act(word, name, word === 'home' ? 65000 : 15000)));
	}
	return span;
}

export function begin(seen) {
	const typing = (node) => ['INPUT', 'SELECT', 'TEXTAREA'].includes(node.tagName);
	$('stop').addEventListener('click', () => stop('estop'));
	$('hold').addEventListener('click', () => stop('hold'));
	document.addEventListener('keydown', (event) => {
		if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || typing(event.target))
			return;
		if (event.key === 'e' || event.key === 'h')
			stop(event.key === 'e' ? 'estop' : 'hold');
	});
	// Arming is for what this person saw at the first press: a stop that came later makes the robot refuse it.
	twice($('arm'), 'Really arm?', async (saw) => {
		const answer = await post('/act', { do: 'arm', seen: saw }, 10000);
		result(answer, 'arm');
		if (answer.ok)
			clearAlarm();
	}, seen);
}
