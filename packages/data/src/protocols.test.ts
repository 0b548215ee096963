/** Demonstrations in every protocol, executed in the real sandbox. */
import { join } from 'node:path';
import { ConfigError, randomAt } from '@saccade/core';
import {
  createToolEnv,
  handOf,
  type Protocol,
  protocols,
  pyvisionImageShort,
  pyvisionVideoShort,
  type Step,
  type TaskSet,
  taskSets,
  vista,
} from '@saccade/gym';
import { QwenProcessor, qwenImageProcessor, trainTokenizer } from '@saccade/policy';
import { ModelImages } from '@saccade/rollout';
import { ensurePython, type LocalSandbox, openSandbox } from '@saccade/sandbox';
import type { Tool } from '@saccade/tools';
import type { Trajectory, TrajectoryImage } from '@saccade/trajectory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tourMix } from './behavior.ts';
import { checkColdStart } from './cold-start.ts';
import { needleCorpus, turnedCorpus, videoCorpus } from './corpus.ts';
import { demonstrate } from './demonstrations.ts';
import { guide } from './guided.ts';
import { coldStarts } from './registry.ts';
import { needleScript, type Script, turnedScript, videoScript } from './script.ts';
import { stepTexts } from './turn-text.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const all = protocols.names.map((name) => protocols.get(name));
const freshCodev = protocols.get('codev').with({ variables: 'fresh' });
const budgets = { toolTurns: 6, images: 31 };

interface Case {
  readonly name: string;
  readonly taskSet: TaskSet;
  readonly script: Script;
  readonly corpus: (protocol: Protocol) => readonly string[];
  readonly steps: readonly Step['kind'][];
  /** The protocol whose images the others must show too. */
  readonly pattern: Protocol;
}

/** Turns back and forth, looks at all cards: every form of a step, several to a trajectory. */
const cases: readonly Case[] = [
  {
    name: 'needle',
    taskSet: taskSets.get('needle'),
    script: needleScript({ ...tourMix, maxLooks: 6 }),
    corpus: needleCorpus,
    steps: ['look'],
    pattern: pyvisionImageShort,
  },
  {
    name: 'turned-needle',
    taskSet: taskSets.get('turned-needle'),
    script: turnedScript({
      ...tourMix,
      answerEasyAtOnce: 0,
      leaveTurned: 0,
      tryAnother: 0.7,
      turnUpright: 0.8,
      turnBack: 0.5,
      tryInTheDark: 0,
      mostTries: 2,
      maxLooks: 4,
    }),
    corpus: turnedCorpus,
    steps: ['turn', 'look'],
    pattern: pyvisionImageShort,
  },
  {
    name: 'card-video',
    taskSet: taskSets.get('card-video'),
    script: videoScript({ ...tourMix, maxLooks: 4 }),
    corpus: videoCorpus,
    steps: ['filmStrip', 'frame'],
    pattern: pyvisionVideoShort,
  },
];

let sandbox: LocalSandbox;
beforeAll(async () => {
  const { python } = await ensurePython(environment);
  sandbox = await openSandbox({ python });
}, 300_000);
afterAll(async () => {
  const { open } = sandbox.stats();
  await sandbox.dispose();
  expect(open).toBe(0);
});

const canDo = (protocol: Protocol, { steps }: Case): boolean =>
  steps.every((kind) => protocol.hand?.[kind] !== undefined);

const processors = new Map<Protocol, QwenProcessor>();

const made = new Map<string, Promise<Trajectory[]>>();

function demonstrated(protocol: Protocol, one: Case): Promise<Trajectory[]> {
  const key = `${one.name} ${protocol === freshCodev ? 'fresh' : ''} ${protocol.name}`;
  const known = made.get(key) ?? demonstrateCase(protocol, one);
  made.set(key, known);
  return known;
}

async function demonstrateCase(protocol: Protocol, one: Case): Promise<Trajectory[]> {
  const processor = new QwenProcessor(trainTokenizer(one.corpus(protocol), 512), {
    ...qwenImageProcessor,
    minPixels: 28 * 28,
    maxPixels: 112 * 112,
  });
  processors.set(protocol, processor);
  return await demonstrate({
    taskSet: one.taskSet,
    protocol,
    makeEnv: () => createToolEnv({ protocol, sandbox, budgets }),
    processor,
    images: new ModelImages(processor),
    script: one.script,
    seed: 5,
    count: 8,
  });
}

