import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectReports, drawReport, isAllWell } from './gpu-report.ts';
import { Ledger, readLedger } from './ledger.ts';
import { runStages, type StageCommand } from './run-stages.ts';
import { findSanitizer, readSanitizer, sanitizerArgs } from './sanitizer.ts';

const script = (name: string, code: string): StageCommand => ({
  name,
  command: process.execPath,
  args: ['--input-type=module', '--eval', code],
});

describe('runStages', () => {
  it('keeps what the others do when one fails, hangs, or cannot be started', async () => {
    const seen: number[] = [];
    const outcomes = await runStages(
      [
        { seconds: 20, commands: [script('fails', 'console.log("before"); process.exit(3)')] },
        {
          seconds: 1,
          commands: [
            script('hangs', 'setTimeout(() => {}, 60_000)'),
            { name: 'absent', command: '/nowhere/tool', args: [] },
          ],
        },
        { seconds: 20, commands: [script('works', 'console.error("done")')] },
      ],
      60,
      () => {},
      (soFar) => seen.push(soFar.length),
    );
    expect(outcomes).toMatchObject([
      { name: 'fails', how: 'ended', status: 3, said: 'before\n' },
      { name: 'hangs', how: 'out of time' },
      { name: 'absent', how: 'not started', said: expect.stringContaining('ENOENT') },
      { name: 'works', how: 'ended', status: 0, said: 'done\n' },
    ]);
    expect(seen).toEqual([1, 3, 4]);
  });

  it('ends what ignores the signal, with all that it started', async () => {
    const stubborn = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('on')`;
    const [outcome] = await runStages(
      [{ seconds: 0.5, commands: [script('stubborn', stubborn)] }],
      60,
    );
    expect(outcome).toMatchObject({ how: 'out of time' });
    expect(outcome?.seconds).toBeLessThan(10);
  });

  it('says what there was no time for', async () => {
    const outcomes = await runStages(
      [
        { seconds: 9, commands: [script('long', 'setTimeout(() => {}, 9000)')] },
        { seconds: 9, commands: [script('late', '')] },
      ],
      1.2,
    );
    expect(outcomes).toMatchObject([{ how: 'out of time' }, { how: 'no time left', starts: 0 }]);
  });

  it('starts one that ended in the middle again, as long as it gets further', async () => {
    let entries = 0;
    const progress = (steps: readonly (number | 'done')[]) => () => steps[entries++] ?? 'done';
    const again = (steps: readonly (number | 'done')[]) => ({
      ...script('again', 'console.log(process.argv.length); process.kill(process.pid, "SIGKILL")'),
      again: { args: ['--', 'more'], progress: progress(steps) },
    });
    const run = async (steps: readonly (number | 'done')[]) => {
      entries = 0;
      const [outcome] = await runStages([{ seconds: 30, commands: [again(steps)] }], 60);
      return outcome;
    };
    expect(await run([1, 2, 'done'])).toMatchObject({ starts: 3, said: '1\n2\n2\n' });
    expect(await run([1, 1])).toMatchObject({ starts: 2 });
  });
});

describe('Ledger', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'saccade-ledger-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const failed = (what: string, message: string): string => `${what}: ${message}`;
  const open = (name: string, resume: boolean) => new Ledger({ folder, name, resume, failed });

  it('knows after a crash what was done and what the process ended in', async () => {
    const first = open('crash', false);
    first.describe({ kind: 'checks' });
    await first.run('one', 9, async () => 'one is fine');
    await expect(
      first.run('two', 9, async () => {
        throw new Error('as a crash leaves it');
      }),
    ).rejects.toThrow();
    const second = open('crash', true);
    expect(second.entries).toEqual(['one is fine', 'two: The process ended in the middle of it.']);
    second.finish();
    expect(readLedger(folder, 'crash')).toMatchObject({ isDone: true, about: { kind: 'checks' } });
    expect(open('crash', false).entries).toEqual([]);
  });

  it('writes down what hangs, and ends the process that waits for it', async () => {
    const module = fileURLToPath(new URL('../../dist/gpu/ledger.js', import.meta.url));
    const hang = `import { Ledger } from ${JSON.stringify(module)};
      const failed = (what, message) => what + ': ' + message;
      const resume = process.argv.includes('--resume');
      const ledger = new Ledger({ folder: ${JSON.stringify(folder)}, name: 'hang', resume, failed });
      ledger.describe({ kind: 'would' });
      const waits = () => new Promise((resolve) => setTimeout(resolve, 60_000));
      if (!resume) await ledger.run('a kernel', 0.2, waits);
      ledger.add('another');
      ledger.finish();`;
    const progress = (): number | 'done' => {
      const state = readLedger(folder, 'hang');
      return state === undefined || state.isDone ? 'done' : state.entries.length;
    };
    const command = { ...script('hang', hang), again: { args: ['--', '--resume'], progress } };
    const outcomes = await runStages([{ seconds: 20, commands: [command] }], 60);
    expect(outcomes).toMatchObject([{ how: 'ended', status: 0, starts: 2 }]);
    const reports = collectReports(outcomes, folder, new Map());
    expect(reports[0]?.ledger?.entries).toEqual([
      'a kernel: It did not end in 0.2 seconds.',
      'another',
    ]);
    expect(drawReport(reports)).toMatch(/hang: ended with 0, \d+ s, started 2 times/);
    expect(isAllWell(reports)).toBe(true);
    // The report has taken it up.
    expect(readLedger(folder, 'hang')).toBeUndefined();
  });
});

describe('the sanitizer', () => {
  it('is looked for on the PATH and where toolkits lie', () => {
    expect(findSanitizer('/nowhere', ['/nowhere/else'])).toBeUndefined();
  });

  it('is told to fail where it finds something, and its summary is read', () => {
    expect(sanitizerArgs('racecheck', 'node', ['x']).join(' ')).toBe(
      '--tool racecheck --error-exitcode 99 node x',
    );
    // As its manual prints them.
    const said =
      '========= COMPUTE-SANITIZER\nran\n========= ERROR SUMMARY: 2 errors\n' +
      '========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n';
    expect(readSanitizer(said)).toMatch(/^RACECHECK SUMMARY: 0 hazards/);
    expect(readSanitizer('nothing')).toBeUndefined();
  });
});
