import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TrajectoryBuilder } from './builder.ts';
import { checkTrajectory, trajectoryViolations } from './check.ts';
import { formatTrajectoryLine, parseTrajectoryLine } from './json.ts';
import {
  type Action,
  codeOf,
  isToolUse,
  stopReasons,
  type ToolResult,
  type Trajectory,
  type TrajectoryImage,
} from './trajectory.ts';

const imageToken = 1;
const ran: ToolResult = { kind: 'ok', stdout: '', stderr: '', imageCount: 0, wallMs: 1 };
const call: Action = { kind: 'toolCall', name: 'zoom', arguments: { box: [1, 2], code: 'x' } };

/** A random conversation: sizes of what is said, and of the images in each observation. */
interface Talk {
  readonly prompt: readonly number[];
  readonly turns: readonly {
    readonly said: number;
    readonly action: Action;
    readonly seen: readonly number[];
  }[];
  readonly maxTokens: number;
}

const imageSizes = array(integer({ min: 1, max: 5 }), { maxLength: 3 });
const talks = record<Talk>({
  prompt: imageSizes,
  turns: array(
    record({
      said: integer({ min: 1, max: 4 }),
      action: constantFrom<Action>({ kind: 'code', code: 'look()' }, call, {
        kind: 'invalid',
        reason: 'noCodeNorAnswer',
      }),
      seen: imageSizes,
    }),
    { minLength: 1, maxLength: 6 },
  ),
  maxTokens: integer({ min: 1, max: 60 }),
});

/** Text, then each image's placeholders between text, so that every place may be the last. */
function given(sizes: readonly number[], names: () => string) {
  const tokens = [7, ...sizes.flatMap((size) => [...new Array<number>(size).fill(imageToken), 8])];
  const images = sizes.map((tokenCount): TrajectoryImage => {
    const side = 28 * tokenCount;
    return {
      name: names(),
      png: new Uint8Array(1),
      width: 9,
      height: 9,
      modelWidth: side,
      modelHeight: 28,
      tokenCount,
    };
  });
  return { tokens: Int32Array.from(tokens), images, text: 'given' };
}

/** Plays a conversation; gives the ledger after every step beside the result. */
function play({ prompt, turns, maxTokens }: Talk): {
  readonly trajectory: Trajectory;
  readonly ledgers: readonly (readonly number[])[];
} {
  const identity = { id: 't/0', taskId: 't', sampleIndex: 0 };
  const builder = new TrajectoryBuilder({ ...identity, maxTokens, imageToken });
  const ledgers: number[][] = [];
  let count = 0;
  const name = (): string => `image_${count++}`;
  const note = (): void => void ledgers.push([...builder.contextTokens()]);
  builder.prompt(given(prompt, name));
  note();
  for (const { said, action, seen } of turns) {
    if (builder.room === 0) break;
    const length = Math.min(said, builder.room);
    const tokens = new Int32Array(length).fill(5);
    const logprobs = new Float32Array(length).fill(-1);
    builder.model({ tokens, logprobs, text: 'said', policyVersion: 0 });
    tokens.fill(99);
    logprobs.fill(Number.NaN);
    note();
    builder.turn(action, isToolUse(action) ? ran : undefined);
    if (!builder.observation(given(seen, name))) break;
    note();
  }
  return { trajectory: builder.finish('lengthLimit'), ledgers };
}

