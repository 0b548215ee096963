#!/usr/bin/env node
/** Compares simulations with measured runs: `node packages/planner/bin/validate.js --help`. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { readConfig, readMetrics } from '@saccade/run-store';
import { median, readCosts, readRunCosts, simulateCluster, simulationOf } from '../dist/index.js';

const HELP = `Compare simulated steps per hour with those of measured runs.

  node packages/planner/bin/validate.js --source <run> --costs <file> [--elsewhere <file>] <runs…>

A run is a directory, or several with commas between them: repetitions, whose median counts. Each is
simulated with its own scheduler, group size, concurrency and sandboxes, and with rollouts of the source.

  --source <run>      the run that the costs came from
  --costs <file>      of \`saccade plan <source> --gpus 1 --json\`
  --elsewhere <file>  of the same with \`--engine <url>\`: for runs whose engine is another process of this
                      machine
  --seeds <n>         simulations, whose median counts (default: 5)
  --verbose           where the time of each simulation goes

node packages/planner/bin/measure.js trains all runs, measures their costs, and calls this.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    source: { type: 'string' },
    costs: { type: 'string' },
    elsewhere: { type: 'string' },
    seeds: { type: 'string', default: '5' },
    verbose: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help || values.source === undefined || values.costs === undefined) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}

const { groups } = readRunCosts(values.source);
const costsOf = (file) => JSON.parse(readFileSync(file, 'utf8')).costs;
const own = costsOf(values.costs);
const elsewhere = values.elsewhere === undefined ? undefined : costsOf(values.elsewhere);

console.log('| run | measured, steps/h | predicted | error |\n| --- | --- | --- | --- |');
for (const name of positionals) {
  const runs = name.split(',');
  const { config } = readConfig(runs[0]);
  const isElsewhere = config.engine !== undefined && config.engine !== null;
  const costs = isElsewhere ? elsewhere : own;
  if (costs === undefined) throw new Error(`${name} has its engine elsewhere. Give --elsewhere.`);
  const rates = runs.map(measuredRate);
  const measured = median(rates);
  const reports = Array.from({ length: Number(values.seeds) }, (_, i) =>
    predict(config, costs, { placement: isElsewhere ? 'shared' : 'alternating', seed: i + 1 }),
  );
  const predicted = median(reports.map(({ stepsPerHour }) => stepsPerHour));
  const error = 100 * (predicted / measured - 1);
  const spread = rates.length > 1 ? ` (${rates.map((one) => one.toFixed(0)).join(', ')})` : '';
  const sign = error < 0 ? '−' : '+';
  console.log(
    `| ${name} | ${measured.toFixed(0)}${spread} | ${predicted.toFixed(0)} | ${sign}${Math.abs(error).toFixed(0)} % |`,
  );
  if (values.verbose) console.log(describe(reports[0]));
}

function predict(config, costs, { placement, seed }) {
  const training = {
    groupSize: config.rl.groupSize,
    concurrency: config.rollout.concurrency,
    sharedPrefix: config.packing.sharedPrefix,
  };
  const evaluation = { seconds: 0, everySteps: 0 };
  const given = { ...costs, training, evaluation, scheduler: config.scheduler };
  const simulation = simulationOf(readCosts(given, { groups }), { steps: 60, seed });
  const { maxRunning } = config.sandbox;
  const sandboxes = maxRunning ?? 2 * availableParallelism();
  const size = { engines: 1, learnerGpus: costs.learner.gpus, sandboxes, placement };
  return simulateCluster({ ...simulation, size });
}

/** Steps per hour; the first step warms caches up. */
function measuredRate(run) {
  const rows = readMetrics(run).value.rows.filter(({ stage }) => stage === 'rl');
  const seconds = rows.slice(1).map((row) => Number(row.step_time));
  return (3600 * seconds.length) / seconds.reduce((sum, one) => sum + one, 0);
}

function describe({ seconds, steps, engines, learner, main, tools, publishing }) {
  const each = (share) => ((share * seconds) / steps).toFixed(2);
  return (
    `  seconds of a step: engine busy ${each(engines.busy)} (its work ${(engines.workSeconds / steps).toFixed(2)}), ` +
    `learner ${each(learner.utilization)}, main ${each(main.utilization)}, ` +
    `tools ${each(tools.utilization * tools.servers)}, publishing ${each(publishing)}`
  );
}
