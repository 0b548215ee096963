export { compare, planComparison } from './compare.ts';
export { drawExperimentPage, drawExperimentPicture } from './experiment-report.ts';
export { experiments } from './registry.ts';
export { type PartResult, planExperiment, runExperiment } from './run-experiment.ts';
