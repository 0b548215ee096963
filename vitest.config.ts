import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of a minute and more, longest first: begun last, one would keep a whole processor waiting. */
const LONG = [
  'backend-webgpu/src/kernels',
  'backend-native/src/cuda-kernels',
  'backend-native/src/invariance',
  'sandbox/src/attacks/attacks',
  'browser/src/page/page',
  'cli/src/pretrained',
  'backend-native/src/kernels',
  'sandbox/src/local-sandbox',
  'cli/src/resume',
  'cli/src/eval-suites',
  'policy/src/webgpu',
  'backend-webgpu/src/variants',
  'train/src/algorithm-inputs',
  'sandbox/src/memory-separation',
  'sandbox/src/isolations/micro-vm/firecracker',
  'browser/src/task/overview',
  'backend-webgpu/src/tiles',
  'cli/src/asynchronous',
  'cli/src/engine',
  'vision-tools/src/contract',
  'cli/src/serve-doors',
  'bench/src/cli',
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
  'datasets',
  'env-service',
  'eval',
  'gym',
  'http',
  'hub',
  'learner',
  'logprob',
  'loop',
  'math-verify',
  'mcp',
  'nn',
  'ops',
  'optim',
  'planner',
  'policy',
  'ratings',
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
