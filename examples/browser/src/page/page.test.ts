import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nativeBackend } from '@saccade/backend-native';
import { openDevice } from '@saccade/ops';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BuiltPages, whyNoBrowser } from '../page.fixture.ts';
import { type Preset, presets, withLength } from '../training/presets.ts';
import { train } from '../training/train.ts';

const reason = whyNoBrowser();
if (reason !== undefined) console.warn(`Tests of the pages are skipped: ${reason}.`);

/** A software GPU takes seconds for an update, and as long again to compile the kernels first. */
const TIMEOUT = 600_000;
const UPDATES = 2;

const isSweep = process.env.SACCADE_SWEEP !== undefined;
if (!isSweep) console.info('Cold starts and the page of benchmarks run in `npm run sweep` alone.');

const shots = fileURLToPath(new URL('../../../../.cache/browser-shots', import.meta.url));

async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
}

/** Characters that draw the curves of a chart: they grow with every point. */
async function curveLength(page: Page, title: string): Promise<number> {
  const chart = page.locator('.chart', { has: page.getByRole('heading', { name: title }) });
  const paths = await chart.locator('path').evaluateAll((found) => {
    return found.map((path) => path.getAttribute('d') ?? '');
  });
  return paths.join('').length;
}

/** The losses of the tours after the first and the last update, as the chart tells them. */
async function toldLosses(page: Page): Promise<readonly number[]> {
  const chart = page.getByRole('img', { name: /^Loss of the cold start/ });
  const [, from, to] =
    /tours: from ([\d.]+) to ([\d.]+)/.exec((await chart.getAttribute('aria-label')) ?? '') ?? [];
  return [Number(from), Number(to)];
}

/** The same losses on the CPU backend. */
async function expectedLosses(): Promise<readonly number[]> {
  const preset = presets.find(({ name }) => name === 'tiny') as Preset;
  const settings = {
    preset: withLength(preset, UPDATES, 0),
    algorithm: 'grpo',
    hasToolBonus: false,
    seed: 1,
  };
  const losses: number[] = [];
  const device = openDevice(nativeBackend());
  await train(device, settings, {
    onEvent: (event) => {
      if (event.kind === 'step') losses.push(event.values.tours ?? Number.NaN);
    },
    pass: () => Promise.resolve(),
  });
  device.dispose();
  return [losses[0] ?? Number.NaN, losses.at(-1) ?? Number.NaN];
}

async function waitForStage(page: Page, stage: RegExp): Promise<void> {
  await page.locator('#stage', { hasText: stage }).waitFor({ timeout: TIMEOUT });
}