const shown = ({ segments }: Trajectory): readonly TrajectoryImage[] =>
  segments.filter(({ kind }) => kind === 'observation').flatMap(({ images }) => images);

/** The images' pixels, as the sandbox reads them, enlarged to a side if they are smaller. */
async function pixels(pngs: readonly Uint8Array[], side: number): Promise<readonly string[]> {
  if (pngs.length === 0) return [];
  const session = await sandbox.open({
    images: pngs.map((encoded, i) => ({ name: `image_${i}`, encoded })),
  });
  try {
    const names = pngs.map((_, i) => `image_${i}`).join(', ');
    const { stdout, error } = await session.execute(`import hashlib
for image in [${names}]:
    if min(image.size) < ${side}: image = image.resize((112, 112), Image.Resampling.LANCZOS)
    print(image.size, hashlib.sha256(image.convert("RGB").tobytes()).hexdigest())`);
    expect(error).toBeUndefined();
    return stdout.trim().split('\n');
  } finally {
    await session.dispose();
  }
}

describe.each(cases.map((one) => [one.name, one] as const))('a demonstration of %s', (_, one) => {
  const able = [...all, freshCodev].filter((protocol) => canDo(protocol, one));

  it('is for each protocol that has its steps', () => {
    const names = able.map(({ name }) => name);
    expect(names).toEqual(
      one.name === 'card-video'
        ? ['pyvision-video', 'pyvision-video-short']
        : expect.arrayContaining(['codedance', 'codev', 'codevision', 'pyvision-image', 'vista']),
    );
  });

  it('shows in every protocol what it shows in PyVision, and ends answered', async () => {
    const pattern = await demonstrated(one.pattern, one);
    expect(pattern.some((trajectory) => shown(trajectory).length > 2)).toBe(true);
    for (const protocol of able) {
      const made = await demonstrated(protocol, one);
      // CodeDance enlarges what has a side below 56.
      const side = protocol.name === 'codedance' ? 56 : 0;
      for (const [index, trajectory] of made.entries()) {
        const what = `${protocol.name}, task ${index}`;
        expect(trajectory.stopReason, what).toBe('answered');
        expect(trajectory.answer, what).toContain(pattern[index]?.answer?.match(/\d/)?.[0]);
        const results = trajectory.turns.flatMap(({ result }) => (result ? [result] : []));
        expect(results.map(({ kind }) => kind)).toEqual(results.map(() => 'ok'));
        const [prompt] = trajectory.segments[0]?.images ?? [];
        const given = prompt === undefined ? [] : await pixels([prompt.png], 0);
        const images = shown(pattern[index] as Trajectory).map(({ png }) => png);
        expect(results).toHaveLength(images.length);
        // CodeV does not show the prompt's image again, to which some scripts turn back.
        const isHidden = (one: string) => protocol.name === 'codev' && given.includes(one);
        const expected = (await pixels(images, side)).filter((one) => !isHidden(one));
        const seen = shown(trajectory).map(({ png }) => png);
        expect(await pixels(seen, 0), what).toEqual(expected);
      }
    }
  }, 600_000);

  it('can be guided in every protocol, which leaves no decision to learn', async () => {
    for (const protocol of able) {
      const processor = processors.get(protocol) as QwenProcessor;
      const [made] = await demonstrated(protocol, one);
      const decisions = one.name === 'turned-needle' ? 'turnLookOrAnswer' : 'actOrAnswer';
      const guided = guide(made as Trajectory, processor, handOf(protocol, []), decisions);
      const said = guided.segments.filter(({ kind }) => kind === 'model');
      expect(said).toHaveLength((made as Trajectory).turns.length);
      for (const { text } of said) {
        expect(text).not.toMatch(/<answer>|<code>|<tool_call>/);
      }
    }
  }, 600_000);
});

