/** The contract of backends in headless Chromium: each check of a package's page is a test here. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checks as gpujsChecks } from '../packages/backend-gpujs/src/page.fixture.ts';
import {
  type CheckResult,
  type PageResult,
  checks as webgpuChecks,
} from '../packages/backend-webgpu/src/page.fixture.ts';
import {
  findChromium,
  openInChromium,
  runInChromium,
  WEBGL_FLAGS,
  WEBGPU_FLAGS,
} from './chromium.mjs';

// Shaders of WebGPU compile for minutes on a CPU. In Node the same library runs the same checks.
const isSweep = process.env.SACCADE_SWEEP !== undefined;
if (!isSweep) console.info('WebGPU in Chromium waits for `npm run sweep`.');

/** Their `src/page.fixture.ts` reports the checks, each as it ends, then says what it ran on. */
const pages = [
  { name: 'backend-gpujs', flags: WEBGL_FLAGS, checks: gpujsChecks, ranOn: /^gpu\.js, WebGL2, / },
  ...(isSweep
    ? [{ name: 'backend-webgpu', flags: WEBGPU_FLAGS, checks: webgpuChecks, ranOn: /^WebGPU, / }]
    : []),
];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const chromium = findChromium();
if (chromium === undefined) {
  console.warn('Tests in a browser are skipped: no Chromium is installed here.');
}
/** Limit for one page: software adapters take a second for a large shader, or several when busy. */
const timeoutSeconds = 1200;
const timeout = 1000 * timeoutSeconds;

describe.skipIf(chromium === undefined).each(pages)('$name in Chromium', (options) => {
  const { name, flags, checks, ranOn } = options;
  const arrived = new Map<string, (result: CheckResult) => void>();
  const results = checks.map((check) => ({
    check: check.name,
    result: new Promise<CheckResult>((resolve) => arrived.set(check.name, resolve)),
  }));
  const abort = new AbortController();
  let page: Promise<PageResult>;

  beforeAll(() => {
    const entry = join(root, 'packages', name, 'src', 'page.fixture.ts');
    const onReport = (report: CheckResult): void => arrived.get(report.name)?.(report);
    const { signal } = abort;
    const answer = runInChromium(
      chromium ?? '',
      { entry, flags },
      { timeoutSeconds, onReport, signal },
    );
    page = answer as Promise<PageResult>;
    // Every test that waits for it tells of its failure.
    page.catch(() => undefined);
  });
  afterAll(async () => {
    abort.abort(new Error('The tests ended before the page did.'));
    await page.catch(() => undefined);
  });

  for (const { check, result } of results) {
    it(check, { timeout }, async (context) => {
      const end = page.then(() => {
        throw new Error('The page ended and did not run this check.');
      });
      const { outcome, message } = await Promise.race([result, end]);
      if (outcome === 'skipped') context.skip(message);
      if (outcome === 'failed') throw new Error(message);
    });
  }

  it('says what it ran on, and what was skipped', { timeout }, async () => {
    const { description, skipped } = await page;
    expect(description).toMatch(ranOn);
    if (skipped !== undefined) console.warn(skipped);
  });
});

it.skipIf(chromium === undefined)('a page answers one question after the other', async () => {
  const folders = { scripts: join(root, 'scripts') };
  const entry = join(root, 'scripts', 'questions.page.mjs');
  const source = { entry, flags: [], folders };
  const page = await openInChromium(chromium ?? '', source, { timeoutSeconds: 60 });
  try {
    const layers = await page.ask({ fetch: '/scripts/layers.json' });
    expect(layers).toMatchObject({ count: 1, text: expect.stringContaining('"core"') });
    await expect(page.ask({ fail: 'as the test asked' })).rejects.toThrow(/as the test asked/);
    const outside = await page.ask({ fetch: '/scripts/%2e%2e/package.json' });
    expect(outside).toMatchObject({ count: 3, status: 404 });
  } finally {
    await page.close();
  }
});
