/**
 * Checks of what every sandbox must do, as plain functions for any test runner: each takes a fresh
 * sandbox opened with `contractLimits` and throws where the promise does not hold.
 */

import { captureChecks } from './checks/capture.ts';
import type { SandboxCheck } from './checks/check.ts';
import { imageChecks } from './checks/image.ts';
import { lifeChecks } from './checks/life.ts';
import { limitChecks } from './checks/limit.ts';
import { stateChecks } from './checks/state.ts';
import type { Limits } from './limits.ts';

export { coordinateImage, type SandboxCheck } from './checks/check.ts';

/** Short, so that the checks are quick; the sandbox must be opened with these. */
export const contractLimits: Partial<Limits> = {
  wallSeconds: 3,
  cpuSeconds: 1,
  memoryBytes: 1024 ** 3,
  outputBytes: 4096,
  imageCount: 3,
};

/**
 * The checks that every sandbox must pass, local or remote: state, limits, images, captures, and
 * the life of sessions.
 */
export const sandboxChecks: readonly SandboxCheck[] = [
  ...stateChecks,
  ...limitChecks,
  ...imageChecks,
  ...captureChecks,
  ...lifeChecks,
];
