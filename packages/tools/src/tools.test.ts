import { join } from 'node:path';
import { ensurePython, type LocalSandbox, type Outcome, openSandbox } from '@saccade/sandbox';
import { coordinateImage } from '@saccade/sandbox/contract';
import { decode } from 'fast-png';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool } from './call-tool.ts';
import { toolContract } from './contract.ts';
import { imageTools, tools } from './registry.ts';
import type { GivenArguments, ToolContext } from './tool.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
/** Pixel (x, y) is (x, y, 7). */
const [width, height] = [100, 80];
let sandbox: LocalSandbox;
let context: ToolContext;

beforeAll(async () => {
  const { python } = await ensurePython(environment);
  sandbox = await openSandbox({ python, limits: { wallSeconds: 5 } });
  const png = coordinateImage(width, height);
  context = { sandbox, images: [{ name: 'image_0', png, width, height }] };
}, 300_000);
afterAll(async () => {
  const { open } = sandbox.stats();
  await sandbox.dispose();
  expect(open).toBe(0);
});

const call = (name: string, given: GivenArguments): Promise<Outcome> =>
  callTool([...imageTools, tools.get('code_image_tool')], { name, arguments: given }, context);

/** Red and green of a pixel of the only image: where it came from. */
function pixelAt({ images }: Outcome, x: number, y: number): readonly number[] {
  const { data, width: wide, channels } = decode(images[0]?.png ?? new Uint8Array());
  const at = (y * wide + x) * channels;
  return [data[at] ?? -1, data[at + 1] ?? -1, data[at + 2] ?? -1];
}

describe.each(tools.entries())('%s', (_, tool) => {
  it.each(toolContract)('$name', ({ check }) => check(tool, context));
});

describe('image tools', () => {
  it.each<[string, GivenArguments, [number, number], [number, number], [number, number]]>([
    ['image_zoom_in_tool', { bbox_2d: [20, 10, 60, 40] }, [40, 30], [3, 4], [23, 14]],
    ['image_zoom_in_tool', { bbox_2d: [-50, -50, 40, 30] }, [40, 30], [3, 4], [3, 4]],
    // Widened to 28 pixels around (51, 41), and moved inside at the edge.
    ['image_zoom_in_tool', { bbox_2d: [50, 40, 52, 42] }, [28, 28], [0, 0], [37, 27]],
    ['image_zoom_in_tool', { bbox_2d: [96, 0, 99, 40] }, [28, 40], [0, 0], [72, 0]],
    // Counter-clockwise: the right upper corner goes to the left upper one.
    ['image_rotate_tool', { angle: 90 }, [80, 100], [0, 0], [99, 0]],
    ['image_rotate_tool', { angle: -90 }, [80, 100], [0, 0], [0, 79]],
    ['image_rotate_tool', { angle: 180 }, [100, 80], [0, 0], [99, 79]],
    ['image_flip_tool', { direction: 'horizontal' }, [100, 80], [1, 2], [98, 2]],
    ['image_flip_tool', { direction: 'vertical' }, [100, 80], [1, 2], [1, 77]],
    ['image_resize_tool', { scale: 1 }, [100, 80], [1, 2], [1, 2]],
    ['image_adjust_tool', { brightness: 2 }, [100, 80], [10, 20], [20, 40]],
  ])('%s %j', async (name, given, size, at, color) => {
    const outcome = await call(name, given);
    expect(outcome.error).toBeUndefined();
    expect([outcome.images[0]?.width, outcome.images[0]?.height]).toEqual(size);
    expect(pixelAt(outcome, ...at).slice(0, 2)).toEqual(color);
  });

  it('say where their pixels come from, through an image made before', async () => {
    const first = await call('image_zoom_in_tool', { bbox_2d: [20, 10, 80, 70] });
    const [made] = first.images;
    expect(made?.origin).toEqual({ image: 'image_0', map: [1, 0, 20, 0, 1, 10] });
    if (made === undefined) return;
    const later: ToolContext = {
      ...context,
      images: [...context.images, { name: 'image_1', ...made }],
    };
    const given = { bbox_2d: [5, 6, 45, 46], image_index: 1 };
    const second = await callTool(
      imageTools,
      { name: 'image_zoom_in_tool', arguments: given },
      later,
    );
    expect(second.images[0]?.origin).toEqual({ image: 'image_0', map: [1, 0, 25, 0, 1, 16] });
    expect(pixelAt(second, 0, 0).slice(0, 2)).toEqual([25, 16]);
  });

  it('draw in the color and the place that they are told', async () => {
    const line = { start: [0, 40], end: [99, 40], color: 'white', width: 3 };
    expect(pixelAt(await call('image_draw_line_tool', line), 50, 40)).toEqual([255, 255, 255]);
    const dot = await call('image_draw_point_tool', { point: [30, 20] });
    expect([pixelAt(dot, 30, 20), pixelAt(dot, 40, 20)]).toEqual([
      [255, 0, 0],
      [40, 20, 7],
    ]);
    const box = await call('image_draw_box_tool', { bbox_2d: [10, 10, 60, 50], color: 'blue' });
    expect([pixelAt(box, 10, 30), pixelAt(box, 30, 30)]).toEqual([
      [0, 0, 255],
      [30, 30, 7],
    ]);
  });

  it.each<[string, string, GivenArguments, RegExp]>([
    ['UnknownTool', 'image_magic_tool', {}, /Known: .*image_zoom_in_tool/],
    ['MissingArgument', 'image_zoom_in_tool', {}, /bbox_2d is missing/],
    ['MissingArgument', 'image_adjust_tool', {}, /brightness or contrast/],
    ['UnknownArgument', 'image_zoom_in_tool', { bbox: [0, 0, 9, 9] }, /no argument bbox/],
    ['BadArgument', 'image_zoom_in_tool', { bbox_2d: '0,0,9,9' }, /bbox_2d does not fit/],
    ['BadArgument', 'image_zoom_in_tool', { bbox_2d: [9, 9, 9, 9] }, /holds nothing/],
    [
      'BadArgument',
      'image_zoom_in_tool',
      { bbox_2d: [0, 0, 9, 9], image_index: 1 },
      /Write 0 to 0/,
    ],
    ['BadArgument', 'image_flip_tool', { direction: 'sideways' }, /direction does not fit/],
  ])('answer %s for %s %j', async (type, name, given, message) => {
    const outcome = await call(name, given);
    expect([outcome.kind, outcome.error?.type]).toEqual(['exception', type]);
    expect(outcome.error?.message).toMatch(message);
  });
});

