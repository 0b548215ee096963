/** `saccade plan` on costs of a file: the table, the page, JSON. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from './run-here.fixture.ts';

let folder: string;
let costs: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'saccade-plan-'));
  costs = join(folder, 'costs.yaml');
  writeFileSync(
    costs,
    `engine:
  gpus: 1
  decode: [[1, 60], [32, 1500], [128, 4200]]
  prefillTokensPerSecond: 20000
learner: { gpus: 8, secondsPerToken: 1.2e-5, parameters: 8e9 }
publish: { seconds: 4 }
scheduler: { name: asynchronous, maxStaleness: 1, promptsPerStep: 16 }
rollouts: { promptTokens: 1500, turnTokens: 250, toolCalls: 2, toolSeconds: 1 }
`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

async function plan(...flags: readonly string[]): Promise<string> {
  const { status, output } = await runHere(['plan', '--costs', costs, '--steps', '3', ...flags]);
  expect(status, output).toBe(0);
  return output;
}

interface Plans {
  readonly plans: readonly {
    readonly gpus: number;
    readonly report: { readonly stepsPerHour: number };
  }[];
  readonly costs: { readonly publish: { readonly seconds: number } };
}

describe('saccade plan', () => {
  it('prints a line for each size, and what it assumes', async () => {
    const said = await plan('--gpus', '8,64');
    expect(said).toMatch(/^ *8 .*\n *64 /m);
    expect(said).toContain('A simulation. Scaling of the learner is assumed, not measured');
  });

  it('gives JSON in which more GPUs are faster, and a cost can be changed', async () => {
    const { plans, costs: read } = JSON.parse(await plan('--gpus', '8,64', '--json')) as Plans;
    expect(plans.map(({ gpus }) => gpus)).toEqual([8, 64]);
    const [few, many] = plans.map(({ report }) => report.stepsPerHour);
    expect(many).toBeGreaterThan(few ?? Number.NaN);
    expect(read.publish.seconds).toBe(4);
    const slow = ['--gpus', '64', '--set', 'publish.seconds=300', '--json'];
    const changed = JSON.parse(await plan(...slow)) as Plans;
    expect(changed.costs.publish.seconds).toBe(300);
    expect(changed.plans[0]?.report.stepsPerHour).toBeLessThan(many ?? Number.NaN);
  });

  it('writes a page with its assumptions', async () => {
    const page = join(folder, 'plan.html');
    expect(await plan('--gpus', '8', '--out', page)).toContain(`Page: ${page}`);
    const html = readFileSync(page, 'utf8');
    expect(html).toContain('Plan for 8 GPUs');
    expect(html).toContain('<svg');
  });
});
