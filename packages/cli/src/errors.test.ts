/** `saccade errors` on run directories with known errors, and with a judge behind a real server. */
import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MetricsRow, openMetricsLog, writeTrajectorySet } from '@saccade/run-store';
import { type Action, type ToolResult, TrajectoryBuilder } from '@saccade/trajectory';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from './main.ts';

let directory: string;
let server: Server | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'saccade-errors-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  await rm(directory, { recursive: true, force: true });
});

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC',
  'base64',
);

type Call = readonly [name: string, result: Partial<ToolResult>];

/** A tool that is not there, an argument that is not there, a text, and a text with a trick. */
const unknown: Call = [
  'zoom',
  { kind: 'exception', errorType: 'UnknownTool', errorMessage: 'No.' },
];
const named: Call = [
  'crop_tool',
  { kind: 'exception', errorType: 'UnknownArgument', errorMessage: 'There is no argument bbox.' },
];
const read: Call = ['ocr_tool', { stdout: 'total 12' }];
const rude: Call = ['ocr_tool', { stdout: `\u001b[2Jgone ${'x'.repeat(900)}` }];

function write(set: string, plays: readonly (readonly [answer: string, ...Call[]])[]): void {
  const trajectories = plays.map(([answer, ...calls], index) => {
    const id = `${set}/${index}`;
    const builder = new TrajectoryBuilder({ id, taskId: `task-${index}`, sampleIndex: 0 });
    const size = { width: 1, height: 1, modelWidth: 28, modelHeight: 28, tokenCount: 1 };
    const image = { name: 'image_0', png: new Uint8Array(png), ...size };
    builder.prompt({ tokens: Int32Array.of(1), images: [image], text: 'How many?' });
    const speak = (text: string): void => {
      const [tokens, logprobs] = [Int32Array.of(2), Float32Array.of(-1)];
      builder.model({ tokens, logprobs, text, policyVersion: 0 });
    };
    for (const [name, result] of calls) {
      speak('look');
      const action: Action = { kind: 'toolCall', name, arguments: { bbox: [1, 2] } };
      const ran = { kind: 'ok', stdout: '', stderr: '', imageCount: 0, wallMs: 1 } as const;
      builder.turn(action, { ...ran, ...result });
      builder.observation({ tokens: Int32Array.of(3), images: [], text: 'seen' });
    }
    speak(`so it is ${answer}`);
    builder.turn({ kind: 'answer', answer });
    const isCorrect = answer === '7';
    const scored = { ...builder.finish('answered'), reward: 0, rewardTerms: {}, isCorrect };
    return { trajectory: scored, tags: { question: 'How many?', answer: '7', metadata: '{}' } };
  });
  writeTrajectorySet(directory, set, trajectories);
}

/** What a run keeps: it learns to call its tools. */
function writeRun(): void {
  write('evaluation-sft', [['7'], ['3', unknown], ['3', named], ['3', named, unknown]]);
  write('step-000001', [
    ['3', unknown],
    ['3', read],
  ]);
  write('step-000004', [
    ['7', named],
    ['3', named],
  ]);
  write('evaluation-step-4', [['7'], ['3', read]]);
  write('evaluation-final', [['7'], ['3', rude]]);
}

function writeMetrics(rows: readonly MetricsRow[]): void {
  const log = openMetricsLog(join(directory, 'metrics.jsonl'));
  for (const row of rows) log.append(row);
  log.flush();
  log.close();
}

async function errors(...flags: readonly string[]): Promise<string> {
  const said: string[] = [];
  const note = (text: unknown): void => void said.push(String(text));
  vi.spyOn(console, 'log').mockImplementation(note);
  vi.spyOn(console, 'error').mockImplementation(note);
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    note(text);
    return true;
  });
  await main(['node', 'saccade', 'errors', ...flags]);
  return said.join('\n');
}

interface Printed {
  readonly runs: readonly {
    readonly source: string;
    readonly stages: readonly {
      readonly name: string;
      readonly wrongShare: number;
      readonly count?: number;
      readonly shares: Readonly<Record<string, number>>;
    }[];
    readonly examples?: readonly { readonly id: string; readonly isJudged: boolean }[];
    readonly gaps: readonly string[];
  }[];
}
const json = async (...flags: readonly string[]): Promise<Printed['runs'][number]> => {
  const [run] = (JSON.parse(await errors(directory, '--json', ...flags)) as Printed).runs;
  if (run === undefined) throw new Error('nothing was printed');
  return run;
};