describe('a protocol that cannot express a step', () => {
  const mute: Protocol = { ...pyvisionImageShort, name: 'mute', hand: { signs: () => never } };
  const never = { act: [], answer: [] };

  it('is refused with its name and the cold start’s, before any work', () => {
    for (const name of coldStarts.names) {
      const unit = coldStarts.get(name);
      const settings = unit.settings.parse({}) as Parameters<typeof unit.taskCount>[0];
      const one = cases.find((some) => some.name === name);
      // That of typed tools says which ones it calls; given trajectories are refused one by one.
      if (one === undefined && name !== 'given') {
        expect(unit.calls?.(settings), name).not.toHaveLength(0);
      }
      for (const protocol of one === undefined ? [] : [...all, mute]) {
        const check = () => checkColdStart(unit, settings, protocol);
        if (canDo(protocol, one as Case)) expect(check).not.toThrow();
        else {
          expect(check).toThrow(ConfigError);
          expect(check).toThrow(new RegExp(`cold start ${name}.*protocol ${protocol.name} has no`));
        }
      }
    }
  });

  it('is refused where it does not offer the tools that a cold start calls', () => {
    const unit = coldStarts.get('tool-needle');
    const check = (protocol: Protocol) => () =>
      checkColdStart(unit, unit.settings.parse({}), protocol);
    const calls = (unit.calls?.(unit.settings.parse({})) ?? []).map((name) => ({ name }) as Tool);
    for (const protocol of [...all, mute]) {
      expect(check(protocol)).toThrow(ConfigError);
      expect(check(protocol)).toThrow(/tools: the cold start tool-needle demonstrates .*read_code/);
    }
    expect(check({ ...vista, tools: calls })).not.toThrow();
    // A service says what it has when it is asked.
    expect(check({ ...vista, tools: [] })).not.toThrow();
  });

  it('is refused by gather, whatever checked it before', async () => {
    const unit = coldStarts.get('needle');
    const context = { protocol: mute, concurrency: 1 } as unknown as Parameters<
      typeof unit.gather
    >[1];
    await expect(unit.gather(unit.settings.parse({}), context)).rejects.toThrow(ConfigError);
  });

  it('is refused where a cold start needs more turns than it allows', () => {
    const unit = coldStarts.get('turned-needle');
    const protocol = protocols.get('vista').with({ toolTurns: 2 });
    expect(() => checkColdStart(unit, unit.settings.parse({}), protocol)).toThrow(
      /protocol\.toolTurns: the cold start turned-needle demonstrates 3 steps/,
    );
  });

  it('serves readings and its tokenizer all the same', () => {
    expect(needleCorpus(mute).length).toBeGreaterThan(100);
    const settings = coldStarts.get('card-video').settings.parse({ frames: 8 });
    expect(() => checkColdStart(coldStarts.get('card-video'), settings, mute)).not.toThrow();
  });
});

describe('a demonstration in another protocol than its environment’s', () => {
  it('is an error that names the look and what came of it', async () => {
    const one = cases[0] as Case;
    const codedance = protocols.get('codedance');
    const made = demonstrate({
      taskSet: one.taskSet,
      protocol: pyvisionImageShort,
      makeEnv: () => createToolEnv({ protocol: codedance, sandbox, budgets }),
      processor: new QwenProcessor(
        trainTokenizer(needleCorpus(codedance), 512),
        qwenImageProcessor,
      ),
      script: one.script,
      seed: 5,
      count: 2,
    });
    await expect(made).rejects.toThrow(
      /A look of a demonstration of needle-train-\d+ in pyvision-image-short ended with exception/,
    );
  });
});

describe('the texts of PyVision', () => {
  it('are those that published runs were made with', async () => {
    const task = await taskSets.get('needle').task('train', 0);
    const [look, turn, later] = stepTexts(pyvisionImageShort, task, [
      { kind: 'look', box: [42, 266, 70, 294] },
      { kind: 'turn', tool: 'flip_vertical' },
      { kind: 'look', box: [1, 2, 3, 4] },
    ]);
    expect(look).toBe('<code>\n```python\nimage_clue_0.crop((42,266,70,294)).show()\n```\n</code>');
    expect(turn).toBe(
      '<code>\n```python\nimage_clue_0 = image_clue_0.transpose(Image.FLIP_TOP_BOTTOM)\n' +
        'image_clue_0.show()\n```\n</code>',
    );
    expect(later).toBe('<code>\n```python\nimage_clue_0.crop((1,2,3,4)).show()\n```\n</code>');
    const video = await taskSets.get('card-video').task('train', 0);
    const script = videoScript({ ...tourMix, maxLooks: 2 });
    const [strip] = stepTexts(pyvisionVideoShort, video, script(video, randomAt(1, 'x')));
    expect(strip).toBe(
      '<code>\n```python\nImage.fromarray(np.hstack(video_clue_0[::6])).reduce(4)' +
        '.resize((448, 28), 0).show()\n```\n</code>',
    );
    expect(stepTexts(pyvisionVideoShort, video, [{ kind: 'frame', index: 14 }])).toEqual([
      '<code>\n```python\nImage.fromarray(video_clue_0[14]).show()\n```\n</code>',
    ]);
  });
});
