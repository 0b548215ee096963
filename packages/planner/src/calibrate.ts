/** Finds the one cost of a run that nothing records: opening environments, and other latency. */
import { simulateCluster } from './cluster.ts';
import type { CostDocument } from './costs-file.ts';
import { simulationOf } from './plan.ts';

/**
 * Costs under which a run on one device takes the seconds that it took: what the simulation lacks is put
 * down to opening a trajectory's environment. Less than nothing is not put down.
 *
 * @param document whose scheduler rolls out and learns in turns
 * @param stepSeconds seconds of a step of the run
 */
export function calibrateOpening(document: CostDocument, stepSeconds: number): CostDocument {
  const { costs } = document;
  const simulation = simulationOf(document, { steps: 20, seed: 1 });
  const sandboxes = costs.training.concurrency;
  const size = { engines: 1, learnerGpus: costs.learner.gpus, sandboxes } as const;
  const evaluation = { seconds: 0, everySteps: 0 };
  const report = simulateCluster({
    ...simulation,
    costs: { ...simulation.costs, evaluation },
    size: { ...size, placement: 'alternating' },
  });
  const missing = Math.max(0, stepSeconds - report.seconds / report.steps);
  const openSeconds = costs.tools.openSeconds + missing;
  return {
    ...document,
    costs: { ...costs, tools: { ...costs.tools, openSeconds } },
    assumptions: [
      ...document.assumptions,
      `Opening an environment takes ${openSeconds.toFixed(2)} s: what a step of the run took longer than simulated.`,
    ],
  };
}
