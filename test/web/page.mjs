// page.mjs: the page in a real browser: what a person sees and does.
import { achctl, arm, check, daemon, link, put, require, run, sleep, status, until } from './lib.mjs';

const { chromium } = require('playwright-core');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const errors = [];

async function open(url, options) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
	const page = await context.newPage();
	page.snapshots = 0;
	page.scripts = 0;
	page.on('request', (request) => { page.scripts += request.resourceType() === 'script' ? 1 : 0; });
	page.on('pageerror', (error) => errors.push(String(error)));
	page.on('console', (message) => message.type() === 'error' && !/Failed to load resource|WebSocket/.test(message.text()) &&
		errors.push(message.text()));
	page.on('websocket', (socket) => socket.on('framereceived', (frame) => {
		page.snapshots += String(frame.payload).includes('\n{"op":"robot"') ? 1 : 0;
	}));
	await page.goto(url);
	return page;
}

const text = (page, selector) => page.locator(selector).textContent();
const level = async (page, word) => until('level ' + word, async () => (await text(page, '#level')).includes(word));
const cell = (page, name, n) => text(page, `#daemon-${name} > :nth-child(${n})`);

let page, used;
await run({
	async bring_up_is_seen() {
		used = link('--act');
		page = await open(used);
		await level(page, 'run');
		await until('the bar', async () => /all 5 daemons ready, 1 bus fine/.test(await text(page, '#line')));
		for (const name of ['canwire', 'robotsim', 'clock', 'waist', 'achweb'])
			check((await cell(page, name, 2)).includes('ready'), name);
		await until('the joint', () => page.locator('#joint-waist-15 .gauge i').isVisible());
		check(!page.url().includes('#'), 'the token stays in the address');
		await until('an event', async () => /ready/.test(await text(page, '#events')));
		await until('a plot', async () => /waist position/.test(await text(page, '#plots')));
	},
	async a_link_works_once() {
		const other = await open(used);
		await until('the login', () => other.locator('#login').isVisible());
		check(/was used/.test(await text(other, '#login-why')) || /log in/.test(await text(other, '#login-why')), 'why');
		check(!await other.locator('#main').isVisible(), 'the robot is shown');
		await other.context().close();
	},
	async a_killed_waist_is_seen_within_ten_snapshots() {
		const before = daemon('waist');
		await until('the process', async () => await cell(page, 'waist', 10) === String(before.pid));
		const from = page.snapshots;
		process.kill(before.pid, 'SIGKILL');
		await page.waitForFunction((pid) => document.querySelector('#daemon-waist').cells[9].textContent !== pid,
			String(before.pid), { polling: 10, timeout: 60000 });
		const took = page.snapshots - from;
		console.log('a killed waist was seen after ' + took + ' snapshots of 100 ms');
		check(took <= 10, 'seen after ' + took + ' snapshots');
		await until('the restart', async () => await cell(page, 'waist', 6) === '1');
		await until('the event', async () => /killed|ended|signal/i.test(await text(page, '#events')));
	},
	async arming_takes_two_presses_and_stopping_one() {
		await page.click('#stop');
		await until('the confirmation', async () => /STOP confirmed/.test(await text(page, '#alarm')));
		await level(page, 'e-stop');
		check(status().level === 'estop', 'the robot is not stopped');
		await page.click('#arm');
		check(/Really/.test(await text(page, '#arm')), 'no question');
		await page.click('#arm'); // a double click is one gesture
		await sleep(500);
		check(status().level === 'estop', 'armed by one gesture');
		await page.click('#arm');
		await until('the answer', async () => /armed: level run|refused/.test(await text(page, '#said')));
		if (/refused/.test(await text(page, '#said')))
			await arm(); // a driver was late
		await level(page, 'run');
		check(status().level === 'run', 'the robot is not armed');
		await page.keyboard.press('h');
		await level(page, 'hold');
		await arm();
		await level(page, 'run');
	},
	async a_stop_since_the_page_was_read_refuses_arming() {
		achctl('estop');
		await level(page, 'e-stop');
		const answer = await page.evaluate(async () => (await import('/link.js')).post('/act',
			{ do: 'arm', seen: ['1', '1', '1', '1'] }));
		check(answer.ok === false && /refused/.test(answer.text), JSON.stringify(answer));
		check(status().level === 'estop', 'armed');
		await arm();
		await level(page, 'run');
	},
	async arming_is_for_what_was_seen_at_the_first_press() {
		achctl('estop');
		await level(page, 'e-stop');
		await page.click('#arm');
		const from = page.snapshots;
		achctl('estop', '--why', 'another person');
		await until('that the page knows of it', () => page.snapshots > from + 5);
		await page.click('#arm');
		await until('the refusal', async () => /arm: refused/.test(await text(page, '#said')));
		check(status().level === 'estop', 'armed over a stop that came after the first press');
		await arm();
		await level(page, 'run');
	},
	async a_restart_answers_with_the_words_of_the_robot() {
		const button = page.locator('#daemon-waist button', { hasText: 'restart' });
		await button.click();
		await sleep(400);
		await page.locator('#daemon-waist button', { hasText: 'restart waist?' }).click();
		await until('the answer', async () => /waist: ready, .*process \d+, incarnation \d+/.test(await text(page, '#said')));
		await page.locator('#daemon-clock button', { hasText: 'home' }).click();
		await sleep(400);
		await page.locator('#daemon-clock button', { hasText: 'home clock?' }).click();
		await until('the refusal', async () => /home clock: refused: /.test(await text(page, '#said')));
	},
	async a_session_that_looks_has_no_actions_but_stops() {
		const other = await open(link());
		await level(other, 'run');
		check(await other.locator('#arm').isDisabled(), 'arm is offered');
		check(!await other.locator('#daemon-waist button', { hasText: 'restart' }).isVisible(), 'restart is offered');
		check(/may look and stop/.test(await text(other, '#may')), 'it does not say so');
		await other.keyboard.press('e');
		await until('the confirmation', async () => /STOP confirmed/.test(await text(other, '#alarm')));
		check(status().level === 'estop', 'the robot is not stopped');
		await arm();
		await other.context().close();
	},
	async texts_of_the_robot_are_never_markup() {
		const evil = (n) => `<img src=x onerror=window.owned=${n}><script>window.owned=${n}</script>`;
		put('evil-event', 'event', { severity: 'error', source: '<img src=x>', code: '<b>code</b>', text: evil(1) });
		put('evil-state', 'joint-state', { count: 1, joint: ['<i>j</i>'], position: [1], velocity: [0], current: [0] });
		achctl('estop', '--why', evil(2).slice(0, 60));
		await until('the event', async () => (await text(page, '#events')).includes(evil(1)));
		await until('the reason', async () => (await text(page, '#line')).includes('<img src=x onerror=window.owned=2>'));
		await until('the joint', async () => (await text(page, '#joints')).includes('evil <i>j</i>'));
		const answer = await page.evaluate(async () => {
			const { post } = await import('/link.js'), { result } = await import('/act.js');
			result(await post('/act', { do: 'home', name: '<img src=x onerror=window.owned=3>' }), '<script>window.owned=4</script>');
			return [document.querySelectorAll('img, i:not(.gauge i, .track i), b, script:not([src]), [onerror]').length, window.owned];
		});
		check(answer[0] === 0 && !answer[1], 'markup: ' + answer);
		check(/<script>/.test(await text(page, '#said')), await text(page, '#said'));
		await arm();
		await level(page, 'run');
	},
	async a_reload_looks_and_stops_and_does_not_act() {
		await page.reload();
		await level(page, 'run');
		check(!await page.locator('#login').isVisible(), 'login');
		check(await page.locator('#arm').isDisabled(), 'arm is offered');
		check(/After a reload.*achctl web --act/.test(await text(page, '#may')), await text(page, '#may'));
		check(!await page.locator('#daemon-waist button', { hasText: 'restart' }).isVisible(), 'restart is offered');
		check(!/act/.test(Object.keys(await page.evaluate(() => ({ ...localStorage }))).join()), 'localStorage');
		check(!(await page.context().cookies()).length, 'a cookie');
		await page.keyboard.press('e');
		await until('the confirmation', async () => /STOP confirmed/.test(await text(page, '#alarm')));
		await arm();
		await level(page, 'run');
	},
	async a_script_that_is_not_achwebs_is_not_run() {
		const context = await browser.newContext(), other = await context.newPage();
		await context.route('**/proof.js', async (route) => {
			const response = await route.fetch({ url: route.request().url().replace(/\/\/[^:]*/, '//127.0.0.1') });
			await route.fulfill({ response, body: 'window.owned = 1;\n' + await response.text() });
		});
		await other.goto(link());
		await other.waitForLoadState('load');
		check(await other.evaluate(() => window.owned) === undefined, 'it was run');
		check(await text(other, '#line') === 'connecting', 'the page runs with it');
		await context.close();
	},
	async a_stale_device_is_grey_with_its_age() {
		achctl('stop', 'waist');
		await until('the age', async () => /s old/.test(await text(page, '#joint-waist-15')));
		check(await page.locator('#joint-waist-15.old').count() === 1, 'not marked');
		check(/waist stopped/.test(await text(page, '#line')), 'the bar: ' + await text(page, '#line'));
		check(/waist is stopped.*achctl start waist/.test(await text(page, '#checks')), await text(page, '#checks'));
		achctl('start', 'waist');
		await until('fresh', async () => !/s old/.test(await text(page, '#joint-waist-15')));
	},
	async a_killed_server_comes_back_and_the_stop_of_an_open_page_works() {
		const before = daemon('achweb').pid;
		process.kill(before, 'SIGKILL');
		await until('another process', async () => {
			const shown = await cell(page, 'achweb', 10);
			return shown !== '–' && shown !== String(before) && /daemons ready/.test(await text(page, '#line'));
		});
		check(!await page.locator('#login').isVisible(), 'login');
		await page.click('#stop');
		await until('the confirmation', async () => /STOP confirmed/.test(await text(page, '#alarm')));
		check(status().level === 'estop', 'the robot is not stopped');
		await arm();
		await level(page, 'run');
	},
	async a_phone_has_the_stop_button_in_reach() {
		const phone = await open(link(), { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true });
		await until('the bar', async () => /daemons ready/.test(await text(phone, '#line')));
		const box = await phone.locator('#stop').boundingBox();
		check(box.height >= 44 && box.y + box.height <= 640 && box.y > 500, JSON.stringify(box));
		check(await phone.evaluate(() => document.documentElement.scrollWidth <= 320), 'wider than the phone');
		await phone.context().close();
	},
	async a_dead_server_is_said_by_the_pages_own_clock() {
		achctl('stop', 'achweb');
		await until('the bar', async () => /NO DATA for \d+ s/.test(await text(page, '#line')));
		check(await page.locator('#main.stale').count() === 1, 'not grey');
		await page.click('#stop');
		await until('the alarm', async () => /STOP NOT CONFIRMED.*hardware stop/.test(await text(page, '#alarm')));
		achctl('start', 'achweb');
	},
	async a_page_loads_no_script_later() {
		const loaded = await page.evaluate(() => performance.getEntriesByType('resource').filter((e) => /js$/.test(e.name)).length);
		check(loaded === 9 && page.scripts === 18, loaded + ' scripts now, ' + page.scripts + ' in two loads');
	},
	async nothing_went_wrong_in_the_browser() {
		check(!errors.length, errors.join('; '));
	},
});
await browser.close();
process.exit(0);
