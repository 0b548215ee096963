#!/usr/bin/env node
/**
 * Compares a simulation with measured runs: costs come from one run and from its engine, measured alone.
 *
 *   saccade plan runs/a --gpus 1 --json > costs.json
 *   node packages/planner/bin/validate.js runs/a costs.json runs/b runs/c:shared …
 *
 * Each run is simulated with its own scheduler, group size and concurrency, on one device; `:shared` is for
 * a run whose engine is another process of the same machine.
 */
import { readFileSync } from 'node:fs';
import { readConfig, readMetrics } from '@saccade/run-store';
import { readCosts, readRunCosts, simulateCluster, simulationOf } from '../dist/index.js';

const [source, costsFile, ...runs] = process.argv.slice(2);
const { costs } = JSON.parse(readFileSync(costsFile, 'utf8'));
const { groups } = readRunCosts(source);
for (const name of runs) {
  const [run, placement = 'alternating'] = name.split(':');
  const { config } = readConfig(run);
  const training = {
    groupSize: config.rl.groupSize,
    concurrency: config.rollout.concurrency,
    sharedPrefix: config.packing.sharedPrefix,
  };
  const evaluation = { seconds: 0, everySteps: 0 };
  const given = { ...costs, training, evaluation, scheduler: config.scheduler };
  const document = readCosts(given, { groups });
  const simulation = simulationOf(document, { steps: 40, seed: 1 });
  const sandboxes = Math.max(1, config.sandbox?.servers ?? 1) * config.rollout.concurrency;
  const size = { engines: 1, learnerGpus: costs.learner.gpus, sandboxes, placement };
  const report = simulateCluster({ ...simulation, size });
  const rows = readMetrics(run).value.rows.filter(({ stage }) => stage === 'rl');
  // The first step warms caches up.
  const seconds = rows.slice(1).map((row) => Number(row.step_time));
  const measured = (3600 * seconds.length) / seconds.reduce((sum, one) => sum + one, 0);
  const error = (100 * (report.stepsPerHour / measured - 1)).toFixed(0);
  console.log(
    `${run}\tmeasured ${measured.toFixed(0)}\tpredicted ${report.stepsPerHour.toFixed(0)} steps/h\t${error} %`,
  );
}