describe('a ledger of a random conversation', () => {
  it('keeps every rule, however it was cut short', () => {
    assert(
      property(talks, (talk) => {
        const { trajectory } = play(talk);
        expect(trajectoryViolations(trajectory, { imageToken })).toEqual([]);
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  it('only grows: what was in it stays where it was, whatever became of the arrays', () => {
    assert(
      property(talks, (talk) => {
        const { trajectory, ledgers } = play(talk);
        for (const [i, ledger] of ledgers.entries()) {
          expect(ledger.slice(0, ledgers[i - 1]?.length ?? 0)).toEqual(ledgers[i - 1] ?? []);
        }
        const all = trajectory.segments.flatMap(({ tokens }) => [...tokens]);
        expect(ledgers.at(-1)?.slice(0, all.length)).toEqual(all);
        expect(all).not.toContain(99);
      }),
      { seed: 2, numRuns: 300 },
    );
  });

  it('never exceeds the context, nor cuts an image or an observation', () => {
    assert(
      property(talks, (talk) => {
        const { trajectory } = play(talk);
        const sizes = trajectory.segments.map(({ tokens }) => tokens.length);
        const total = sizes.reduce((sum, size) => sum + size, 0);
        if (trajectory.segments.length > 1) expect(total).toBeLessThanOrEqual(talk.maxTokens);
        const whole = [talk.prompt, ...talk.turns.map(({ seen }) => seen)];
        trajectory.segments
          .filter(({ kind }) => kind !== 'model')
          .forEach(({ tokens, images }, i) => {
            expect(images.map(({ tokenCount }) => tokenCount)).toEqual(whole[i]);
            expect([...tokens]).toEqual([...given(whole[i] ?? [], () => '').tokens]);
          });
        expect(trajectory.segments.at(-1)?.kind).not.toBe('observation');
      }),
      { seed: 3, numRuns: 300 },
    );
  });

  it('comes back from its line as it was', () => {
    assert(
      property(talks, (talk) => {
        const { trajectory } = play(talk);
        const line = formatTrajectoryLine(trajectory, ({ name }) => `${name}.png`);
        const read = parseTrajectoryLine(line).trajectory;
        expect(formatTrajectoryLine(read, ({ name }) => `${name}.png`)).toBe(line);
        expect(read.turns).toEqual(trajectory.turns);
      }),
      { seed: 4, numRuns: 100 },
    );
  });
});

describe('the builder', () => {
  const identity = { id: 't/0', taskId: 't', sampleIndex: 0, maxTokens: 10, imageToken };
  const image = given([2], () => 'image_0').images[0] as TrajectoryImage;
  const prompt = (change: object, tokens = [7, 1, 1]) => {
    const images = [{ ...image, ...change }];
    return { tokens: Int32Array.from(tokens), images, text: '' };
  };

  it.each<[string, ReturnType<typeof prompt>, RegExp]>([
    ['placeholders that are missing', prompt({}, [7, 1, 8]), /has 1 placeholders, .* need 2/],
    ['placeholders of no image', prompt({}, [1, 1, 1]), /has 3 placeholders, .* need 2/],
    [
      'an image that ends within the run of the next one',
      {
        ...prompt({}, [1, 7, 1, 1]),
        images: [image, { ...image, name: 'image_1', tokenCount: 1 }],
      },
      /placeholders are cut/,
    ],
    [
      'a run that ends within an image which did not begin it',
      {
        ...prompt({}, [1, 1, 1, 7, 1]),
        images: [image, { ...image, name: 'image_1' }],
      },
      /placeholders are cut/,
    ],
    ['an image without a size', prompt({ modelWidth: 0 }), /modelWidth of image image_0 must be/],
    ['half a pixel', prompt({ height: 1.5 }), /height of image image_0 must be/],
    [
      'an origin that nobody has seen',
      prompt({ origin: { image: 'image_7', map: [1, 0, 0, 0, 1, 0] } }),
      /comes from image_7, which is no earlier image/,
    ],
    [
      'a map that has no inverse',
      prompt({ origin: { image: 'image_0', map: [0, 0, 0, 0, 1, 0] } }),
      /\[0, 0, 0, 0, 1, 0\], not invertible/,
    ],
    ['a token below 0', prompt({}, [-1, 1, 1]), /a token below 0/],
    ['no tokens', { ...prompt({}, []), images: [] }, /no tokens/],
  ])('refuses %s, and appends nothing', (_, wrong, message) => {
    const builder = new TrajectoryBuilder(identity);
    expect(() => builder.prompt(wrong)).toThrow(message);
    expect(builder.tokenCount).toBe(0);
    builder.prompt(prompt({}));
    expect(builder.tokenCount).toBe(3);
  });

  it.each([
    ['tiles with their names between them', [1, 7, 1], [2]],
    ['images without anything between them', [1, 1, 1, 1], [2, 2]],
    ['tiles, and an image after them', [1, 7, 1, 1, 7, 1, 1], [3, 2]],
  ])('takes %s', (_, tokens, counts) => {
    const images = counts.map((tokenCount, i) => ({ ...image, tokenCount, name: `image_${i}` }));
    const builder = new TrajectoryBuilder({ ...identity, maxTokens: 20 });
    builder.prompt({ ...prompt({}, tokens), images });
    expect(builder.tokenCount).toBe(tokens.length);
  });

  it('refuses an observation whose image would not fit, and stays as it was', () => {
    const builder = new TrajectoryBuilder(identity);
    builder.prompt(prompt({}));
    const logprobs = Float32Array.of(-1);
    builder.model({ tokens: Int32Array.of(5), logprobs, text: '', policyVersion: 0 });
    builder.turn(call, ran);
    const before = [...builder.contextTokens()];
    // Room for 6 tokens, one of them the model's: an image of 5 between two texts has 7.
    expect(builder.observation(given([5], () => 'image_1'))).toBe(false);
    expect([...builder.contextTokens()]).toEqual(before);
    // Six tokens fill the context to the last: the model could say nothing about them.
    expect(builder.observation(given([4], () => 'image_1'))).toBe(false);
    expect(builder.observation(given([3], () => 'image_1'))).toBe(true);
    expect(builder.room).toBe(1);
    const tokens = Int32Array.of(5, 5);
    const two = { tokens, logprobs: new Float32Array(2), text: '', policyVersion: 0 };
    expect(() => builder.model(two)).toThrow(/room for 1 tokens, the model wrote 2/);
  });

  it('refuses a log-prob that is not finite', () => {
    const builder = new TrajectoryBuilder(identity);
    builder.prompt(prompt({}));
    const logprobs = Float32Array.of(Number.NEGATIVE_INFINITY);
    const said = { tokens: Int32Array.of(5), logprobs, text: '', policyVersion: 0 };
    expect(() => builder.model(said)).toThrow(/not finite/);
  });
});

describe('what is closed', () => {
  it('has no other stop reasons', () => {
    const { trajectory } = play({ prompt: [], turns: [], maxTokens: 9 });
    const broken = { ...trajectory, stopReason: 'tired' } as unknown as Trajectory;
    expect(() => checkTrajectory(broken)).toThrow(/ended as tired, which is none of answered/);
    expect(new Set(stopReasons).size).toBe(7);
  });

  it('has code in code and in calls with an argument of that name', () => {
    expect(codeOf({ kind: 'code', code: 'x' })).toBe('x');
    expect(codeOf(call)).toBe('x');
    expect(codeOf({ kind: 'toolCall', name: 't', arguments: { code: 7 } })).toBeUndefined();
    expect(codeOf({ kind: 'answer', answer: 'x' })).toBeUndefined();
  });
});
