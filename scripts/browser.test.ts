/** The backends of browsers in a browser: the page of each package, run in headless Chromium. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { findChromium, runInChromium, WEBGL_FLAGS, WEBGPU_FLAGS } from './chromium.mjs';

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
