/// <reference lib="dom" />
/**
 * A rating page in headless Chromium: filled by keyboard, closed and opened again, downloaded and
 * imported; and text of models that attacks it.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { measureRatings } from './measure-ratings.ts';
import { readRatings } from './rating-files.ts';
import { drawRatingPage } from './rating-page.ts';
import { ratedOf, shownOf } from './study.fixture.ts';
import { planStudy } from './study.ts';

const executablePath = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));
if (executablePath === undefined) {
  console.warn('Tests of the rating page are skipped: no Chromium is installed here.');
}

const key = planStudy(ratedOf(4, ['small', 'large']), {
  mode: 'pairs',
  title: 'Which model looks better?',
  criterion: 'Which one looked where the answer is?',
  raters: ['1', '2'],
  seed: 3,
});

/** What a model may write to break out of its place. */
const HOSTILE = [
  '<script>document.title = "broken"</script>',
  '<img src=x onerror="document.title=\'broken\'">',
  '</script><script>document.title = "broken"</script>',
  '<!--<script>',
  '"><svg onload=document.title="broken">',
  "javascript:document.title='broken'",
  '{{constructor.constructor("document.title=1")()}}',
  '\u202E\u0000\uFFFF\u{1F600} é 漢字',
];

describe.skipIf(executablePath === undefined)('the rating page', () => {
  const directory = mkdtempSync(join(tmpdir(), 'saccade-ratings-'));
  const path = join(directory, 'rate.html');
  let browser: Browser;
  let context: BrowserContext;
  const errors: string[] = [];

  beforeAll(async () => {
    writeFileSync(path, await drawRatingPage(key, async (model, taskId) => shownOf(model, taskId)));
    browser = await chromium.launch({
      executablePath: executablePath ?? '',
      // Containers have no user namespaces; the page is our own.
      args: ['--no-sandbox', '--headless=new', '--disable-dev-shm-usage'],
    });
    context = await browser.newContext({ acceptDownloads: true });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    rmSync(directory, { recursive: true });
  });

  async function visit(file = path): Promise<Page> {
    const page = await context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('request', (request) => {
      if (!/^(file|data|blob):/.test(request.url())) errors.push(`asks for ${request.url()}`);
    });
    await page.goto(pathToFileURL(file).href);
    return page;
  }

  async function download(page: Page, button: string): Promise<string> {
    const [file] = await Promise.all([page.waitForEvent('download'), page.click(button)]);
    return readFileSync(await file.path(), 'utf8');
  }

  it('is filled with the keyboard alone, kept when it is closed, and imported', async () => {
    const first = await visit();
    expect(await first.textContent('body')).not.toMatch(/small|large/);
    await first.keyboard.press('Tab');
    await first.keyboard.press('Enter');
    expect(await first.textContent('#place')).toBe('Item 1 of 4');
    const shown = await first.locator('.item:visible').getAttribute('data-item');
    expect(shown).toBe(key.orders['1']?.[0]?.id);
    // A comment may hold the keys that rate.
    await first.keyboard.press('c');
    await first.keyboard.type('1 n =HYPERLINK("x") é');
    await first.keyboard.press('Escape');
    await first.keyboard.press('1');
    expect(await first.textContent('#place')).toBe('Item 2 of 4');
    await first.keyboard.press('2');
    await first.close();

    // Closed and opened again, it goes on where it was.
    const page = await visit();
    await page.click('button[data-rater="1"]');
    expect(await page.textContent('#place')).toBe('Item 3 of 4');
    expect(await page.textContent('#rated')).toBe('2 rated');
    await page.keyboard.press('ArrowLeft');
    expect(await page.getAttribute('button[data-value="tie"]', 'aria-pressed')).toBe('true');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('3');
    await page.keyboard.press('3');
    expect(await page.isVisible('#done')).toBe(true);
    const [json, csv] = [await download(page, '#json'), await download(page, '#csv')];
    const ratings = readRatings(json, key, 'ratings.json');
    expect(ratings.map(({ value }) => value)).toEqual(['A', 'tie', 'B', 'B']);
    expect(ratings[0]?.comment).toBe('1 n =HYPERLINK("x") é');
    expect(readRatings(csv, key, 'ratings.csv')).toEqual(ratings);

    // Each side is called after its place, whoever it is: B of the last item is the model on its right.
    const last = key.orders['1']?.[3];
    const item = key.items.find(({ id }) => id === last?.id);
    const right = last?.isSwapped === true ? item?.models[0] : item?.models[1];
    const sides = page.locator('.item:visible .side');
    expect(await sides.locator('h3').allTextContents()).toEqual(['A', 'B']);
    expect(await sides.nth(1).getAttribute('data-side')).toBe(
      right === item?.models[0] ? 'first' : 'second',
    );
    expect(measureRatings(key, ratings, { resamples: 100 }).rated).toEqual({ 1: 4, 2: 0 });
    await page.close();
  });

  it('goes on from a file in another browser, and refuses one of another rater', async () => {
    const file = join(directory, 'kept.json');
    const [item] = key.orders['2'] ?? [];
    const kept = { format: 1, kind: 'ratings', study: key.study, rater: '2' };
    writeFileSync(
      file,
      JSON.stringify({ ...kept, ratings: { [item?.id ?? '']: { value: 'tie' } } }),
    );
    const page = await visit();
    await page.click('button[data-rater="2"]');
    await page.setInputFiles('#file', file);
    await page.getByText('Restored: 1 of 4 items are rated.').waitFor();
    writeFileSync(file, JSON.stringify({ ...kept, rater: '1', ratings: {} }));
    await page.setInputFiles('#file', file);
    await page.getByText('belongs to another study or rater').waitFor();
    expect(await page.textContent('#rated')).toBe('1 rated');
    await page.close();
  });

  it('shows text of a model as text, whatever it is', async () => {
    const hostile = join(directory, 'hostile.html');
    const text = HOSTILE.join('\n');
    const attacked = { ...key, title: `Ratings ${HOSTILE[0]}`, criterion: HOSTILE[2] ?? '' };
    writeFileSync(
      hostile,
      await drawRatingPage(attacked, async (model, taskId) => {
        const shown = shownOf(model, taskId, text, text);
        return { ...shown, question: text };
      }),
    );
    const page = await visit(hostile);
    await page.click('button[data-rater="1"]');
    const title = await page.title();
    expect(title).toContain('<script>');
    const question = await page.locator('.item:visible .question').textContent();
    for (const one of HOSTILE.slice(0, -1)) expect(question).toContain(one);
    expect(
      await page
        .locator('.item img, .item svg[onload], .item script')
        .evaluateAll(
          (found) =>
            found.filter((one) => one.hasAttribute('onerror') || one.tagName === 'SCRIPT').length,
        ),
    ).toBe(0);
    await page.keyboard.press('1');
    expect(await page.title()).toBe(title);
    await page.close();
  });

  it('fits 420 pixels, and reported no error in all of this', async () => {
    const page = await visit();
    await page.setViewportSize({ width: 420, height: 800 });
    await page.click('button[data-rater="2"]');
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(420);
    if (process.env.SACCADE_SHOTS !== undefined) {
      for (const scheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: scheme });
        for (const size of [420, 1280]) {
          await page.setViewportSize({ width: size, height: 900 });
          const shot = join(process.env.SACCADE_SHOTS, `ratings-${scheme}-${size}.png`);
          await page.screenshot({ path: shot, fullPage: true });
        }
      }
    }
    await page.close();
    expect(errors).toEqual([]);
  });
});
