/** Checks of images on their way in and out. */
import { strict as assert } from 'node:assert';
import type { Session } from '../session.ts';
import {
  coordinateImage,
  expectKind,
  expectOutput,
  inSession,
  type SandboxCheck,
} from './check.ts';

const input = { name: 'image_clue_0', encoded: coordinateImage(200, 120) };

export const imageChecks: readonly SandboxCheck[] = [
  {
    name: 'gives the input images at their own size',
    run: (sandbox) =>
      inSession(
        sandbox,
        async (session) => {
          const code = 'print(image_clue_0.size, image_clue_0.getpixel((150, 90)))';
          await expectOutput(session, code, '(200, 120) (150, 90, 7)\n');
        },
        { images: [input] },
      ),
  },
  {
    name: 'refuses a broken input image with a typed error',
    run: async (sandbox) => {
      const broken = { name: 'image_clue_0', encoded: input.encoded.slice(0, 300) };
      await assert.rejects(sandbox.open({ images: [broken] }), { name: 'DataError' });
    },
  },
  {
    name: 'returns what was shown, pixel for pixel',
    run: async (sandbox) => {
      const shown = await inSession(
        sandbox,
        (session) => session.execute('image_clue_0.crop((40, 30, 96, 86)).show()'),
        { images: [input] },
      );
      const [image] = expectKind(shown, 'ok').images;
      assert.ok(image !== undefined && shown.images.length === 1);
      assert.deepEqual([image.width, image.height, image.source], [56, 56, 'image']);
      const compare =
        'expected = np.stack([*np.meshgrid(np.arange(40, 96), np.arange(30, 86)), ' +
        'np.full((56, 56), 7)], -1)\nprint(np.array_equal(np.asarray(seen), expected))';
      await inSession(sandbox, (session) => expectOutput(session, compare, 'True\n'), {
        images: [{ name: 'seen', encoded: image.png }],
      });
    },
  },
  {
    name: 'follows shown images back to the input through crops, resizes and flips',
    run: (sandbox) =>
      inSession(
        sandbox,
        async (session) => {
          // By hand: [a, b, c, d, e, f] with x' = a·x + b·y + c, y' = d·x + e·y + f.
          const cases: readonly (readonly [string, readonly number[] | undefined])[] = [
            ['image_clue_0', [1, 0, 0, 0, 1, 0]],
            ['image_clue_0.crop((40, 30, 96, 86))', [1, 0, 40, 0, 1, 30]],
            ['image_clue_0.crop((40, 30, 96, 86)).resize((112, 28))', [0.5, 0, 40, 0, 2, 30]],
            ['image_clue_0.resize((400, 240)).crop((100, 50, 200, 90))', [0.5, 0, 50, 0, 0.5, 25]],
            ['image_clue_0.convert("L").crop((8, 9, 80, 90)).copy()', [1, 0, 8, 0, 1, 9]],
            ['image_clue_0.transpose(Image.Transpose.FLIP_LEFT_RIGHT)', [-1, 0, 200, 0, 1, 0]],
            ['image_clue_0.rotate(90, expand=True)', [0, -1, 200, 1, 0, 0]],
            ['Image.fromarray(np.asarray(image_clue_0))', undefined],
          ];
          for (const [expression, map] of cases) {
            const outcome = expectKind(await session.execute(`${expression}.show()`), 'ok');
            const origin = map === undefined ? undefined : { image: 'image_clue_0', map };
            assert.deepEqual(outcome.images[0]?.origin, origin, expression);
          }
        },
        { images: [input] },
      ),
  },
  {
    name: 'captures figures at show, and only then',
    run: (sandbox) =>
      inSession(sandbox, async (session) => {
        const drawn = expectKind(await session.execute('plt.figure(); plt.plot([1, 2])'), 'ok');
        assert.equal(drawn.images.length, 0);
        const [figure, ...others] = expectKind(await session.execute('plt.show()'), 'ok').images;
        assert.deepEqual([figure?.width, figure?.height], [640, 480]);
        assert.deepEqual([figure?.source, figure?.origin], ['figure', undefined]);
        assert.equal(others.length, 0);
        assert.equal((await session.execute('plt.show()')).images.length, 0);
      }),
  },
  {
    name: 'keeps at most the allowed number of images',
    run: (sandbox) =>
      inSession(sandbox, async (session) => {
        const code = 'for i in range(5): Image.new("L", (8, 8 + i)).show()';
        const outcome = expectKind(await session.execute(code), 'ok');
        assert.deepEqual(
          outcome.images.map(({ height }) => height),
          [8, 9, 10],
        );
        assert.deepEqual(outcome.truncated, ['images']);
      }),
  },
  {
    name: 'raises in the code for images that are too long, too large or empty',
    run: (sandbox) =>
      inSession(sandbox, async (session) => {
        for (const [size, reason] of [
          ['(400, 2)', /one side must be less than 200 times the other/],
          ['(5000, 5000)', /the limit is \d+ pixels/],
          ['(0, 5)', /empty image/],
        ] as const) {
          const { error } = expectKind(
            await session.execute(`Image.new("L", ${size}).show()`),
            'exception',
          );
          assert.match(error?.message ?? '', reason);
        }
      }),
  },
  {
    name: 'shows transparent pixels as white',
    run: async (sandbox) => {
      const code = 'Image.new("RGBA", (9, 9), (10, 20, 30, 0)).show()';
      const shown = await inSession(sandbox, (session) => session.execute(code));
      const encoded = expectKind(shown, 'ok').images[0]?.png ?? new Uint8Array();
      const read = (session: Session): Promise<void> =>
        expectOutput(session, 'print(seen.mode, seen.getpixel((4, 4)))', 'RGB (255, 255, 255)\n');
      await inSession(sandbox, read, { images: [{ name: 'seen', encoded }] });
    },
  },
];
