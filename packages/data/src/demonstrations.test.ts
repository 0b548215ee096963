import { join } from 'node:path';
import { DataError, randomAt } from '@saccade/core';
import {
  createToolEnv,
  type Env,
  handOf,
  type NeedleFacts,
  needle,
  pyvisionImageShort,
  turnedNeedleWith,
} from '@saccade/gym';
import { ModelImages, packTrajectories } from '@saccade/rollout';
import { ensurePython, type LocalSandbox, openSandbox } from '@saccade/sandbox';
import { countToolCalls, type Trajectory, trajectoryViolations } from '@saccade/trajectory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemonstrationMix, defaultMix, planLooks } from './behavior.ts';
import { captions } from './caption.ts';
import { CharacterProcessor, endOfTurn, imageToken } from './character-processor.fixture.ts';
import { needleCorpus, turnedCorpus } from './corpus.ts';
import { demonstrate } from './demonstrations.ts';
import { guide } from './guided.ts';
import { readingExamples } from './reading.ts';
import { needleScript, turnedScript } from './script.ts';
import { answerText, stepTexts } from './turn-text.ts';
import type { TurnedMix } from './turned-behavior.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');

const facts: NeedleFacts = {
  box: [42, 266, 70, 294],
  decoys: [
    [266, 42, 294, 70],
    [378, 378, 406, 406],
  ],
  places: Array.from({ length: 16 }, (_, i) => {
    const [left, top] = [42 + 112 * (i % 4), 42 + 112 * Math.floor(i / 4)];
    return [left, top, left + 28, top + 28] as const;
  }),
};
const always: DemonstrationMix = {
  answerWithoutLooking: 0,
  lookAtNothing: 0,
  answerAfterSeeing: 1,
  answerAfterMissing: 0,
  beginsAgain: false,
  maxLooks: 4,
};
const plans = (mix: DemonstrationMix, count = 1) =>
  Array.from({ length: count }, (_, i) => planLooks(facts, mix, randomAt(1, 'test', i)));

describe('planLooks', () => {
  it('visits cards in reading order until the digit is seen', () => {
    expect(plans(always)).toEqual([[facts.decoys[0], facts.box]]);
  });

  it('looks on at all cards where seeing does not end it, and no further', () => {
    const [looks] = plans({ ...always, answerAfterSeeing: 0 });
    expect(looks).toEqual([facts.decoys[0], facts.box, facts.decoys[1]]);
  });

  it('looks at the first card again after the last where the mix says so', () => {
    const [looks] = plans({ ...always, answerAfterSeeing: 0, beginsAgain: true });
    expect(looks).toEqual([facts.decoys[0], facts.box, facts.decoys[1], facts.decoys[0]]);
  });

  it('stops at the limit, and does not look at all where it answers at once', () => {
    expect(plans({ ...always, answerAfterSeeing: 0, maxLooks: 1 })[0]).toHaveLength(1);
    expect(plans({ ...always, answerWithoutLooking: 1 })[0]).toEqual([]);
  });

  it('looks at places of the table where it is lost', () => {
    const [looks] = plans({ ...always, lookAtNothing: 1, answerAfterSeeing: 0 });
    expect(looks).toHaveLength(4);
    for (const look of looks ?? []) expect(facts.places).toContainEqual(look);
  });

  it('answers at once as often as the mix says', () => {
    const silent = plans(defaultMix, 2000).filter((looks) => looks.length === 0).length;
    // Four standard deviations of a binomial count, √(2000·0.3·0.7) ≈ 20.
    expect(Math.abs(silent - 2000 * defaultMix.answerWithoutLooking)).toBeLessThan(82);
  });
});

/** The parts of a demonstration that must not depend on timing. */
const traceOf = (trajectory: Trajectory): string =>
  JSON.stringify([
    trajectory.id,
    trajectory.segments.map(({ kind, tokens, images, text }) => [
      kind,
      [...tokens],
      images.map(({ name, png, origin }) => [name, Buffer.from(png).toString('base64'), origin]),
      text,
    ]),
    trajectory.turns.map(({ action }) => action),
  ]);

