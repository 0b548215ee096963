import { describe, expect, it } from 'vitest';
import { codeOfTypedCall, isImageTool } from './typed-calls.ts';

const image = { width: 448, height: 448 };
const code = (name: string, given: object, shown?: typeof image) =>
  codeOfTypedCall(name, given as Readonly<Record<string, unknown>>, image, shown);

describe('a typed call as code', () => {
  it('crops whole pixels inside the image, widened to what was shown', () => {
    const zoom = (box: unknown, shown?: typeof image) =>
      code('image_zoom_in_tool', { bbox_2d: box }, shown);
    expect(zoom([10.6, 20, 39.2, 50])).toBe('result = image.crop((10, 20, 40, 50))');
    expect(zoom([-5, 0, 500, 30])).toBe('result = image.crop((0, 0, 448, 30))');
    const least = { width: 28, height: 28 };
    expect(zoom([100, 100, 110, 128], least)).toBe('result = image.crop((91, 100, 119, 128))');
    expect(zoom([0, 440, 4, 448], least)).toBe('result = image.crop((0, 420, 28, 448))');
  });

  it('turns, flips, resizes and adjusts', () => {
    expect(code('image_rotate_tool', { angle: -90 })).toBe(
      'result = image.rotate(270, expand=True)',
    );
    expect(code('image_flip_tool', { direction: 'vertical' })).toContain('FLIP_TOP_BOTTOM');
    const half = { width: 224, height: 224 };
    expect(code('image_resize_tool', { scale: 0.5 }, half)).toContain('resize((224, 224))');
    expect(code('image_adjust_tool', { contrast: 2 })).toBe(
      'image = ImageEnhance.Contrast(image).enhance(2)\nresult = image',
    );
  });

  it('is nothing for arguments that do not fit and tools that are not known', () => {
    for (const box of [undefined, 'here', [1, 2, 3], [1, 2, 3, 'x']]) {
      expect(code('image_zoom_in_tool', { bbox_2d: box })).toBeUndefined();
    }
    expect(code('image_rotate_tool', { angle: 'left' })).toBeUndefined();
    expect(code('image_flip_tool', { direction: 'left' })).toBeUndefined();
    expect(code('image_resize_tool', { scale: 2 })).toBeUndefined();
    expect([isImageTool('read_code'), code('read_code', {})]).toEqual([false, undefined]);
  });
});