describe('the table', () => {
  it('has a row for each stage, from the trajectories that are kept', async () => {
    writeRun();
    const { source, stages } = await json('--windows', '2');
    expect(source).toBe('trajectories');
    expect(stages.map(({ name, count, wrongShare }) => [name, count, wrongShare])).toEqual([
      ['after the cold start', 4, 0.75],
      ['steps 1 to 2', 2, 1],
      ['steps 3 to 4', 2, 0.5],
      ['evaluations, steps 3 to 4', 2, 0.5],
      ['final', 2, 0.5],
    ]);
    // Two of three wrong answers called a tool that there is not, two named a wrong argument.
    expect(stages[0]?.shares).toMatchObject({ E1: 2 / 3, E2: 2 / 3, E3: 0, undecided: 0 });
    expect(stages[1]?.shares).toMatchObject({ E1: 0.5, E2: 0, undecided: 0.5 });
    expect(stages[2]?.shares).toMatchObject({ E1: 0, E2: 1 });
    expect(stages[4]?.shares).toMatchObject({ undecided: 1 });
    const table = await errors(directory);
    expect(table).toMatch(/stage +wrong answers +E1 +E2 +E3 +E4 +E5 +E6 +undecided/);
    expect(table).toMatch(/after the cold start +75\.0 % of 4 +66\.7 % +66\.7 % +0\.0 %/);
  });

  it('weighs the steps of a window by their wrong answers, from metrics where these have errors', async () => {
    writeRun();
    const rl = (step: number, accuracy: number, E4?: number): MetricsRow => ({
      stage: 'rl',
      step: 10 + step,
      accuracy,
      ...(E4 !== undefined && { 'errors/E4': E4, 'errors/undecided': 0.25 }),
    });
    const evaluation = (label: string, of: number, E6: number): MetricsRow => ({
      ...{ stage: 'evaluation', step: 10 + of, label, 'eval/step_of_rl': of },
      ...{ 'eval/accuracy': 0.5, 'eval/count': 200, 'eval/errors/E6': E6 },
    });
    writeMetrics([
      { stage: 'sft', step: 10, loss: 1 },
      evaluation('sft', 0, 0.1),
      // (0.8·0.5 + 0.2·1)/(0.8 + 0.2) = 0.6; a step without wrong answers adds nothing.
      ...[rl(1, 0.2, 0.5), rl(2, 0.8, 1), rl(3, 1), rl(4, 0.5, 0)],
      evaluation('final', 4, 0.3),
      // Done again after a resume.
      evaluation('final', 4, 0.4),
    ]);
    const { source, stages } = await json('--windows', '2');
    expect(source).toBe('metrics');
    expect(stages.map(({ name }) => name)).toEqual([
      'after the cold start',
      'steps 1 to 2',
      'steps 3 to 4',
      'final',
    ]);
    expect(stages[0]).toMatchObject({ count: 200, shares: { E6: 0.1 } });
    expect(stages[1]?.shares.E4).toBeCloseTo(0.6, 12);
    expect(stages[1]?.wrongShare).toBeCloseTo(0.5, 12);
    expect(stages[1]).not.toHaveProperty('count');
    expect(stages[2]).toMatchObject({ wrongShare: 0.25, shares: { E4: 0, undecided: 0.25 } });
    expect(stages[3]?.shares.E6).toBeCloseTo(0.4, 12);
    expect((await json('--from', 'trajectories')).source).toBe('trajectories');
  });

  it('puts several runs one under the other', async () => {
    writeRun();
    const text = await errors(directory, directory);
    expect(text.split(`${directory}: errors as shares`)).toHaveLength(3);
  });
});