describe.skipIf(reason !== undefined)('the pages in Chromium', () => {
  let pages: BuiltPages;
  beforeAll(async () => {
    pages = await BuiltPages.open();
  }, TIMEOUT);
  afterAll(async () => {
    await pages?.close();
  });

  it('pauses between updates, resumes, and forgets all on reset', {
    timeout: TIMEOUT,
  }, async () => {
    const { page, errors } = await pages.visit('index.html', { width: 800 });
    await page.locator('#adapter', { hasText: /GPU: / }).waitFor();
    await page.getByLabel('Size').selectOption('tiny');
    await page.getByLabel('Start from').selectOption('random');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await waitForStage(page, /Paused/);
    await page.getByRole('button', { name: 'Resume' }).click();
    await waitForStage(page, /Making demonstrations/);
    await page.getByRole('button', { name: 'Reset' }).click();
    await waitForStage(page, /Not started/);
    expect(await page.getByLabel('Size').isEnabled()).toBe(true);
    expect(errors).toEqual([]);
    await page.close();
  });

  it('learns by reinforcement from the weights that it brings along: curves grow, trajectories show', {
    timeout: TIMEOUT,
  }, async () => {
    const { page, errors } = await pages.visit('index.html', { width: 1280 });
    await page.locator('#adapter', { hasText: /GPU: / }).waitFor();
    await page.getByLabel('Size').selectOption('tiny');
    expect(await page.getByLabel('Start from').inputValue()).toBe('shipped');
    expect(await page.getByLabel('Cold-start updates').isDisabled()).toBe(true);
    await page.getByRole('spinbutton', { name: 'RL steps' }).fill('1');
    await page.getByRole('button', { name: 'Start' }).click();
    await waitForStage(page, /Finished|Stopped/);
    expect(await page.locator('#fault').textContent()).toBe('');
    // A policy with random weights gets none right.
    const right = await page.locator('#headline dd').first().textContent();
    expect(Number(/^(\d+) %/.exec(right ?? '')?.[1])).toBeGreaterThan(20);
    expect(await curveLength(page, 'Loss of the cold start')).toBe(0);
    for (const title of ['Right answers', 'Reward', 'Tool calls']) {
      expect(await curveLength(page, title), title).toBeGreaterThan(0);
    }
    expect(await page.locator('.trajectory').count()).toBeGreaterThan(0);
    expect(await page.getByText('A task:').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Start again' }).isEnabled()).toBe(true);

    await shoot(page, 'wide');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await shoot(page, 'narrow-dark');
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(390);
    expect(errors).toEqual([]);
    await page.close();
  });

  it('measures the kernels', { timeout: TIMEOUT }, async (context) => {
    const { page, errors } = await pages.visit('bench.html', { width: 1280 });
    await page.locator('#adapter', { hasText: /GPU: / }).waitFor();
    await page.getByLabel('Shapes').selectOption('small');
    expect(await page.getByRole('button', { name: 'Measure' }).isEnabled()).toBe(true);
    expect(errors).toEqual([]);
    // Each case compiles kernels of its own.
    if (!isSweep) {
      await page.close();
      return context.skip('it takes most of a minute; `npm run sweep` runs it');
    }
    await page.getByRole('button', { name: 'Measure' }).click();
    await page.locator('#status', { hasText: /Done|Stopped/ }).waitFor({ timeout: TIMEOUT });
    expect(await page.locator('#fault').textContent()).toBe('');
    const rows = await page.locator('tbody tr').allTextContents();
    expect(rows).toHaveLength(7);
    for (const row of rows) expect(row).toMatch(/ ms/);
    await shoot(page, 'bench');
    expect(errors).toEqual([]);
    await page.close();
  });

  it('starts cold as Node does', { timeout: TIMEOUT }, async (context) => {
    const { page, errors } = await pages.visit('index.html', { width: 1280 });
    await page.locator('#adapter', { hasText: /GPU: / }).waitFor();
    await page.getByLabel('Size').selectOption('tiny');
    await page.getByLabel('Start from').selectOption('random');
    await page.getByRole('spinbutton', { name: 'Cold-start updates' }).fill(String(UPDATES));
    expect(await curveLength(page, 'Loss of the cold start')).toBe(0);
    // Before anything runs: the table, what the model sees of it first, and the card.
    const preview = page.locator('#gallery figure');
    expect(await preview.count()).toBe(3);
    expect(await preview.first().textContent()).toContain('28 × 28 px');
    await shoot(page, 'before');
    if (!isSweep) {
      await page.close();
      return context.skip('it takes most of a minute; `npm run sweep` runs it');
    }
    await page.getByRole('button', { name: 'Start' }).click();
    await waitForStage(page, /Evaluating|Stopped/);
    expect(await page.locator('#fault').textContent()).toBe('');
    expect(await curveLength(page, 'Loss of the cold start')).toBeGreaterThan(0);
    const expected = await expectedLosses();
    // Told with three digits; browser and Node decode images and add up in their own ways.
    for (const [i, loss] of (await toldLosses(page)).entries()) {
      expect(Math.abs(loss / (expected[i] ?? 0) - 1)).toBeLessThan(0.01);
    }
    expect(errors).toEqual([]);
    await page.close();
  });

  // The last: all pages of this browser lose their devices.
  it('says when the GPU is lost and what to do, and can start again', {
    timeout: TIMEOUT,
  }, async () => {
    const { page, errors } = await pages.visit('index.html', { width: 1280 });
    await page.locator('#adapter', { hasText: /GPU: / }).waitFor();
    await page.getByLabel('Size').selectOption('tiny');
    await page.getByRole('button', { name: 'Start' }).click();
    await waitForStage(page, /Evaluating|Stopped/);
    expect(await page.locator('#fault').textContent()).toBe('');
    await pages.crashGpu();
    await waitForStage(page, /Stopped/);
    const fault = await page.getByRole('alert').textContent();
    expect(fault).toMatch(/device was lost.*press Start/s);
    expect(await page.getByRole('button', { name: 'Start again' }).isEnabled()).toBe(true);
    expect(errors).toEqual([]);
    await page.close();
  });
});

describe.skipIf(reason !== undefined)('the page without WebGPU', () => {
  it('says what is missing and what to do', { timeout: TIMEOUT }, async () => {
    const pages = await BuiltPages.open(['--disable-features=WebGPU', '--disable-gpu']);
    try {
      const { page, errors } = await pages.visit('index.html', { width: 800 });
      const fault = page.getByRole('alert');
      await fault.waitFor();
      expect(await fault.textContent()).toMatch(/WebGPU.*Open this page in a current/s);
      expect(await page.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
      await shoot(page, 'no-webgpu');
      expect(errors).toEqual([]);
    } finally {
      await pages.close();
    }
  });
});