describe('demonstrate, in the real sandbox', () => {
  const processor = new CharacterProcessor();
  let sandbox: LocalSandbox;
  const makeEnv = (): Env =>
    createToolEnv({
      protocol: pyvisionImageShort,
      sandbox,
      budgets: { toolTurns: 4, images: 8 },
    });
  const run = (count: number, concurrency: number, change = {}): Promise<Trajectory[]> => {
    const images = new ModelImages(processor);
    const script = needleScript(defaultMix);
    const taskSet = needle;
    const own = {
      taskSet,
      protocol: pyvisionImageShort,
      makeEnv,
      processor,
      script,
      seed: 3,
      count,
      concurrency,
      images,
    };
    return demonstrate({ ...own, ...change });
  };

  beforeAll(async () => {
    const { python } = await ensurePython(environment);
    sandbox = await openSandbox({ python });
  }, 300_000);
  afterAll(() => sandbox.dispose());

  it('gives whole trajectories in task order that end in the true answer', async () => {
    const made = await run(12, 4);
    expect(made.map(({ taskId }) => taskId)).toEqual(
      made.map((_, i) => `needle-train-${String(i).padStart(6, '0')}`),
    );
    for (const [index, trajectory] of made.entries()) {
      expect(trajectoryViolations(trajectory)).toEqual([]);
      expect(trajectory.stopReason).toBe('answered');
      const { answer } = await needle.task('train', index);
      expect(trajectory.segments.at(-1)?.text).toBe(answerText(pyvisionImageShort, answer));
      expect(countToolCalls(trajectory)).toBe(trajectory.turns.length - 1);
      for (const { kind, images } of trajectory.segments) {
        expect(images).toHaveLength(kind === 'model' ? 0 : 1);
      }
    }
    expect(made.some(({ turns }) => turns.length === 1)).toBe(true);
    expect(made.some(({ turns }) => turns.length > 2)).toBe(true);
  });

  it('ends a turn with its token exactly where the model, not the stop string, ended it', async () => {
    for (const { segments, turns } of await run(8, 8)) {
      turns.forEach(({ action, segment }) => {
        const tokens = segments[segment]?.tokens ?? new Int32Array();
        expect(tokens.at(-1) === endOfTurn).toBe(action.kind === 'answer');
        const after = segments[segment + 1];
        if (after !== undefined) expect(after.text.startsWith('$|')).toBe(true);
      });
    }
  });

  it('does not depend on concurrency, and changes with the seed and the first task', async () => {
    const [one, many] = [await run(6, 1), await run(6, 6)];
    expect(many.map(traceOf)).toEqual(one.map(traceOf));
    const looks = (made: Trajectory[]) => made.map(({ turns }) => turns.length).join();
    const other = await run(24, 6, { seed: 4 });
    expect(looks(other)).not.toBe(looks(await run(24, 6)));
    const [later] = await run(1, 1, { firstTask: 5 });
    expect(later && traceOf(later)).toBe(one[5] && traceOf(one[5]));
  });

  it('trains on the tokens of the model and no others', async () => {
    const made = await run(6, 6);
    const images = new ModelImages(processor);
    const items = made.map((trajectory) => ({ trajectory }));
    const { microBatches, counts } = await packTrajectories(items, { images, maxTokens: 1e6 });
    const spoken = made.map(({ segments }) =>
      segments.flatMap(({ kind, tokens }) => (kind === 'model' ? [...tokens] : [])),
    );
    expect(counts.tokens).toBe(spoken.flat().length);
    expect([...(microBatches[0]?.packed.targets ?? [])]).toEqual(spoken.flat());
  });

  it('says so when a script does not reach its answer', async () => {
    const tight = (): Env =>
      createToolEnv({
        protocol: pyvisionImageShort,
        sandbox,
        budgets: { toolTurns: 0, images: 8 },
      });
    const broken = run(2, 1, { makeEnv: tight, script: needleScript(always) });
    await expect(broken).rejects.toThrow(DataError);
    await expect(broken).rejects.toThrow(/ended with turnLimit instead of an answer/);
  });
});

