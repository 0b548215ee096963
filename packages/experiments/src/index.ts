export { compare, planComparison } from './compare.ts';
export { drawExperimentCurves, drawExperimentPage } from './experiment-report.ts';
export { outcomeTable } from './outcomes.ts';
export { experiments } from './registry.ts';
export { type PartResult, planExperiment, runExperiment } from './run-experiment.ts';
