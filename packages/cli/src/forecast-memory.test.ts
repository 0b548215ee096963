/** `saccade doctor --policy`: a checkpoint is weighed before it is loaded. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeCheckpoint } from './checkpoint.fixture.ts';
import { runHere } from './run-here.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'saccade-forecast-'));
const checkpoint = join(root, 'checkpoint');
beforeAll(() => writeCheckpoint(checkpoint));
afterAll(() => rmSync(root, { recursive: true }));

const settings = [
  'model=pretrained',
  `model.from=${checkpoint}`,
  'model.dtype=f32',
  'model.lora.rank=4',
  'model.recompute=true',
  'rl.groupSize=4',
].flatMap((setting) => ['--set', setting]);

const doctor = (...more: readonly string[]) =>
  runHere(['doctor', '--policy', 'smoke', ...settings, ...more]);

describe('saccade doctor --policy', () => {
  it('says what each part takes, and that it fits', async () => {
    const { status, output } = await doctor('--memory', '64');
    expect(status, output).toBe(0);
    expect(output).toMatch(/weights +0\.\d\d GiB {2}the model\n +adapter/);
    expect(output).toMatch(/yes {2}It needs \d\.\d\d GiB; --memory has 64\.00 GiB\./);
  });

  it('says what would make it fit, or that nothing does', async () => {
    const tight = await doctor('--memory', '0.37');
    expect(tight.status, tight.output).toBe(1);
    expect(tight.output).toMatch(/no {3}It needs .* It would fit with --set .*: 0\.\d\d GiB\./);
    const none = await doctor('--memory', '0.01');
    expect(none.output).toMatch(/No setting of its own makes it fit/);
  });

  it('counts the contexts that a run can have at a time', async () => {
    const few = ['--set', 'scheduler=synchronous', '--set', 'scheduler.promptsPerStep=2'];
    const own = await doctor('--memory', '64', ...few, '--set', 'evaluation.count=3');
    expect(own.output).toMatch(/, 8 contexts of/);
    const evaluated = await doctor('--memory', '64', ...few, '--set', 'evaluation.count=30');
    expect(evaluated.output).toMatch(/, 30 contexts of/);
    const limited = await doctor('--memory', '64', ...few, '--set', 'rollout.concurrency=5');
    expect(limited.output).toMatch(/, 5 contexts of/);
  });

  it('weighs a checkpoint alone', async () => {
    const { output } = await runHere(['doctor', '--policy', checkpoint, '--memory', '64']);
    expect(output).toMatch(/Memory of pretrained in .*\n +weights +0\.\d\d GiB {2}the model\n/);
  });
});
