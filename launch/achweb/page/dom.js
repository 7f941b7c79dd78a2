// dom.js: small helpers. Texts of the robot go in by textContent only.

export const $ = (id) => document.getElementById(id);

export function make(tag, className, text) {
	const node = document.createElement(tag);
	if (className)
		node.className = className;
	if (text !== undefined)
		node.textContent = text;
	return node;
}

export function svg(tag, attributes) {
	const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
	for (const [name, value] of Object.entries(attributes || {}))
		node.setAttribute(name, value);
	return node;
}

// Only what changed is touched: a screen reader, and a finger on a button, are not disturbed ten times a second.
export function say(node, text) {
	if (node.textContent !== text)
		node.textContent = text;
}

export function dress(node, className) {
	if (node.className !== className)
		node.className = className;
}

// The rows of a table, or the items of a list, by key; each is made once, updated often, and removed when it is gone.
export function keyed(parent, list, key, create, update) {
	const old = parent.rowsByKey || (parent.rowsByKey = new Map());
	const seen = new Set();
	let before = parent.firstElementChild;
	for (const item of list) {
		const k = key(item);
		let node = old.get(k);
		if (!node) {
			node = create(item);
			old.set(k, node);
		}
		seen.add(k);
		if (node === before)
			before = before.nextElementSibling;
		else
			parent.insertBefore(node, before);
		update(node, item);
	}
	for (const [k, node] of old) {
		if (!seen.has(k)) {
			node.remove();
			old.delete(k);
		}
	}
}

// A row with that many cells, the first of which is its heading.
export function row(cells, numbers) {
	const tr = make('tr');
	for (let i = 0; i < cells; i++) {
		const cell = make(i ? 'td' : 'th', numbers.includes(i) ? 'n' : '');
		if (!i)
			cell.scope = 'row';
		tr.append(cell);
	}
	return tr;
}

export function number(value, digits, unit) {
	return value === null || value === undefined ? '–' : value.toFixed(digits) + (unit ? ' ' + unit : '');
}

export function time(seconds) {
	if (seconds === null || seconds === undefined)
		return '–';
	if (seconds < 0.0009995)
		return (seconds * 1e6).toFixed(0) + ' µs';
	if (seconds < 0.9995)
		return (seconds * 1e3).toFixed(seconds < 0.00995 ? 1 : 0) + ' ms';
	if (seconds < 119.5)
		return seconds.toFixed(seconds < 9.95 ? 1 : 0) + ' s';
	return seconds < 7170 ? (seconds / 60).toFixed(0) + ' min' : (seconds / 3600).toFixed(0) + ' h';
}
