/** Checks of what is returned besides what code shows, where a session asks for it. */
import { strict as assert } from 'node:assert';
import type { Outcome } from '../outcome.ts';
import type { CaptureOptions, Sandbox, SessionMode } from '../session.ts';
import { coordinateImage, expectKind, inSession, type SandboxCheck } from './check.ts';

const images = [{ name: 'image_clue_0', encoded: coordinateImage(200, 120) }];
const save = (name: string): string => `Image.new("RGB", (40, 30)).save("${name}")`;

async function run(
  sandbox: Sandbox,
  capture: CaptureOptions | undefined,
  code: string,
  mode: SessionMode = 'persistent',
): Promise<Outcome> {
  const options = { images, mode, ...(capture !== undefined && { capture }) };
  return await inSession(sandbox, (session) => session.execute(code), options);
}

const names = (outcome: Outcome): (string | undefined)[] =>
  expectKind(outcome, 'ok').images.map(({ file, source }) => file ?? source);

export const captureChecks: readonly SandboxCheck[] = [
  {
    name: 'returns neither values nor files unless the session asks for them',
    run: async (sandbox) => {
      const outcome = await run(
        sandbox,
        undefined,
        `${save('a.png')}\nprint("a.png")\nimage_clue_0`,
      );
      assert.deepEqual([names(outcome), outcome.stdout], [[], 'a.png\n']);
    },
  },
  {
    name: 'shows the value of the last expression, or prints it',
    run: async (sandbox) => {
      const capture = { lastExpression: true };
      const code = 'part = image_clue_0.crop((40, 30, 96, 86))\npart';
      const [image] = expectKind(await run(sandbox, capture, code), 'ok').images;
      assert.deepEqual([image?.source, image?.width, image?.height], ['value', 56, 56]);
      assert.deepEqual(image?.origin, { image: 'image_clue_0', map: [1, 0, 40, 0, 1, 30] });
      assert.equal((await run(sandbox, capture, 'x = 6\nx * 7')).stdout, '42\n');
      const { error } = await run(sandbox, capture, 'x = 6\n\nx / 0');
      assert.deepEqual([error?.type, error?.line], ['ZeroDivisionError', 3]);
    },
  },
  {
    name: 'returns the files whose names were printed and those that were saved, in every mode',
    run: async (sandbox) => {
      const capture = { printedFiles: true, hidesNames: true, savedFiles: true };
      const code = `${save('a.png')}\n${save('b.jpg')}\nprint("done\\nb.jpg")`;
      for (const mode of ['persistent', 'transactional', 'fresh'] as const) {
        const outcome = await run(sandbox, capture, code, mode);
        assert.deepEqual([names(outcome), outcome.stdout], [['b.jpg', 'a.png'], 'done\n']);
      }
    },
  },
  {
    name: 'follows no link, waits for no pipe and opens nothing outside of its directory',
    run: async (sandbox) => {
      const capture = { printedFiles: true, savedFiles: true };
      const code = `import os
${save('a.png')}
os.symlink("a.png", "link.png")
os.symlink("/usr", "usr.png")
os.mkfifo("pipe.png")
os.mkdir("folder.png")
open("text.png", "w").write("no image")
print("link.png usr.png pipe.png folder.png text.png ../a.gif /dev/zero.png \\0.png", "x" * 255 + ".png")
os.rename("a.png", "a.data")`;
      const outcome = await run(sandbox, capture, code);
      assert.deepEqual([names(outcome), outcome.truncated], [[], []]);
    },
  },
  {
    name: 'keeps the limits of images for values and files, too',
    run: async (sandbox) => {
      const capture = { printedFiles: true, savedFiles: true, lastExpression: true };
      const code = `for i in range(5): Image.new("L", (9, 9)).save(f"{i}.png")\nprint("3.png")`;
      const outcome = await run(sandbox, capture, `${code}\nimage_clue_0`);
      assert.deepEqual(names(outcome), ['value', '3.png', '0.png']);
      assert.deepEqual(outcome.truncated, ['images']);
      const large = 'Image.new("L", (5000, 5000)).save("large.png")\nprint("large.png")';
      const none = await run(sandbox, capture, large);
      assert.deepEqual([names(none), none.truncated], [[], ['images']]);
    },
  },
  {
    name: 'filters images as the session asks, without an error in the code',
    run: async (sandbox) => {
      const filter = { most: 2, mostAspect: 10, smallSides: { below: 28, enlargeTo: 56 } };
      const sizes = ['(300, 10)', '(10, 20)', '(40, 30)', '(50, 50)'];
      const code = sizes.map((size) => `Image.new("L", ${size}).show()`).join('\n');
      const outcome = expectKind(await run(sandbox, { images: filter }, code), 'ok');
      const shown = outcome.images.map(({ width, height }) => [width, height]);
      assert.deepEqual(shown, [
        [56, 112],
        [40, 30],
      ]);
      assert.deepEqual(outcome.truncated, ['images']);
    },
  },
  {
    name: 'refuses capture options that there are not with a typed error',
    run: async (sandbox) => {
      const capture = { lastExpressions: true } as CaptureOptions;
      await assert.rejects(sandbox.open({ capture }), { field: 'capture.lastExpressions' });
    },
  },
];