describe('turnedScript, in the real sandbox', () => {
  const processor = new CharacterProcessor();
  let sandbox: LocalSandbox;
  const makeEnv = (): Env =>
    createToolEnv({ protocol: pyvisionImageShort, sandbox, budgets: { toolTurns: 6, images: 8 } });
  const mix: TurnedMix = {
    ...always,
    answerEasyAtOnce: 1,
    leaveTurned: 0,
    tryAnother: 0,
    turnUpright: 0,
    turnBack: 0,
    tryInTheDark: 0,
    mostTries: 0,
  };
  const shared = () => {
    return {
      protocol: pyvisionImageShort,
      makeEnv,
      processor,
      seed: 3,
      count: 24,
      images: new ModelImages(processor),
    };
  };
  const run = (change: Partial<TurnedMix>, turnedShare: number) =>
    demonstrate({
      ...shared(),
      taskSet: turnedNeedleWith({ turnedShare, easyShare: 0 }),
      script: turnedScript({ ...mix, ...change }),
    });
  const codesOf = ({ turns }: Trajectory) =>
    turns.flatMap(({ action }) => (action.kind === 'code' ? [action.code] : []));
  const isTurn = (code: string) => code.startsWith('image_clue_0 = ');
  const lastLookOf = ({ segments }: Trajectory): Buffer =>
    Buffer.from(segments.flatMap(({ images }) => images).at(-1)?.png ?? []);
  let truth: readonly Buffer[] = [];
  /** The last look shows what the same look shows of the table that was never turned. */
  const expectLastLooksUpright = (made: readonly Trajectory[]): void => {
    expect(made.map((one, i) => lastLookOf(one).equals(truth[i] as Buffer))).toEqual(
      made.map(() => true),
    );
  };

  beforeAll(async () => {
    const { python } = await ensurePython(environment);
    sandbox = await openSandbox({ python });
    const upright = await demonstrate({
      ...shared(),
      taskSet: needle,
      script: needleScript(always),
    });
    truth = upright.map(lastLookOf);
  }, 300_000);
  afterAll(() => sandbox.dispose());

  it('turns each image upright before it looks at the digit', async () => {
    const made = await run({}, 1);
    for (const trajectory of made) {
      const [first, ...others] = codesOf(trajectory).map(isTurn);
      expect([first, ...new Set(others)]).toEqual([true, false]);
    }
    expectLastLooksUpright(made);
  });

  it('reaches the same where another tool was tried first, or an upright image turned', async () => {
    const fumbled = await run({ tryAnother: 1 }, 1);
    expect(fumbled.every((one) => codesOf(one).filter(isTurn).length === 2)).toBe(true);
    expectLastLooksUpright(fumbled);
    const needless = await run({ turnUpright: 1, turnBack: 1 }, 0);
    expect(needless.every((one) => codesOf(one).filter(isTurn).length === 2)).toBe(true);
    expectLastLooksUpright(needless);
  });

  it('leaves turned images as they are where the mix says so, and guides what is decided', async () => {
    const made = await run({ leaveTurned: 0.5 }, 1);
    const turned = made.filter((one) => codesOf(one).some(isTurn)).length;
    expect(turned).toBeGreaterThan(4);
    expect(turned).toBeLessThan(20);
    for (const trajectory of made) {
      const said = guide(
        trajectory,
        processor,
        handOf(pyvisionImageShort, []),
        'turnLookOrAnswer',
      ).segments.filter(({ kind }) => kind === 'model');
      for (const { text } of said) expect(text).toMatch(/^(rotate|transpose|\(|\n\\boxed)/);
    }
  });
});

describe('readingExamples', () => {
  const processor = new CharacterProcessor();
  const read = (seed: number) =>
    readingExamples({
      protocol: pyvisionImageShort,
      processor,
      images: new ModelImages(processor),
      seed,
      count: 40,
    });

  it('shows one or two cards and answers the digit, the same for the same seed', async () => {
    const made = await read(1);
    const counts = new Set(made.map(({ segments: [prompt] }) => prompt?.images.length));
    expect([...counts].sort()).toEqual([1, 2]);
    for (const trajectory of made) {
      expect(trajectoryViolations(trajectory)).toEqual([]);
      const [prompt, model] = trajectory.segments;
      prompt?.images.forEach((image, i) => {
        expect(image).toMatchObject({ name: `image_clue_${i}`, width: 28, height: 28 });
      });
      expect(model?.text).toMatch(/^<answer>\n\\boxed\{[0-9]\}\n<\/answer>$/);
      expect(model?.tokens.at(-1)).toBe(endOfTurn);
    }
    expect((await read(1)).map(traceOf)).toEqual(made.map(traceOf));
    expect((await read(2)).map(traceOf)).not.toEqual(made.map(traceOf));
    expect(new Set(made.map(({ answer }) => answer)).size).toBe(10);
  });

  it('gives an answer the environment would have read from its text', async () => {
    for (const { answer, segments } of await read(1)) {
      const action = pyvisionImageShort.parse(segments.at(-1)?.text ?? '');
      expect(action).toEqual({ kind: 'answer', answer });
    }
  });
});

describe('captions', () => {
  const processor = new CharacterProcessor();
  const make = (seed: number, count = 300) =>
    captions({ processor, images: new ModelImages(processor), seed, count });

  it('is an image and the digit it shows, the same for the same seed', async () => {
    const made = await make(1);
    expect(made.length).toBe(300);
    for (const trajectory of made) {
      expect(trajectoryViolations(trajectory)).toEqual([]);
      const [prompt, model] = trajectory.segments;
      expect(prompt?.images).toHaveLength(1);
      expect([...(prompt?.tokens ?? [])]).toEqual(new Array(4).fill(imageToken));
      expect(model?.text).toMatch(/^[0-9]$/);
      expect(trajectory.answer).toBe(model?.text);
    }
    expect(new Set(made.map(({ answer }) => answer)).size).toBe(10);
    expect((await make(1, 20)).map(traceOf)).toEqual(made.slice(0, 20).map(traceOf));
    expect((await make(2, 20)).map(traceOf)).not.toEqual(made.slice(0, 20).map(traceOf));
  });

  it('reports progress up to the last one', async () => {
    const done: number[] = [];
    await captions({
      processor,
      images: new ModelImages(processor),
      seed: 1,
      count: 300,
      onEvent: (event) => {
        if (event.kind === 'progress') done.push(event.done);
      },
    });
    expect(done).toEqual([256, 300]);
  });
});

describe('needleCorpus', () => {
  it('has every text a context of needle is made of', () => {
    const corpus = needleCorpus(pyvisionImageShort);
    expect(corpus).toContain('user\n<image_clue_0>');
    expect(corpus).toContain('assistant\n');
    expect(corpus).toContain(answerText(pyvisionImageShort, '7'));
    for (const k of [1, 2, 3, 4]) {
      expect(corpus.some((text) => text.endsWith(`<image_clue_${k}>`))).toBe(true);
    }
    const task = {
      ...{ id: 'task', question: '', answer: '', metadata: {} },
      images: [{ name: 'image_clue_0', png: new Uint8Array(), width: 9, height: 9 }],
    };
    const [lookText = '', turnText] = stepTexts(pyvisionImageShort, task, [
      { kind: 'look', box: [1, 2, 3, 4] },
      { kind: 'turn', tool: 'rotate_90' },
    ]);
    const [look] = lookText.split('1,2');
    expect(corpus.filter((text) => text.startsWith(look ?? '')).length).toBe(64);
    expect(needleCorpus(pyvisionImageShort)).toEqual(corpus);
    expect(turnedCorpus(pyvisionImageShort)).toEqual(expect.arrayContaining([...corpus, turnText]));
  });
});
