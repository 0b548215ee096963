import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coordinateImage } from './contract.ts';
import type { LocalSandbox } from './local-sandbox.ts';
import { openSandbox } from './open-sandbox.ts';
import type { Outcome } from './outcome.ts';
import { ensurePython } from './python-environment.ts';
import type { CaptureOptions, SessionMode } from './session.ts';

let sandbox: LocalSandbox;
beforeAll(async () => {
  const { python } = await ensurePython(join(import.meta.dirname, '../../../.cache/sandbox-venv'));
  sandbox = await openSandbox({ python, unsafe: true });
}, 300_000);
afterAll(() => sandbox.dispose());

const photo = { name: 'photo', encoded: coordinateImage(200, 120) };

/** A PNG of black pixels, which is small however many they are. */
function blackPng(width: number, height: number): Buffer {
  const chunk = (name: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
    const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    checksum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, checksum]);
  };
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const rows = deflateSync(Buffer.alloc((width + 1) * height));
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  const chunks = [chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]);
}

interface Setting {
  readonly capture?: CaptureOptions;
  readonly mode?: SessionMode;
}

/** The outcome of the last script. */
async function run(setting: Setting, ...scripts: string[]): Promise<Outcome> {
  const session = await sandbox.open({ ...setting, images: [photo] });
  try {
    for (const script of scripts.slice(0, -1)) await session.execute(script);
    return await session.execute(scripts.at(-1) ?? '');
  } finally {
    await session.dispose();
  }
}

const sizes = ({ images }: Outcome): string[] =>
  images.map(({ width, height }) => `${width}x${height}`);
const names = ({ images }: Outcome): (string | undefined)[] => images.map(({ file }) => file);

