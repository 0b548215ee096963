/** Evaluations keep to budgets of their own, which a run can set. */
import { join } from 'node:path';
import type { Env, EnvStep } from '@saccade/gym';
import { ensurePython } from '@saccade/sandbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPlayground, type Playground } from './playground.ts';
import { inputOf } from './recipe.ts';
import { smoke } from './recipes/smoke.ts';
import { resolveRun } from './run-config.ts';
import { applySettings } from './settings.ts';

const environment = join(import.meta.dirname, '../../../.cache/sandbox-venv');
const look = '<code>\n```python\nimage_clue_0.crop((0, 0, 56, 56)).show()\n```\n</code>';

async function open(settings: Readonly<Record<string, number>>): Promise<Playground> {
  const pairs = Object.entries(settings).map(([path, value]) => ({ path, value }));
  const run = resolveRun(applySettings(inputOf(smoke), pairs));
  const python = async () => (await ensurePython(environment)).python;
  return await openPlayground(run, { python, onEvent: () => {} });
}

/** Looks until it ends. */
async function looks({ taskSet }: Playground, env: Env): Promise<readonly EnvStep[]> {
  const steps: EnvStep[] = [];
  await env.reset(await taskSet.task('heldOut', 0));
  while (steps.at(-1)?.stopReason === undefined && steps.length < 9) {
    steps.push(await env.step(look));
  }
  await env.dispose();
  return steps;
}

describe('the budgets of an evaluation', () => {
  const played: Playground[] = [];
  const ended = async (settings: Readonly<Record<string, number>>) => {
    const playground = await open(settings);
    played.push(playground);
    const { makeEnv, makeEvaluationEnv } = playground;
    return await Promise.all(
      [makeEnv(), makeEvaluationEnv()].map(async (env) => {
        const steps = await looks(playground, await env);
        return [steps.length - 1, steps.at(-1)?.stopReason];
      }),
    );
  };
  beforeAll(() => ensurePython(environment), 300_000);
  afterAll(async () => {
    for (const playground of played) await playground.dispose();
  });

  it('allow the turns that evaluationToolTurns says, whatever training allows', async () => {
    const settings = { 'protocol.toolTurns': 1, 'protocol.evaluationToolTurns': 3 };
    expect(await ended(settings)).toEqual([
      [1, 'turnLimit'],
      [3, 'turnLimit'],
    ]);
  }, 120_000);

  it('allow the images that evaluationImages says, whatever training allows', async () => {
    const turns = { 'protocol.toolTurns': 6, 'protocol.evaluationToolTurns': 6 };
    const settings = { ...turns, 'protocol.images': 5, 'protocol.evaluationImages': 3 };
    expect(await ended(settings)).toEqual([
      [4, 'imageLimit'],
      [2, 'imageLimit'],
    ]);
  }, 120_000);
});
