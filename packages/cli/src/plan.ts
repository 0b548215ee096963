/** `saccade plan`: what a cluster of some size would give, simulated from measured costs. */
import { existsSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { ConfigError } from '@saccade/core';
import {
  type CostDocument,
  calibrateMain,
  drawPlanPage,
  mergeCosts,
  planCluster,
  planRows,
  readCosts,
  readCostsFile,
  readRunCosts,
  setCost,
} from '@saccade/planner';
import type { Setting } from '@saccade/train';
import { printJson } from './json.ts';
import { measureRun } from './measure-run.ts';
import { printTable } from './table.ts';

export interface PlanFlags {
  readonly costs?: string;
  readonly gpus: string;
  readonly set: readonly Setting[];
  readonly steps: number;
  readonly seed: number;
  readonly backend: string;
  /** Address of an engine elsewhere that serves the run's policy. */
  readonly engine?: string;
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
  const { learning, rollout, engineUrl } = recorded;
  const measured = await measureRun(resolve(run), {
    backend: flags.backend,
    engineUrl: flags.engine ?? engineUrl,
  });
  const { engine, requests, learner } = measured;
  const mainCosts = requests && { main: { secondsPerRequest: requests.secondsPerRequest } };
  const own = {
    engine: {
      ...engine,
      heldPasses: 64,
      ...(requests && { requestSeconds: requests.requestSeconds }),
    },
    machine: { processors: availableParallelism() },
    // The run says how long learning took, the measurement how much longer it takes for more tokens.
    ...(learning && {
      learner: {
        secondsPerToken: Math.min(learner.secondsPerToken, learning.seconds / learning.tokens),
        secondsPerStep: Math.max(0, learning.seconds - learner.secondsPerToken * learning.tokens),
      },
    }),
  };
  const elsewhere = {
    ...mainCosts,
    ...(requests && {
      publish: { seconds: requests.publishSeconds },
      // What an engine elsewhere sampled is scored again where rollouts and learning take turns.
      learner: { rescoreSecondsPerToken: learner.scoreSecondsPerToken },
    }),
  };
  const document = (over: object) =>
    readCosts(mergeCosts(mergeCosts(recorded.fields, own), { ...over }), {
      groups,
      assumptions: [
        ...assumptions,
        'The engine was measured on this machine, with the run’s newest checkpoint.',
      ],
    });
  if (engineUrl === undefined && rollout !== undefined && 'learner' in recorded.fields) {
    // Of the run as it was, before anything of it is changed.
    const { costs, assumptions: found } = calibrateMain(document({}), rollout);
    const main = { main: { secondsPerTurn: costs.main.secondsPerTurn } };
    const planned = document(mergeCosts(mergeCosts(main, elsewhere), fields));
    return { ...planned, assumptions: found };
  }
  // The main process of a run whose engine is elsewhere does nothing else in its rollouts.
  const perTurn = rollout && rollout.requests > 0 ? rollout.processorSeconds / rollout.requests : 0;
  const main = { main: { secondsPerTurn: perTurn } };
  return document(mergeCosts(mergeCosts(main, elsewhere), fields));
}
