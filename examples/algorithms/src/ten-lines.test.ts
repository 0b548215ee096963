import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { algorithms } from '@saccade/algorithms';
import { chromium } from 'playwright-core';
import { build, preview } from 'vite';
import { describe, expect, it } from 'vitest';
import { findChromium } from '../../../scripts/chromium.mjs';
import { tenLines } from './ten-lines.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const browserPath = findChromium();
if (browserPath === undefined) {
  console.warn('The page of the algorithms is not tested: no Chromium is installed here.');
}

/** Loss and gradients of DAPO at the example's four answers: torch 2.13 autograd, float64. */
const golden = {
  loss: -0.16932369462876679,
  grads: [
    0.0, -0.08706787034000942, -0.10634493698041954, 0.0, 0.10634493698041951, 0.0,
    -0.09622487819855964, 0.0, 0.0, 0.10634493698041954,
  ],
};

describe('the algorithms in ten lines', () => {
  it('give the loss and gradients torch gives', () => {
    const { loss, gradLogprobs } = tenLines('dapo');
    expect(loss).toBeCloseTo(golden.loss, 13);
    golden.grads.forEach((grad, t) => {
      expect(gradLogprobs[t]).toBeCloseTo(grad, 13);
    });
  });

  it('run with node, from the compiled package', () => {
    const said = execFileSync(process.execPath, ['src/main.mjs'], { cwd: root, encoding: 'utf8' });
    expect(said).toContain(`loss ${golden.loss.toFixed(6)}`);
    expect(said).toContain('not the policy’s token');
  });

  it.skipIf(browserPath === undefined)('run in a browser, with the same numbers', async () => {
    const outDir = mkdtempSync(join(tmpdir(), 'saccade-ten-lines-'));
    const built = { root, logLevel: 'warn', build: { outDir, emptyOutDir: true } } as const;
    await build(built);
    const server = await preview({ ...built, preview: { port: 0, host: '127.0.0.1' } });
    const browser = await chromium.launch({
      executablePath: browserPath ?? '',
      args: ['--no-sandbox'],
    });
    try {
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(error.message));
      await page.goto(server.resolvedUrls?.local[0] ?? '');
      const loss = page.locator('#loss');
      expect(await loss.textContent()).toBe(`loss ${golden.loss.toFixed(6)}`);
      expect(await page.locator('#tokens tr').count()).toBe(11);
      const names = await page
        .locator('#algorithm option')
        .evaluateAll((options) => options.map((option) => option.getAttribute('value') ?? ''));
      expect(names).toContain('gspo');
      for (const name of names) {
        await page.selectOption('#algorithm', name);
        expect(await loss.textContent(), name).toBe(`loss ${tenLines(name).loss.toFixed(6)}`);
        expect(algorithms.has(name)).toBe(true);
      }
      expect(faults).toEqual([]);
    } finally {
      await browser.close();
      await server.close();
      rmSync(outDir, { recursive: true, force: true });
    }
  });
});