describe('examples', () => {
  it('print the calls, mark those with the error, and what the tool said', async () => {
    writeRun();
    const text = await errors(directory, '--examples', 'E2', '--count', '2');
    expect(text).toContain('E2: An argument has a name that the tool does not know. 3 of the 8');
    expect(text).toContain('evaluation-sft: evaluation-sft/2');
    expect(text).toContain('turn 0   <- E2: UnknownArgument');
    expect(text).toContain('call: crop_tool {"bbox":[1,2]}');
    expect(text).toContain('said: UnknownArgument: There is no argument bbox.');
    expect(text).not.toContain('step-000004/1');
  });

  it('are bounded, and move no cursor', async () => {
    writeRun();
    const text = await errors(directory, '--examples', 'undecided', '--count', '9');
    expect(text).not.toContain('\u001b');
    expect(text).toContain('\uFFFD[2Jgone xxx');
    expect(text).toMatch(/x … \(\d+ characters more\)/);
  });
});

describe('a judge', () => {
  const asked: string[] = [];
  /** Answers every request with the same grade, or with a text as it is. */
  async function judging(reply: number | string): Promise<string> {
    asked.length = 0;
    const own = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      asked.push(text);
      const [, boundary] = /GRADE (\w+) <grade>/.exec(text) ?? [];
      const content = typeof reply === 'string' ? reply : `Hm.\nGRADE ${boundary} ${reply}`;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
    });
    server = own;
    await new Promise<void>((done) => own.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(own.address() as AddressInfo).port}/v1`;
  }

  it('decides what rules leave, sees the images, and is asked once', async () => {
    writeRun();
    const flags = ['--judge', await judging(6), '--judge-model', 'test', '--examples', 'E6'];
    const { stages, examples } = await json(...flags);
    expect(stages.at(-1)?.shares).toMatchObject({ E6: 1, undecided: 0 });
    expect(examples?.map(({ id, isJudged }) => [id, isJudged])).toEqual([
      ['step-000001/1', true],
      ['evaluation-step-4/1', true],
      ['evaluation-final/1', true],
    ]);
    // Two of them are the same question, calls, answer and image.
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain(`data:image/png;base64,${png.toString('base64')}`);
    expect(asked.join()).toContain('total 12');
    await json(...flags);
    expect(asked).toHaveLength(2);
  });

  it('leaves undecided what its reply does not decide, and says so', async () => {
    writeRun();
    const { stages, gaps } = await json('--judge', await judging('I would say E4.'));
    expect(stages.at(-1)?.shares).toMatchObject({ E4: 0, undecided: 1 });
    expect(gaps.join(' ')).toMatch(/judge decided nothing of 3 wrong answers.*gave no grade/);
  });
});

describe('what does not fit is one sentence', () => {
  it.each<[string, () => unknown, readonly string[], number, RegExp]>([
    [
      'no run',
      () => rm(directory, { recursive: true }).then(() => mkdir(directory)),
      [],
      1,
      /keeps no/,
    ],
    [
      'no directory',
      () => rm(directory, { recursive: true }),
      ['--judge', 'http://127.0.0.1:1/v1'],
      1,
      /no run directory/,
    ],
    ['no errors in metrics', writeRun, ['--from', 'metrics'], 1, /has no metrics errors\/E1/],
    ['another kind', writeRun, ['--examples', 'E7'], 2, /Allowed choices are E1, E2/],
    ['no window', writeRun, ['--windows', '0'], 2, /whole number of at least 1/],
    [
      'a judge and metrics',
      writeRun,
      ['--judge', 'http://127.0.0.1:1/v1', '--from', 'metrics'],
      2,
      /Leave one/,
    ],
    ['a judge that is no address', writeRun, ['--judge', 'localhost'], 2, /expected an address/],
    ['a model without a judge', writeRun, ['--judge-model', 'x'], 2, /needs --judge/],
    [
      'a key that is not there',
      writeRun,
      ['--judge', 'http://127.0.0.1:1/v1', '--judge-key-variable', 'SACCADE_NO_SUCH_KEY'],
      2,
      /SACCADE_NO_SUCH_KEY/,
    ],
  ])('%s', async (_, prepare, flags, status, message) => {
    await prepare();
    expect(await errors(directory, ...flags)).toMatch(message);
    expect(process.exitCode).toBe(status);
  });

  it('and what is damaged is left out and named', async () => {
    writeRun();
    await appendFile(join(directory, 'trajectories/step-000004.jsonl'), '{"id":"cut sh');
    const { gaps, stages } = await json();
    expect(gaps.join(' ')).toMatch(/cut short.*run's are not known/s);
    expect(stages.length).toBeGreaterThan(3);
  });
});