describe('the last expression', () => {
  const capture = { lastExpression: true };

  it.each([
    ['6 * 7', '42\n'],
    ['"a\\nb"', 'a\nb\n'],
    ['None', ''],
    ['x = 3', ''],
    ['print(1)', '1\n'],
    ['1; 2', '2\n'],
    ['1\n2\n# end', '2\n'],
    ['for i in range(3):\n  i', ''],
    ['def f():\n  return 9\nf()', '9\n'],
    ['(y := 5)\n', '5\n'],
    ['[i for i in range(2)]', '[0, 1]\n'],
    ['from __future__ import annotations\n8', '8\n'],
    ['np.arange(3)', '[0 1 2]\n'],
    ['np.zeros((4, 4, 2)).shape', '(4, 4, 2)\n'],
    ['np.zeros((1000, 1), int)[:2]', ''],
  ])('of %j prints %j', async (code, stdout) => {
    const outcome = await run({ capture }, code);
    expect([outcome.kind, outcome.stdout]).toEqual(['ok', stdout]);
  });

  it('shows images, figures and arrays', async () => {
    const shown = await run({ capture }, 'photo.crop((40, 30, 96, 86))');
    expect(shown.images[0]).toMatchObject({
      ...{ width: 56, height: 56, source: 'value' },
      origin: { image: 'photo', map: [1, 0, 40, 0, 1, 30] },
    });
    expect(shown.images[0]).not.toHaveProperty('file');
    const figure = await run({ capture }, 'plt.figure(figsize=(2, 1))');
    expect([sizes(figure), figure.images[0]?.source]).toEqual([['200x100'], 'value']);
    expect(sizes(await run({ capture }, 'display(np.zeros((30, 40, 3)))'))).toEqual(['40x30']);
  });

  it('opens images of 8K and shows parts of them, and opens none that are larger', async () => {
    const wall = { name: 'wall', encoded: blackPng(7680, 4320) };
    const session = await sandbox.open({ capture, images: [wall] });
    const part = await session.execute('wall.crop((7000, 4000, 7056, 4056))');
    expect([part.kind, sizes(part)]).toEqual(['ok', ['56x56']]);
    expect((await session.execute('wall')).error?.message).toMatch(/pixels/);
    await session.dispose();
    const larger = sandbox.open({ images: [{ name: 'wall', encoded: blackPng(8000, 6000) }] });
    await expect(larger).rejects.toThrow(
      /The image wall cannot be opened: .* Give whole PNG or JPEG bytes of at most 41943040 pixels/,
    );
  });

  it('takes arrays as RGB unless it is told that they are BGR', async () => {
    for (const [options, array, pixel] of [
      [{}, 'np.full((30, 40, 3), (10, 20, 30), np.uint8)', '(10, 20, 30)'],
      [{ arrayChannels: 'BGR' }, 'np.full((30, 40, 3), (10, 20, 30), np.uint8)', '(30, 20, 10)'],
      [{ arrayChannels: 'BGR' }, 'np.full((9, 9, 4), (10, 20, 30, 255), np.uint8)', '(30, 20, 10)'],
      [{}, 'np.full((30, 40), 0.5)', '(128, 128, 128)'],
      [{}, 'np.full((30, 40, 1), np.nan)', '(0, 0, 0)'],
      [{}, 'np.full((30, 40), True)', '(255, 255, 255)'],
      [{}, 'np.full((30, 40), 300)', '(255, 255, 255)'],
    ] as const) {
      const shown = await run({ capture: { ...capture, ...options } }, array);
      const session = await sandbox.open({
        images: [{ name: 'seen', encoded: shown.images[0]?.png ?? new Uint8Array() }],
      });
      const { stdout } = await session.execute('print(seen.getpixel((4, 4)))');
      expect([array, stdout]).toEqual([array, `${pixel}\n`]);
      await session.dispose();
    }
  });

  it('keeps the lines of errors, also of those that showing raises', async () => {
    const raised = await run({ capture }, 'x = 1\n\n1 / 0');
    expect([raised.kind, raised.error?.line]).toEqual(['exception', 3]);
    expect(raised.error?.traceback).toBe(
      'Traceback (most recent call last):\n  File "<code>", line 3, in <module>\n    1 / 0\n' +
        'ZeroDivisionError: division by zero\n',
    );
    const before = await run({ capture }, 'def f():\n  return 1 / 0\nf()\n5');
    expect([before.error?.line, before.stdout]).toEqual([2, '']);
    const large = await run({ capture }, 'y = 1\nImage.new("L", (5000, 5000))');
    expect([large.kind, large.error?.line]).toEqual(['exception', 2]);
    expect(large.error?.traceback).toMatch(/line 2, in <module>\n {4}Image\.new/);
    const own = await run(
      { capture },
      'class A:\n  def __str__(self):\n    raise KeyError(1)\nA()',
    );
    expect([own.error?.type, own.error?.line]).toEqual(['KeyError', 3]);
    const broken = await run({ capture }, 'x = 1\ny = (');
    expect([broken.error?.type, broken.error?.line]).toEqual(['SyntaxError', 2]);
  });

  it('makes an image of a large array in the memory that the array leaves', async () => {
    const large = 'x = np.zeros((3900, 3900, 3))\nx';
    expect(await run({ capture }, large)).toMatchObject({ kind: 'ok', images: [{ width: 3900 }] });
  });

  it('prints an array that is too large or too long for an image', async () => {
    for (const shape of ['(5000, 5000)', '(1000, 1)']) {
      const { kind, images, stdout } = await run({ capture }, `np.zeros(${shape})`);
      expect([kind, images.length, stdout.startsWith('[[0.')]).toEqual(['ok', 0, true]);
    }
  });

  it('is seen by the check of names and by repairs', async () => {
    const forbidden = await run({ capture }, 'import os\nos.system("true")');
    expect([forbidden.kind, forbidden.error?.line]).toEqual(['forbidden', 2]);
    const session = await sandbox.open({ capture, repairs: { indentation: true } });
    const repaired = await session.execute('    x = 1\n    x + 1');
    expect([repaired.stdout, repaired.repairs?.length]).toEqual(['2\n', 1]);
    await session.dispose();
  });
});

