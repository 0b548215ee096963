import { type ToolResult, type Trajectory, TrajectoryBuilder } from '@saccade/trajectory';
import { describe, expect, it } from 'vitest';
import { analyzeTrajectory } from './analyze.ts';

interface Call {
  readonly code: string;
  readonly index: number;
  /** Size of the image that came back; none where it failed. */
  readonly size?: readonly [number, number];
}

/** CodeVision's calls on an image of 100×50. */
function trajectoryOf(calls: readonly Call[]): Trajectory {
  const made = new TrajectoryBuilder({ id: 't/0', taskId: 't', sampleIndex: 0 });
  const image = (name: string, [width, height]: readonly [number, number]) => {
    const model = { modelWidth: 28, modelHeight: 28, tokenCount: 1 };
    return { name, png: new Uint8Array(1), width, height, ...model };
  };
  const speak = (): void => {
    const logprobs = Float32Array.of(-1);
    made.model({ tokens: Int32Array.of(2), logprobs, text: '', policyVersion: 0 });
  };
  const first = [image('image_0', [100, 50])];
  made.prompt({ tokens: Int32Array.of(1), images: first, text: '' });
  calls.forEach(({ code, index, size }, turn) => {
    speak();
    const given = { code, description: '', image_index: index };
    const kind = size === undefined ? 'exception' : 'ok';
    const imageCount = size === undefined ? 0 : 1;
    const result: ToolResult = { kind, stdout: '', stderr: '', imageCount, wallMs: 1 };
    made.turn({ kind: 'toolCall', name: 'code_image_tool', arguments: given }, result);
    const images = size === undefined ? [] : [image(`image_${turn + 1}`, size)];
    made.observation({ tokens: Int32Array.of(3), images, text: '' });
  });
  speak();
  made.turn({ kind: 'answer', answer: '7' });
  return made.finish('answered');
}

describe('code in typed calls', () => {
  // W 100, H 50: under a quarter turn counter-clockwise (10, 5, 30, 15) becomes (5, 70, 15, 90).
  it('is followed on the image that each call names, back to the first one', () => {
    const uses = analyzeTrajectory(
      trajectoryOf([
        { code: 'result = image.rotate(90, expand=True)', index: 0, size: [50, 100] },
        { code: 'result = image.crop((5, 70, 15, 90))', index: 1, size: [10, 20] },
        { code: 'result = img.crop((10, 5, 30, 15))', index: 0, size: [20, 10] },
        { code: 'img = ImageOps.mirror(image)', index: 2, size: [10, 20] },
      ]),
    );
    const done = uses.map(({ turn, operations }) => [turn, ...operations.map(({ kind }) => kind)]);
    expect(done).toEqual([
      [0, 'rotate_90'],
      [1, 'crop'],
      [2, 'crop'],
      [3, 'flip_horizontal'],
    ]);
    for (const turn of [1, 2]) {
      const [crop] = uses[turn]?.operations ?? [];
      expect(crop?.canonicalBox?.map((value) => Math.round(value))).toEqual([10, 5, 30, 15]);
    }
  });

  it('forgets what an earlier call had, and knows no image that there is not', () => {
    const uses = analyzeTrajectory(
      trajectoryOf([
        { code: 'kept = image.crop((0, 0, 9, 9))\nresult = kept', index: 0, size: [9, 9] },
        { code: 'result = kept.crop((0, 0, 5, 5))', index: 0 },
        { code: 'result = image.crop((0, 0, 5, 5))', index: 7 },
      ]),
    );
    expect(uses.map(({ operations }) => operations.length)).toEqual([1, 0, 0]);
  });
});
