/** Every pipeline on real tasks in the real sandbox, with a teacher that reads the truth and errs. */
import { existsSync, mkdtempSync, readFileSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAiChat } from '@saccade/chat';
import type { ScriptedServer } from '@saccade/chat/scripted-server';
import { type DialogSample, readDialogs } from '@saccade/data/formats';
import { createToolEnv, type Protocol, protocols, type Task, turnedNeedleWith } from '@saccade/gym';
import { exact } from '@saccade/rewards';
import { openChatPlayer } from '@saccade/rollout/chat-player';
import { ensurePython, type LocalSandbox, openSandbox } from '@saccade/sandbox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SynthesisContext } from './context.ts';
import { pipelines } from './registry.ts';
import { openScriptedTeacher, type ScriptedTeacherOptions } from './scripted-teacher.ts';
import { synthesize } from './synthesize.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const taskSet = turnedNeedleWith({ cells: 2 });
const tasks: readonly Task[] = await Promise.all(
  Array.from({ length: 24 }, (_, index) => taskSet.task('train', index)),
);
let sandbox: LocalSandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ python: (await ensurePython(environment)).python });
}, 300_000);
afterAll(() => sandbox.dispose());
const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const perfect = { wrongAnswer: 0, wrongStep: 0, brokenCode: 0, answersEarly: 0 };

async function contextFor(
  protocol: Protocol,
  errs: Partial<ScriptedTeacherOptions> = {},
  more: Partial<SynthesisContext> = {},
): Promise<SynthesisContext> {
  const chosen = more.tasks ?? tasks;
  const server = await openScriptedTeacher({
    tasks: chosen,
    protocol,
    seed: 1,
    ...perfect,
    ...errs,
  });
  servers.push(server);
  const sampler = await openChatPlayer({ baseUrl: server.baseUrl, model: 'teacher' });
  return {
    tasks: chosen,
    teacher: { sampler, protocol, envOf: (own) => () => createToolEnv({ protocol: own, sandbox }) },
    judge: openAiChat({ baseUrl: server.baseUrl, model: 'judge' }),
    verifier: exact,
    directory: mkdtempSync(join(tmpdir(), 'synthesis-')),
    ...{ seed: 1, concurrency: 8, temperature: 1, maxTurnTokens: 1000, maxContextTokens: 30_000 },
    onEvent: () => {},
    ...more,
  };
}

async function samplesIn(path: string): Promise<readonly DialogSample[]> {
  const samples: DialogSample[] = [];
  for await (const row of readDialogs(path, 'saccade')) {
    if (row.kind === 'refused') throw new Error(row.reason);
    samples.push(row.sample);
  }
  return samples;
}

const codevision = protocols.get('codevision').with({ prompt: 'short' });
const errs = { wrongAnswer: 0.2, wrongStep: 0.15, brokenCode: 0.2, answersEarly: 0.1 };

