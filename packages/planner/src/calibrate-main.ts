/** Finds what the main process of a run does between turns: what is left of its processor seconds. */
import { simulateCluster } from './cluster.ts';
import type { CostDocument } from './costs-file.ts';
import type { RunCosts } from './costs-from-run.ts';
import { simulationOf } from './plan.ts';

/**
 * Costs with the work of the main process for a turn. The run itself is simulated, to know how long its
 * engine worked, and
 *
 *   secondsPerTurn = (processor seconds of the process in its rollouts − those of its engine) / turns
 *
 * @param document whose scheduler rolls out and learns in turns, with an engine in the run's process
 */
export function calibrateMain(
  document: CostDocument,
  { processorSeconds, requests }: NonNullable<RunCosts['rollout']>,
): CostDocument {
  const { costs } = document;
  const { training, engine } = costs;
  const simulation = simulationOf(document, { steps: 20, seed: 1 });
  const report = simulateCluster({
    ...simulation,
    costs: { ...simulation.costs, evaluation: { seconds: 0, everySteps: 0 } },
    size: {
      engines: 1,
      learnerGpus: costs.learner.gpus,
      sandboxes: training.concurrency,
      placement: 'alternating',
    },
  });
  const engineSeconds = (report.engines.workSeconds / report.steps) * engine.processors;
  const left = Math.max(0, processorSeconds - engineSeconds);
  const secondsPerTurn = requests > 0 ? left / requests : 0;
  return {
    ...document,
    costs: { ...costs, main: { ...costs.main, secondsPerTurn } },
    assumptions: [
      ...document.assumptions,
      `The main process works ${(1000 * secondsPerTurn).toFixed(1)} ms for a turn: what the process ` +
        `took of processors in rollouts, ${processorSeconds.toFixed(2)} s a step, beyond its engine’s ` +
        `${engineSeconds.toFixed(2)} s.`,
    ],
  };
}
