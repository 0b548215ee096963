/** The canonical image against sharp's own turns and crops. */
import { type MessagePart, type TurnTool, turnedNeedleWith, turnTools } from '@saccade/gym';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { area, CanonicalFrame, coverage } from './canonical.ts';

const taskSet = turnedNeedleWith({ cells: 2, turnedShare: 1 });
const tasks = await Promise.all(Array.from({ length: 24 }, (_, i) => taskSet.task('train', i)));

/** Turns a PNG as Pillow does: counter-clockwise. */
function turned(png: Uint8Array, tool: TurnTool): Promise<Buffer> {
  const image = sharp(png);
  if (tool === 'flip_horizontal') return image.flop().png().toBuffer();
  if (tool === 'flip_vertical') return image.flip().png().toBuffer();
  return image
    .rotate(360 - Number(tool.slice('rotate_'.length)))
    .png()
    .toBuffer();
}

const part = (
  name: string,
  png: Uint8Array,
  side: number,
): Extract<MessagePart, { kind: 'image' }> => ({
  ...{ kind: 'image', name, png: new Uint8Array(png), width: side, height: side },
});

describe('the canonical image', () => {
  it('is what the tool that a task requires gives, and no other tool, for every turn', async () => {
    const seen = new Set<string>();
    for (const task of tasks) {
      const [image] = task.images;
      const needed = (task.metadata.requiredTools as string[])[0] as TurnTool;
      if (image === undefined || seen.has(needed)) continue;
      seen.add(needed);
      for (const tool of turnTools) {
        const frame = new CanonicalFrame(task, []);
        const shown = part('x', await turned(image.png, tool), image.width);
        const difference = await frame.difference(shown);
        if (tool === needed) expect(difference).toBe(0);
        else expect(difference).toBeGreaterThan(2);
      }
    }
    expect(seen).toEqual(new Set(turnTools));
  });

  it('places crops of turned images by the maps of their pixels', () => {
    const [task] = tasks.filter(
      ({ metadata }) => (metadata.requiredTools as string[])[0] === 'rotate_180',
    );
    if (task === undefined) throw new Error('no task');
    const [image] = task.images;
    const side = image?.width ?? 0;
    const first = part('image_0', image?.png ?? new Uint8Array(), side);
    const frame = new CanonicalFrame(task, [first]);
    const crop = {
      ...part('a', first.png, 10),
      origin: { image: 'image_0', map: [1, 0, 20, 0, 1, 30] as const },
    };
    expect(frame.place(crop)).toMatchObject({
      isUpright: false,
      box: [side - 30, side - 40, side - 20, side - 30],
    });
    const upright = {
      ...part('b', first.png, side),
      origin: { image: 'image_0', map: [-1, 0, side, 0, -1, side] as const },
    };
    expect(frame.place(upright)).toMatchObject({ isUpright: true, box: [0, 0, side, side] });
    const later = {
      ...part('c', first.png, 10),
      origin: { image: 'b', map: [1, 0, 5, 0, 1, 6] as const },
    };
    expect(frame.place(later)).toMatchObject({ isUpright: true, box: [5, 6, 15, 16] });
    expect(frame.place(part('d', first.png, 10))).toEqual({ isUpright: false });
  });

  it('is covered by boxes as areas are', () => {
    expect(area([0, 0, 4, 5])).toBe(20);
    expect(coverage([0, 0, 10, 10], [5, 5, 15, 15])).toBe(0.25);
    expect(coverage([0, 0, 10, 10], [20, 20, 30, 30])).toBe(0);
  });
});
