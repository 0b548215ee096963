import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalSandbox } from './local-sandbox.ts';
import { openSandbox } from './open-sandbox.ts';
import type { Outcome } from './outcome.ts';
import { ensurePython } from './python-environment.ts';
import type { RepairOptions } from './session.ts';

let sandbox: LocalSandbox;
beforeAll(async () => {
  const { python } = await ensurePython(join(import.meta.dirname, '../../../.cache/sandbox-venv'));
  sandbox = await openSandbox({ python, unsafe: true });
}, 300_000);
afterAll(() => sandbox.dispose());

async function run(repairs: RepairOptions, ...scripts: string[]): Promise<Outcome> {
  const session = await sandbox.open({ repairs });
  try {
    for (const script of scripts.slice(0, -1)) await session.execute(script);
    return await session.execute(scripts.at(-1) ?? '');
  } finally {
    await session.dispose();
  }
}

describe('repairs', () => {
  const indented = '    x = 1\n    if x:\n        print(x)';
  const firstOnly = 'x = 1\n    y = 2\n    print(x + y)';

  it('are not made unless they are asked for', async () => {
    for (const code of [indented, firstOnly]) {
      const { kind, error, repairs } = await run({}, code);
      expect([kind, error?.type, repairs]).toEqual(['exception', 'IndentationError', undefined]);
    }
    const crop = await run({}, 'print(Image.new("L", (10, 10)).crop((5, 5, 20, 20)).size)');
    expect([crop.stdout, crop.repairs]).toEqual(['(15, 15)\n', undefined]);
  });

  it('read code as it was meant where its indentation alone is wrong', async () => {
    const whole = await run({ indentation: true }, indented);
    expect(whole.stdout).toBe('1\n');
    expect(whole.repairs).toEqual([
      { kind: 'indentation', before: '    x = 1', after: 'x = 1', line: 1 },
    ]);
    expect((await run({ indentation: true }, firstOnly)).stdout).toBe('3\n');
    const broken = await run({ indentation: true }, 'x = (');
    expect([broken.kind, broken.repairs]).toEqual(['exception', undefined]);
    const lines = await run({ indentation: true }, '    x = 1\n\n    1 / 0');
    expect(lines.error?.line).toBe(3);
  });

  it('find the image that a made-up path means', async () => {
    const save = 'Image.new("L", (7, 5)).save("photo.png")';
    const read = 'print(Image.open("/mnt/data/abc/photo.png").size)';
    const found = await run({ imagePaths: true }, save, read);
    expect(found.stdout).toBe('(7, 5)\n');
    expect(found.repairs).toEqual([
      { kind: 'imagePath', before: '/mnt/data/abc/photo.png', after: 'photo.png', line: 1 },
    ]);
    const only = await run({ imagePaths: true }, save, read.replace('photo', 'other'));
    expect(only.stdout).toBe('(7, 5)\n');
    const second = save.replace('photo', 'second');
    const unclear = await run({ imagePaths: true }, save, second, read.replace('photo', 'other'));
    expect([unclear.error?.type, unclear.repairs]).toEqual(['FileNotFoundError', undefined]);
  });

  it('keep crops inside the image and above a least size', async () => {
    const crop = (box: string): string => `print(Image.new("L", (100, 80)).crop(${box}).size)`;
    for (const [box, size, after] of [
      ['(50, 40, 300, 300)', '(50, 40)', '(50, 40, 100, 80)'],
      ['(-9, -9, 40, 40)', '(40, 40)', '(0, 0, 40, 40)'],
      ['(98, 10, 99, 60)', '(16, 50)', '(84, 10, 100, 60)'],
      ['(60, 60, 20, 20)', '(16, 16)', undefined],
    ] as const) {
      const outcome = await run({ cropBoxes: 16 }, crop(box));
      expect([box, outcome.kind, outcome.stdout]).toEqual([box, 'ok', `${size}\n`]);
      expect(outcome.repairs).toHaveLength(1);
      if (after !== undefined) expect(outcome.repairs?.[0]).toMatchObject({ before: box, after });
    }
    const inside = await run({ cropBoxes: 16 }, crop('(10, 10, 50, 50)'));
    expect([inside.stdout, inside.repairs]).toEqual(['(40, 40)\n', undefined]);
  });
});
