import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of a minute and more, longest first: begun last, one would keep a whole processor waiting. */
const LONG = [
  'sandbox/src/attacks/attacks',
  'backend-native/src/cuda-kernels',
  'cli/src/asynchronous',
  'backend-webgpu/src/tiles',
  'backend-webgpu/src/kernels',
  'train/src/algorithm-inputs',
  'sandbox/src/local-sandbox',
  'browser/src/page/page',
  'scripts/browser',
  'policy/src/webgpu',
  'backend-webgpu/src/variants',
  'cli/src/resume',
  'backend-native/src/invariance',
  'experiments/src/compare',
  'sandbox/src/isolations/micro-vm/firecracker',
  'sandbox/src/system-calls/system-calls',
  'cli/src/replay',
];

/**
 * Packages whose test files share a process, and with it the modules that it has loaded: they leave
 * nothing behind in it. Files that hold a GPU, the sandbox's processes or a browser have one each.
 */
const SHARED = [
  'algorithms',
  'attention',
  'chat',
  'code-effects',
  'core',
  'data',
  'env-service',
  'eval',
  'gym',
  'http',
  'learner',
  'logprob',
  'loop',
  'math-verify',
  'mcp',
  'nn',
  'ops',
  'optim',
  'planner',
  'replay',
  'report',
  'rewards',
  'rollout',
  'run-store',
  'schedulers',
  'statistics',
  'synthesis',
  'tensor',
  'tools',
  'trackers',
  'trajectory',
  'vision-tasks',
].map((name) => `packages/${name}/src/**/*.test.ts`);

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONG.findIndex((path) => moduleId.endsWith(`${path}.test.ts`));
      return at < 0 ? LONG.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  resolve: { conditions: ['@saccade/source'] },
  ssr: { resolve: { conditions: ['@saccade/source'] } },
  test: {
    projects: [
      { extends: true, test: { name: 'shared', include: SHARED, isolate: false } },
      {
        extends: true,
        test: {
          name: 'alone',
          include: [
            'packages/*/src/**/*.test.ts',
            'packages/cli/template/test/**/*.test.ts',
            'native/test/**/*.test.ts',
            'scripts/**/*.test.ts',
            'bench/src/**/*.test.ts',
            'examples/*/src/**/*.test.ts',
          ],
          exclude: SHARED,
        },
      },
    ],
    // Native addons and child processes want processes, not worker threads.
    pool: 'forks',
    // One more than the least machine has processors: tests wait for sandboxes, browsers and children.
    maxWorkers: 3,
    testTimeout: 120_000,
    sequence: { sequencer: LongFirst },
  },
});
