// shots.mjs URL FOLDER: pictures of the page, to be looked at: desktop, dark, phone. URL is of achctl web --act.
import { require } from './lib.mjs';

const { chromium } = require('playwright-core');
const [url, folder] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
const page = await context.newPage();
await page.goto(url);
await page.waitForFunction(() => document.querySelector('#main:not([hidden])'));
await page.waitForTimeout(12000); // for the plots
await page.screenshot({ path: folder + '/desktop.png' });
await page.screenshot({ path: folder + '/desktop-all.png', fullPage: true });
await page.emulateMedia({ colorScheme: 'dark' });
await page.waitForTimeout(500);
await page.screenshot({ path: folder + '/dark.png' });
await page.setViewportSize({ width: 390, height: 800 });
await page.waitForTimeout(500);
await page.screenshot({ path: folder + '/phone-dark.png' });
await page.emulateMedia({ colorScheme: 'light' });
await page.waitForTimeout(500);
await page.screenshot({ path: folder + '/phone.png' });
await page.screenshot({ path: folder + '/phone-all.png', fullPage: true });
await browser.close();