describe('files', () => {
  const save = (name: string, size = '(60, 40)'): string =>
    `Image.new("RGB", ${size}).save(${JSON.stringify(name)})\n`;

  it('are found by the names that were printed', async () => {
    const capture = { printedFiles: true };
    for (const [printed, file] of [
      ['a.png', 'a.png'],
      ['./a.png', 'a.png'],
      ['Saved to: ./a.png.', 'a.png'],
      ["The image 'a.png' is done", 'a.png'],
      ['/mnt/data/a.png', 'a.png'],
      ['a.png, a.png', 'a.png'],
      ['saved as my part.png', 'my part.png'],
      ['my part.png', 'my part.png'],
      ['see "my part.png"', 'my part.png'],
      ['deep/er/B.JPG', 'deep/er/B.JPG'],
      ['B.JPG', undefined],
      ['a.png.txt', undefined],
      ['xa.png', undefined],
    ] as const) {
      const files = `import os\nos.makedirs("deep/er")\n${save('deep/er/B.JPG')}`;
      const code = `${save('a.png')}${save('my part.png')}print(${JSON.stringify(printed)})`;
      const outcome = await run({ capture }, files, code);
      expect([printed, ...names(outcome)]).toEqual(file ? [printed, file] : [printed]);
      expect(outcome.stdout).toBe(`${printed}\n`);
    }
  });

  it('are taken in the order of their names, and lines of nothing else from stdout', async () => {
    const capture = { printedFiles: true, hidesNames: true };
    const code = `${save('a.png')}${save('b.webp')}${save('c.bmp')}
print("first")\nprint("./c.bmp")\nprint("b.webp and a.png")\nprint("'a.png'\\nnone.png")`;
    const outcome = await run({ capture }, code);
    expect(names(outcome)).toEqual(['c.bmp', 'b.webp', 'a.png']);
    expect(outcome.stdout).toBe('first\nb.webp and a.png\nnone.png\n');
    expect(outcome.images.map(({ source }) => source)).toEqual(['file', 'file', 'file']);
  });

  it('are found where the code has gone', async () => {
    const code = `import os\nos.mkdir("out")\nos.chdir("out")\n${save('a.png')}print("a.png")`;
    expect(names(await run({ capture: { printedFiles: true } }, code))).toEqual(['out/a.png']);
  });

  it('are those that the execution wrote, oldest first, where saved ones are asked for', async () => {
    const capture = { savedFiles: true };
    const first = `${save('old.png')}${save('kept.bmp')}`;
    const code = `import os, time
os.mkdir("out")
time.sleep(0.02)
Image.new("RGB", (60, 40), "red").save("kept.bmp")
time.sleep(0.02)
Image.new("RGB", (50, 40)).save("out/b.png")
time.sleep(0.02)
open("a.png", "wb").write(b"none")
plt.savefig("figure.png")`;
    const outcome = await run({ capture }, first, code);
    expect(names(outcome)).toEqual(['kept.bmp', 'out/b.png', 'figure.png']);
    expect(outcome.truncated).toEqual([]);
    expect(names(await run({ capture }, first, 'Image.open("old.png").load()'))).toEqual([]);
    const again = `${save('old.png')}Image.new("RGB", (60, 40), "red").save("kept.bmp")`;
    expect(names(await run({ capture }, first, again))).toContain('kept.bmp');
  });

  it('are not taken where they are excepted, nor after a failure', async () => {
    const both = { printedFiles: true, savedFiles: true };
    const code = `${save('a.png')}${save('b.png')}print("a.png b.png")`;
    const some = await run({ capture: { ...both, exceptFiles: ['./a.png'] } }, code);
    expect(names(some)).toEqual(['b.png']);
    expect((await run({ capture: both }, `${code}\n1 / 0`)).images).toEqual([]);
  });

  it.each([
    ['renamed', 'os.rename("photo.png", "z.png")\nprint("z.png")'],
    ['copied', 'shutil.copy("photo.png", "z.png")\nprint("z.png")'],
    ['saved again', 'photo.save("z.png")\nprint("z.png")'],
    ['in another format', 'Image.open("photo.png").save("z.bmp")\nprint("z.bmp")'],
    ['linked', 'os.link("photo.png", "z.png")\nprint("z.png")'],
  ])('show no input that was %s without a change', async (_, code) => {
    const capture = { printedFiles: true, savedFiles: true, exceptFiles: ['photo.png'] };
    const head = 'import os, shutil\n';
    const outcome = await run({ capture }, 'photo.save("photo.png")', head + code);
    expect([outcome.kind, names(outcome)]).toEqual(['ok', []]);
    // A change of it is new evidence.
    const part = 'photo.crop((40, 30, 140, 90)).save("part.png")\nprint("part.png")';
    const changed = await run({ capture }, 'photo.save("photo.png")', head + code, part);
    expect(names(changed)).toEqual(['part.png']);
  });

  it('keep the origin of the image that was saved', async () => {
    const capture = { printedFiles: true };
    const code = `photo.save("photo.png")
Image.open("photo.png").crop((40, 30, 140, 90)).save("part.jpg")
os = __import__("os")
os.rename("part.jpg", "other.jpg")
print("other.jpg")`;
    const [part] = (await run({ capture }, code)).images;
    expect(part?.origin).toEqual({ image: 'photo', map: [1, 0, 40, 0, 1, 30] });
    const foreign = `photo.save("a.png")\n${save('a.png')}print("a.png")`;
    expect((await run({ capture }, foreign)).images[0]).not.toHaveProperty('origin');
  });

  it('are within the limits, as many as there are', async () => {
    const capture = { printedFiles: true };
    const many =
      'for i in range(12):\n  Image.new("L", (9, 9)).save(f"{i}.png")\n  print(f"{i}.png")';
    const outcome = await run({ capture }, many);
    expect(names(outcome)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7'].map((n) => `${n}.png`));
    expect(outcome.truncated).toEqual(['images']);
    const long = await run({ capture }, `${save('long.png', '(4000, 2)')}print("long.png")`);
    expect([long.kind, long.images.length, long.truncated]).toEqual(['ok', 0, ['images']]);
    const text = 'open("a.png", "w").write("no image")\nprint("a.png")';
    const none = await run({ capture }, text);
    expect([none.images.length, none.truncated]).toEqual([0, []]);
  });

  it.each<SessionMode>(['persistent', 'transactional', 'fresh'])(
    'are found in a %s session',
    async (mode) => {
      const capture = { lastExpression: true, printedFiles: true, savedFiles: true };
      const code = `${save('a.png')}${save('b.png')}print("b.png")\nphoto`;
      const outcome = await run({ capture, mode }, 'x = 1', code);
      expect(names(outcome)).toEqual([undefined, 'b.png', 'a.png']);
      const failed = await run({ capture, mode }, save('a.png'), `${save('b.png')}1 / 0`);
      expect([failed.kind, failed.images.length]).toEqual(['exception', 0]);
    },
  );
});

describe('filters', () => {
  const show = (...given: string[]): string =>
    given.map((size) => `Image.new("RGB", ${size}).show()`).join('\n');

  it('drop images that are too long or too many, without an error in the code', async () => {
    const capture = { images: { most: 2, mostAspect: 10 } };
    const code = show('(300, 10)', '(3000, 1)', '(100, 10)', '(9, 9)', '(8, 8)');
    const outcome = await run({ capture }, code);
    expect([outcome.kind, sizes(outcome)]).toEqual(['ok', ['100x10', '9x9']]);
    expect(outcome.truncated).toEqual(['images']);
    const fewer = await run({ capture }, show('(9, 9)'));
    expect(fewer.truncated).toEqual([]);
  });

  it('drop or enlarge small images, and say where the large ones come from', async () => {
    const dropped = await run(
      { capture: { images: { smallSides: { below: 28 } } } },
      show('(27, 90)', '(28, 28)'),
    );
    expect(sizes(dropped)).toEqual(['28x28']);
    const images = { smallSides: { below: 56, enlargeTo: 112 } };
    const code = `${show('(60, 56)', '(80, 55)')}\nphoto.crop((40, 30, 96, 58)).show()`;
    const enlarged = await run({ capture: { images } }, code);
    expect(sizes(enlarged)).toEqual(['60x56', '163x112', '224x112']);
    expect(enlarged.images[2]?.origin).toEqual({ image: 'photo', map: [0.25, 0, 40, 0, 0.25, 30] });
  });

  it('draw figures at another resolution, cut to what they show', async () => {
    const draw = 'plt.figure(figsize=(4, 2))\nplt.plot([1, 2])\nplt.show()';
    expect(sizes(await run({ capture: { figures: { dpi: 150 } } }, draw))).toEqual(['600x300']);
    const [tight] = (await run({ capture: { figures: { isTight: true } } }, draw)).images;
    expect(tight?.width).toBeLessThan(400);
    const small = `plt.figure(figsize=(0.2, 2))\nplt.show()\n${draw}`;
    const dropped = await run({ capture: { figures: { leastSide: 28 } } }, small);
    expect([sizes(dropped), dropped.truncated]).toEqual([['400x200'], ['images']]);
    const far = 'plt.text(500, 0.5, "far")\nplt.show()';
    const { kind, error } = await run({ capture: { figures: { isTight: true } } }, far);
    expect([kind, error?.type, error?.line]).toEqual(['exception', 'ValueError', 2]);
  });
});

describe('capture options', () => {
  it('are none by default', async () => {
    const code = 'Image.new("L", (9, 9)).save("a.png")\nprint("a.png")\nphoto';
    for (const capture of [{}, { capture: {} }]) {
      const outcome = await run(capture, code);
      expect([outcome.stdout, outcome.images.length]).toEqual(['a.png\n', 0]);
    }
  });

  it.each([
    [{ lastExpresion: true }, 'capture.lastExpresion', /no option/],
    [{ printedFiles: 'yes' }, 'capture.printedFiles', /is "yes"\. .*expected boolean/],
    [{ figures: { dpi: 0 } }, 'capture.figures.dpi', /is 0\. .*>=10/],
    [
      { images: { smallSides: { below: 56, enlargeTo: 28 } } },
      'capture.images.smallSides.enlargeTo',
      /is 28\. expected at least `below`/,
    ],
  ])('that do not fit are an error: %j', async (capture, field, message) => {
    const opening = sandbox.open({ capture: capture as CaptureOptions });
    await expect(opening).rejects.toMatchObject({ code: 'config', field });
    await expect(opening).rejects.toThrow(message);
    expect(sandbox.stats().waiting).toBe(0);
  });
});