describe('a pipeline', () => {
  it('of PyVision keeps what is right after two tool turns, and says why the rest went', async () => {
    const context = await contextFor(codevision, errs);
    const made = await synthesize(pipelines.get('pyvision'), { samples: 2 }, context);
    const [first] = made.steps;
    expect(first).toMatchObject({ step: 'wrong-answer', given: 48 });
    expect(first?.reasons['wrong answer']).toBeGreaterThan(0);
    for (const { given, kept, reasons } of made.steps) {
      expect(given - kept).toBe(Object.values(reasons).reduce((sum, count) => sum + count, 0));
    }
    const samples = await samplesIn(made.trajectories);
    expect(samples).toHaveLength(made.samples.length);
    expect(samples.length).toBeGreaterThan(3);
    for (const { messages, tags } of samples) {
      expect(messages.filter(({ role }) => role === 'assistant').length).toBeGreaterThan(2);
      expect(messages.at(-1)?.content).toContain(`<answer>${tags?.answer}</answer>`);
    }
    const page = readFileSync(made.page, 'utf8');
    expect(page).toContain('fewer than 2 tool turns');
    expect(page).not.toMatch(/(?:src|href)="(?!data:)/);
  });

  it('of VISTA writes thoughts out and changes nothing else', async () => {
    const context = await contextFor(codevision, {}, { tasks: tasks.slice(0, 6) });
    const plain = await synthesize(pipelines.get('vista'), { densifies: false }, context);
    const directory = mkdtempSync(join(tmpdir(), 'synthesis-'));
    const dense = await synthesize(pipelines.get('vista'), {}, { ...context, directory });
    expect(dense.samples).toHaveLength(plain.samples.length);
    const actions = ({ samples }: typeof dense) =>
      samples.map(({ messages }) =>
        messages
          .filter(({ role }) => role === 'assistant')
          .map(({ content }) => codevision.parse(String(content))),
      );
    expect(actions(dense)).toEqual(actions(plain));
    const facts = Object.fromEntries(dense.facts.map(({ name, value }) => [name, value]));
    const [before, after] = ['before', 'after'].map(
      (when) => facts[`characters of thoughts a turn, ${when}`] as number,
    );
    expect(after).toBeGreaterThan(before as number);
  });

  it('of CodeVision gives each type what it is, and errors that are real and put right', async () => {
    const context = await contextFor(codevision, { wrongStep: 0.15, brokenCode: 0.1 });
    const settings = { maxTargetShare: 0.02, mostCropShare: 0.3 };
    const made = await synthesize(pipelines.get('codevision'), settings, context);
    const of = (type: string) => made.samples.filter(({ tags }) => tags?.type === type);
    for (const type of ['single', 'multi', 'multiCrop', 'errorHandling', 'noTool']) {
      expect([type, of(type).length > 0]).toEqual([type, true]);
    }
    for (const { messages } of of('noTool')) {
      expect(messages.filter(({ role }) => role === 'assistant')).toHaveLength(1);
    }
    for (const { messages, tags } of of('errorHandling')) {
      const results = messages.flatMap(({ result }) => (result === undefined ? [] : [result.kind]));
      expect(results[tags?.injectedTurn as number]).not.toBe('ok');
      expect(results.filter((kind) => kind !== 'ok')).toHaveLength(1);
      expect(results.at(-1)).toBe('ok');
    }
    for (const { messages } of of('multiCrop')) {
      const crops = messages.flatMap(({ content }) =>
        typeof content === 'string' ? [] : (content ?? []).filter(({ type }) => type === 'image'),
      );
      expect(crops.length).toBeGreaterThanOrEqual(4);
    }
    expect(JSON.stringify(made.samples)).not.toContain('Note to the writer');
    const facts = Object.fromEntries(made.facts.map(({ name, value }) => [name, value]));
    expect(facts['kept after a correction']).toBeGreaterThan(0);
    // Steps that go wrong every time are not kept.
    const hopeless = await contextFor(codevision, { wrongStep: 1 });
    const none = await synthesize(pipelines.get('codevision'), settings, hopeless);
    expect(new Set(none.samples.map(({ tags }) => tags?.type))).toEqual(new Set(['noTool']));
  });

  it('of CodeDance sorts by the weak model’s pass rate and holds the shares', async () => {
    const weak = await contextFor(codevision, { wrongAnswer: 0.5 });
    const protocol = protocols.get('codedance').with({ prompt: 'short', smallSide: 0 });
    const context = await contextFor(protocol, {}, { weak: weak.teacher });
    const made = await synthesize(
      pipelines.get('codedance'),
      { weakSamples: 4, samples: 1, easyRate: 0.75, hardRate: 0.4 },
      context,
    );
    const rates = readFileSync(join(context.directory, 'pass-rates.jsonl'), 'utf8')
      .trim()
      .split('\n');
    expect(rates).toHaveLength(24);
    const strata = made.samples.map(({ tags, messages }) => [
      tags?.stratum,
      messages.filter(({ role }) => role === 'assistant').length,
    ]);
    for (const [stratum, turns] of strata) {
      if (stratum === 'direct') expect(turns).toBe(1);
      if (stratum === 'atomic') expect(turns).toBe(2);
      if (stratum === 'hard') expect(turns).toBeGreaterThan(1);
    }
    expect(new Set(strata.map(([stratum]) => stratum)).size).toBeGreaterThan(1);
    expect(JSON.stringify(made.samples)).not.toContain('one operation a turn');
  });

  it('of CodeV drops outside knowledge, bad labels, and what is always or never answered', async () => {
    const marked = tasks.map((task, index) => ({
      ...task,
      metadata: { ...task.metadata, needsKnowledge: index < 3, labelIsWrong: index === 5 },
    }));
    const weak = await contextFor(codevision, { wrongAnswer: 0.4 }, { tasks: marked });
    const context = await contextFor(codevision, {}, { tasks: marked, weak: weak.teacher });
    const made = await synthesize(pipelines.get('codev'), { samples: 3 }, context);
    expect(made.steps.map(({ step, given, kept }) => [step, given, kept]).slice(0, 2)).toEqual([
      ['outside knowledge', 24, 21],
      ['labels', 21, 20],
    ]);
    const rates = new Map(made.passRates?.map(({ taskId, rate }) => [taskId, rate]));
    expect(made.taskIds?.length).toBeGreaterThan(0);
    for (const id of made.taskIds ?? []) {
      expect(rates.get(id)).toBeGreaterThan(0);
      expect(rates.get(id)).toBeLessThanOrEqual(0.9);
    }
    const dropped = [...rates].filter(([id]) => !made.taskIds?.includes(id));
    for (const [, rate] of dropped) expect([0, 1]).toContain(rate);
  });

  it('goes on after a kill at any byte, gives the same, and refuses other settings', async () => {
    const context = await contextFor(codevision, errs, { tasks: tasks.slice(0, 8) });
    const pyvision = pipelines.get('pyvision');
    const whole = await synthesize(pyvision, {}, context);
    const path = join(context.directory, 'candidates.jsonl');
    const bytes = readFileSync(path);
    for (const share of [0.3, 0.71]) {
      truncateSync(path, Math.floor(bytes.length * share));
      const again = await synthesize(pyvision, {}, context);
      expect(again.steps).toEqual(whole.steps);
      expect(stripped(readFileSync(path, 'utf8'))).toEqual(stripped(bytes.toString()));
    }
    const other = synthesize(pyvision, { samples: 2 }, context);
    await expect(other).rejects.toThrow(/holds data of other settings/);
    expect(existsSync(join(context.directory, 'statistics.html'))).toBe(true);
  });
});

/** Without times, which differ from one execution to the next. */
const stripped = (lines: string): string => lines.replace(/"wallMs":[\d.]+/g, '');