describe('code_image_tool', () => {
  const run = (code: string): Promise<Outcome> =>
    call('code_image_tool', { code, description: 'test', image_index: 0 });

  it.each<[string, string, [number, number]]>([
    ['result', 'result = image.crop((5, 6, 45, 46))', [5, 6]],
    ['the first of several', 'output = image.crop((1, 1, 9, 9)); result = image', [1, 1]],
    ['img', 'img = img.crop((7, 8, 47, 48))', [7, 8]],
    ['the image as it is', 'x = 1', [0, 0]],
    [
      'what a function made',
      'def cut(b):\n  return image.crop(b)\nresult = cut((2, 3, 42, 43))',
      [2, 3],
    ],
  ])('gives %s', async (_, code, corner) => {
    const outcome = await run(code);
    expect(outcome.error).toBeUndefined();
    expect(outcome.images).toHaveLength(1);
    expect(pixelAt(outcome, 0, 0).slice(0, 2)).toEqual(corner);
  });

  it('has a pen on the image, and keeps nothing for the next call', async () => {
    const drawn = await run('draw.point((3, 4), fill=(9, 9, 9))\nkept = 1');
    expect(pixelAt(drawn, 3, 4)).toEqual([9, 9, 9]);
    const next = await run('result = image if "kept" not in globals() else kept');
    expect(pixelAt(next, 3, 4)).toEqual([3, 4, 7]);
  });

  it.each<[string, string, RegExp]>([
    ['ZeroDivisionError', '1 / 0', /division/],
    ['SyntaxError', 'result = (', /was never closed|EOF/],
    ['TypeError', 'result = 7', /result is no picture but int/],
    ['ValueError', 'result = image.crop((0, 0, 0, 9))', /empty image/],
    ['BadArgument', 'x = 1\n'.repeat(400), /code does not fit/],
  ])('answers %s', async (type, code, message) => {
    const outcome = await run(code);
    expect([outcome.error?.type, outcome.images]).toEqual([type, []]);
    expect(outcome.error?.message).toMatch(message);
  });
});
