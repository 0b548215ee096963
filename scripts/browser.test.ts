/** The backends of browsers in a browser: the page of each package, run in headless Chromium. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import {
  findChromium,
  openInChromium,
  runInChromium,
  WEBGL_FLAGS,
  WEBGPU_FLAGS,
} from './chromium.mjs';

/** `src/page.fixture.ts` of these; what its `run()` gives must match. */
const pages = [
  {
    name: 'backend-gpujs',
    flags: WEBGL_FLAGS,
    expected: {
      description: expect.stringMatching(/^gpu\.js, WebGL2, /),
      checked: [
        { op: 'attention', cases: expect.any(Number) },
        { op: 'linearLogprob', cases: expect.any(Number) },
      ],
    },
  },
  {
    name: 'backend-webgpu',
    flags: WEBGPU_FLAGS,
    expected: {
      description: expect.stringMatching(/^WebGPU, /),
      checked: expect.arrayContaining(['gemm', 'rmsNorm', 'scatterRows']),
    },
  },
];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const chromium = findChromium();
if (chromium === undefined) {
  console.warn('Tests in a browser are skipped: no Chromium is installed here.');
}
const timeoutSeconds = 280;

it.skipIf(chromium === undefined).each(pages)(
  '$name agrees with the float64 oracles in Chromium',
  { timeout: 1000 * (timeoutSeconds + 20) },
  async ({ name, flags, expected }) => {
    const page = join(root, 'packages', name, 'src', 'page.fixture.ts');
    const result = await runInChromium(chromium ?? '', page, flags, { timeoutSeconds });
    expect(result).toMatchObject(expected);
  },
);

it.skipIf(chromium === undefined)('a page answers one question after the other', async () => {
  const folders = { scripts: join(root, 'scripts') };
  const options = { timeoutSeconds: 60, folders };
  const entry = join(root, 'scripts', 'questions.page.mjs');
  const page = await openInChromium(chromium ?? '', entry, [], options);
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
