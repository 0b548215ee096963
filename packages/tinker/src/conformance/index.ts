export {
  type ConformanceBounds,
  type ConformanceCheck,
  type ConformanceContext,
  ConformanceError,
  float32Bounds,
  type Requirement,
} from './conformance-check.ts';
export {
  type ConformanceOptions,
  type ConformanceResult,
  conformanceChecks,
  runConformance,
} from './run-conformance.ts';
