/** `saccade plan`: what a cluster of some size would give, simulated from measured costs. */
import { existsSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { ConfigError } from '@saccade/core';
import {
  type CostDocument,
  calibrateMain,
  calibrateOpening,
  drawPlanPage,
  type LearningPoint,
  mergeCosts,
  planCluster,
  planRows,
  type RunCosts,
  readCosts,
  readCostsFile,
  readRunCosts,
  setCost,
} from '@saccade/planner';
import type { Setting } from '@saccade/train';
import { printJson } from './json.ts';
import { type MeasuredRun, measureRun } from './measure-run.ts';
import { outputFile } from './output-file.ts';
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
  const { steps, seed } = flags;
  if (steps < 1) throw new ConfigError('--steps', `--steps must be at least 1, is ${steps}.`);
  const gpus = sizesOf(flags.gpus);
  const out = flags.out === undefined ? undefined : outputFile(flags.out);
  const document = await readDocument(run, flags);
  // A process of its own shares one machine with the run; in the run's own they take turns.
  const sharedPlacement = document.costs.main.secondsPerRequest > 0 ? 'shared' : 'alternating';
  const plans = planCluster({ document, gpus, steps, seed, sharedPlacement });
  const title = `Plan for ${flags.gpus.split(',').join(', ')} GPUs`;
  if (out !== undefined) writeFileSync(out, drawPlanPage(plans, { document, title }));
  const { costs, scheduler, assumptions } = document;
  if (flags.json) return printJson({ plans, costs, scheduler, assumptions, page: out });
  printTable(planRows(plans));
  console.log('');
  for (const sentence of assumptions) console.log(`· ${sentence}`);
  console.log('· A simulation. Scaling of the learner is assumed, not measured: see --out.');
  if (out !== undefined) console.log(`\nPage: ${out}`);
}

/** Sizes in GPUs. @throws ConfigError for what is no number; the plan refuses those that it cannot do */
function sizesOf(list: string): readonly number[] {
  return list.split(',').map((word) => {
    const size = Number(word);
    if (word.trim() !== '' && !Number.isNaN(size)) return size;
    throw new ConfigError('--gpus', `--gpus: expected numbers such as 8,64, got "${word}".`);
  });
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
  // Never the run's own unasked: others may be sampling from it, and measuring gives it weights.
  const measured = await measureRun(resolve(run), {
    backend: flags.backend,
    engineUrl: flags.engine,
  });
  return withMeasured(recorded, measured, fields);
}

/** Costs of a run and of what was measured of it; fields that were given win. */
function withMeasured(
  recorded: RunCosts,
  { engine, elsewhere, learner }: MeasuredRun,
  given: Readonly<Record<string, unknown>>,
): CostDocument {
  const { learning, rollout, groups } = recorded;
  const assumptions = [
    ...recorded.assumptions,
    'The engine was measured on this machine, with the run’s newest checkpoint.',
    `On 1 GPU, engine, learner and sandboxes share the ${availableParallelism()} processors of this machine.`,
    ...(elsewhere === undefined
      ? recorded.engineUrl === undefined
        ? []
        : [
            'The run’s engine was elsewhere: what its requests cost is left out. --engine measures it.',
          ]
      : ['Requests to an engine elsewhere and publishing to it were measured on this machine.']),
  ];
  const here = {
    engine: { ...engine, heldPasses: 64 },
    machine: { processors: availableParallelism() },
    ...(learning && { learner: learnerLine(learning, learner.secondsPerToken) }),
  };
  const there = elsewhere && {
    engine: {
      requestSeconds: elsewhere.requestSeconds,
      promptSharing: elsewhere.promptSharing,
    },
    main: { secondsPerRequest: elsewhere.secondsPerRequest },
    // Engines behind HTTP are paused until what runs has ended.
    publish: { seconds: elsewhere.publishSeconds, drains: true },
    // What an engine elsewhere sampled is scored again where rollouts and learning take turns. A run
    // that did so has it in its seconds of learning.
    ...(recorded.engineUrl === undefined && {
      learner: { rescoreSecondsPerToken: learner.scoreSecondsPerToken },
    }),
  };
  const document = (...over: readonly object[]): CostDocument =>
    readCosts([here, ...over].reduce<object>(mergeFields, recorded.fields) as Fields, {
      groups,
      assumptions,
    });
  const all = (main: object, found: readonly string[]): CostDocument => ({
    ...document(main, there ?? {}, given),
    assumptions: found,
  });
  // A run whose engine was elsewhere did nothing else in its rollouts.
  if (recorded.engineUrl !== undefined && rollout !== undefined) {
    const secondsPerTurn = rollout.processorSeconds / Math.max(1, rollout.requests);
    return all({ main: { secondsPerTurn } }, assumptions);
  }
  // Of the run as it was, before anything of it is changed.
  if (!('learner' in recorded.fields)) return document(there ?? {}, given);
  if (rollout !== undefined && 'tools' in recorded.fields) {
    const { costs, assumptions: found } = calibrateMain(document(), rollout);
    return all({ main: costs.main }, found);
  }
  const { costs, assumptions: found } = calibrateOpening(document(), recorded.stepSeconds);
  return all({ tools: costs.tools }, found);
}

type Fields = Record<string, unknown>;
const mergeFields = (under: object, over: object): object =>
  mergeCosts(under as Fields, over as Fields);

/**
 * Seconds of learning by tokens: the run says how long a step took, which hardly vary in their tokens,
 * and the measurement how much longer it takes for more.
 */
function learnerLine({ tokens, seconds }: LearningPoint, slope: number) {
  const secondsPerToken = Math.min(slope, seconds / tokens);
  return { secondsPerToken, secondsPerStep: seconds - secondsPerToken * tokens };
}
