/** `saccade plan`: what a cluster of some size would give, simulated from measured costs. */
import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from '@saccade/core';
import {
  type CostDocument,
  calibrateOpening,
  drawPlanPage,
  type MeasuredEngine,
  measureEngine,
  mergeCosts,
  planCluster,
  planRows,
  readCosts,
  readCostsFile,
  readRunCosts,
  setCost,
} from '@saccade/planner';
import { ModelImages } from '@saccade/rollout';
import { listTrajectorySets, readTrajectorySet } from '@saccade/run-store';
import { openBackend, openPolicyIn, type Setting } from '@saccade/train';
import { printJson } from './json.ts';
import { policyOf } from './serve-policy.ts';
import { printTable } from './table.ts';
import { terminalProgress } from './terminal-progress.ts';

export interface PlanFlags {
  readonly costs?: string;
  readonly gpus: string;
  readonly set: readonly Setting[];
  readonly steps: number;
  readonly seed: number;
  readonly backend: string;
  readonly out?: string;
  readonly json?: boolean;
}

export async function plan(run: string | undefined, flags: PlanFlags): Promise<void> {
  const gpus = flags.gpus.split(',').map(Number);
  const document = await readDocument(run, flags);
  const { steps, seed } = flags;
  if (steps < 1) throw new ConfigError('--steps', `--steps must be at least 1, is ${steps}.`);
  const plans = planCluster({ document, gpus, steps, seed });
  const title = `Plan for ${flags.gpus.split(',').join(', ')} GPUs`;
  const out = flags.out === undefined ? undefined : resolve(flags.out);
  if (out !== undefined) writeFileSync(out, drawPlanPage(plans, { document, title }));
  const { costs, scheduler, assumptions } = document;
  if (flags.json) return printJson({ plans, costs, scheduler, assumptions, page: out });
  printTable(planRows(plans));
  console.log('');
  for (const sentence of assumptions) console.log(`· ${sentence}`);
  console.log('· A simulation. Scaling of the learner is assumed, not measured: see --out.');
  if (out !== undefined) console.log(`\nPage: ${out}`);
}

async function readDocument(run: string | undefined, flags: PlanFlags): Promise<CostDocument> {
  if (run === undefined && flags.costs === undefined) {
    throw new ConfigError('run', 'There are no costs. Give a run, or a file with --costs.');
  }
  if (flags.costs !== undefined && !existsSync(flags.costs)) {
    throw new ConfigError('--costs', `--costs: there is no file ${flags.costs}. Check the path.`);
  }
  let fields = flags.costs === undefined ? {} : readCostsFile(flags.costs);
  for (const { path, value } of flags.set) fields = setCost(fields, path, value);
  if (run === undefined) return readCosts(fields);
  const recorded = readRunCosts(resolve(run));
  const { groups, assumptions } = recorded;
  if ('engine' in fields && 'decode' in Object(fields.engine)) {
    return readCosts(mergeCosts(recorded.fields, fields), { groups, assumptions });
  }
  const engine = await measureRun(resolve(run), flags.backend);
  const own = { engine: { ...engine, heldPasses: 64 } };
  const document = (over: object) =>
    readCosts(mergeCosts(mergeCosts(recorded.fields, own), { ...over }), {
      groups,
      assumptions: [
        ...assumptions,
        'The engine was measured on this machine, with the run’s newest checkpoint.',
      ],
    });
  // Of the run as it was, before anything of it is changed.
  if (!('learner' in recorded.fields)) return document(fields);
  const { costs, assumptions: found } = calibrateOpening(document({}), recorded.stepSeconds);
  const planned = document(mergeCosts({ tools: costs.tools }, fields));
  return { ...planned, assumptions: found };
}

/** Sequences at a time that are measured, and tokens of each. */
const SEQUENCES = [1, 4, 16, 64, 128];
const TOKENS = 16;
const PROMPTS = 16;

/** The speed of a run's policy on this machine, with prompts of its recorded trajectories. */
async function measureRun(run: string, backend: string): Promise<MeasuredEngine> {
  const onEvent = terminalProgress({ stream: process.stderr });
  onEvent({
    kind: 'warning',
    message: 'Measuring the engine; --costs can give its speed instead.',
  });
  const device = await openBackend(backend);
  try {
    const policy = await openPolicyIn(policyOf(run, onEvent), device, onEvent);
    const images = new ModelImages(policy.processor);
    const names = listTrajectorySets(run).value.filter((name) => name.startsWith('step-'));
    const rows = names.flatMap((name) => readTrajectorySet(run, name).value);
    const seen = new Map(rows.map((row) => [row.trajectory.taskId, row]));
    const prompts = await Promise.all(
      [...seen.values()].slice(0, PROMPTS).map(async (row) => {
        const { value } = await row.load();
        const prompt = value.segments[0];
        const prepared = await Promise.all(
          (prompt?.images ?? []).map((image) => images.prepareRecorded(image)),
        );
        return { tokens: prompt?.tokens ?? Int32Array.of(1), images: prepared };
      }),
    );
    const measured = await measureEngine(policy, prompts, { sequences: SEQUENCES, tokens: TOKENS });
    policy.dispose();
    return measured;
  } finally {
    device.dispose();
  }
}
