/**
 * Where shown images come from, against coordinate images: two images whose pixels hold their own x and
 * y go through the same operations, and what they hold afterwards is where each pixel came from.
 */
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { coordinateImage } from './contract.ts';
import type { LocalSandbox } from './local-sandbox.ts';
import { openSandbox } from './open-sandbox.ts';
import { ensurePython } from './python-environment.ts';

let sandbox: LocalSandbox;
beforeAll(async () => {
  const { python } = await ensurePython(join(import.meta.dirname, '../../../.cache/sandbox-venv'));
  sandbox = await openSandbox({ python, unsafe: true });
}, 300_000);
afterAll(() => sandbox.dispose());

const WIDTH = 320;
const HEIGHT = 240;

const share = fc.integer({ min: 5, max: 20 }).map((percent) => percent / 100);
const step = fc.oneof(
  fc
    .tuple(share, share, share, share)
    .map(([l, t, r, b]) => `m.crop((int(W*${l}), int(H*${t}), int(W*(1-${r})), int(H*(1-${b}))))`),
  fc
    .tuple(fc.integer({ min: 80, max: 150 }), fc.integer({ min: 80, max: 150 }))
    .map(([x, y]) => `m.resize((W*${x}//100, H*${y}//100), Image.Resampling.BILINEAR)`),
  fc
    .constantFrom(
      ...['FLIP_LEFT_RIGHT', 'FLIP_TOP_BOTTOM', 'ROTATE_90', 'ROTATE_180', 'ROTATE_270'],
      ...['TRANSPOSE', 'TRANSVERSE'],
    )
    .map((method) => `m.transpose(Image.Transpose.${method})`),
  fc
    .tuple(fc.constantFrom(0, 90, 180, 270, -90), fc.boolean())
    .map(([angle, expand]) => `m.rotate(${angle}, expand=${expand ? 'True' : 'False'})`),
  fc
    .tuple(fc.integer({ min: -30, max: 30 }), fc.boolean())
    .map(
      ([angle, expand]) =>
        `m.rotate(${angle}, Image.Resampling.BILINEAR, expand=${expand ? 'True' : 'False'})`,
    ),
  fc.constantFrom('ImageOps.mirror(m)', 'ImageOps.flip(m)', 'm.copy()'),
);
const chain = fc.array(step, { minLength: 1, maxLength: 5 });

/** Runs chains and prints, for each, size and the affine map that the coordinate images show. */
function program(chains: readonly (readonly string[])[]): string {
  const bodies = chains.map((steps) => {
    const lines = steps.map((one) => `    W, H = m.size\n    m = ${one}`).join('\n');
    return `def chain(m):\n${lines}\n    return m\nobserve(chain)`;
  });
  return `import json
from PIL import ImageOps
xs = Image.fromarray(np.tile(np.arange(${WIDTH}, dtype=np.float32) + 0.5, (${HEIGHT}, 1)))
ys = Image.fromarray(np.tile((np.arange(${HEIGHT}, dtype=np.float32) + 0.5)[:, None], (1, ${WIDTH})))
found = []
def observe(chain):
    shown = chain(photo)
    u, v = np.asarray(chain(xs), dtype=float), np.asarray(chain(ys), dtype=float)
    h, w = u.shape
    # Pixels around the middle: far from what lies outside of the input. Filters that make images
    # smaller keep a slope only on average, so the map is fitted to all of them.
    x, y = np.meshgrid(np.arange(w * 3 // 10, w * 7 // 10), np.arange(h * 3 // 10, h * 7 // 10))
    points = np.stack([x.ravel() + 0.5, y.ravel() + 0.5, np.ones(x.size)], 1)
    rows = []
    for seen in (u, v):
        rows += np.linalg.lstsq(points, seen[y, x].ravel(), rcond=None)[0].tolist()
    found.append([w, h, *rows])
    shown.show()
${bodies.join('\n')}
print(json.dumps(found))`;
}

it('agrees with coordinate images for random chains of operations', async () => {
  const chains = fc.sample(chain, { numRuns: 36, seed: 7 });
  const perCall = 6;
  let [compared, turned] = [0, 0];
  const session = await sandbox.open({
    images: [{ name: 'photo', encoded: coordinateImage(WIDTH, HEIGHT) }],
  });
  for (let at = 0; at < chains.length; at += perCall) {
    const part = chains.slice(at, at + perCall);
    const outcome = await session.execute(program(part));
    expect(outcome.error?.traceback ?? '').toBe('');
    const found = JSON.parse(outcome.stdout) as number[][];
    expect(outcome.images.length).toBe(part.length);
    part.forEach((steps, index) => {
      const { origin, width, height } = outcome.images[index] ?? {};
      const [w = 0, h = 0, ...seen] = found[index] ?? [];
      expect([width, height]).toEqual([w, h]);
      expect(origin?.image).toBe('photo');
      const map = origin?.map ?? [];
      if (map[1] !== 0) turned++;
      for (const [x, y] of [
        [0, 0],
        [w, 0],
        [0, h],
        [w, h],
      ] as const) {
        for (const row of [0, 3]) {
          const at = (numbers: readonly number[]): number =>
            (numbers[row] ?? 0) * x + (numbers[row + 1] ?? 0) * y + (numbers[row + 2] ?? 0);
          expect(Math.abs(at(map) - at(seen)), steps.join('; ')).toBeLessThan(0.2);
          compared++;
        }
      }
    });
  }
  await session.dispose();
  expect(compared).toBe(chains.length * 8);
  expect(turned).toBeGreaterThan(10);
});
