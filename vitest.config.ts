import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files of most of a minute and more: begun last, one would keep a whole processor waiting. Those that
 * wait themselves, for sandboxes and children, are spread among those that compute.
 */
const LONG = [
  'sandbox/src/attacks/attacks',
  'backend-webgpu/src/kernels',
  'cli/src/pretrained',
  'backend-native/src/cuda-kernels',
  'browser/src/page/page',
  'sandbox/src/local-sandbox',
  'train/src/algorithm-inputs',
  'cli/src/resume',
  'cli/src/eval-suites',
  'sandbox/src/memory-separation',
  'policy/src/webgpu',
  'sandbox/src/isolations/micro-vm/firecracker',
  'backend-webgpu/src/variants',
  'cli/src/asynchronous',
  'backend-webgpu/src/tiles',
  'cli/src/engine',
  'backend-native/src/invariance',
  'backend-native/src/kernels',
  'cli/src/serve-doors',
  'cli/src/serve-tools',
  'vision-tools/src/contract',
  'bench/src/cli',
  'browser/src/training/train',
  'tool-service/src/load',
  'sandbox/src/faults',
  'cli/src/replay',
];

/** Files of packages below that have a process each: a GPU, faults, and what counts its leftovers. */
const APART: Readonly<Record<string, string>> = {
  policy: 'webgpu',
  'tool-service': 'load',
  train: 'faults|webgpu',
};

/** Files that take most of a minute to test a tool or an example: `npm run sweep` has them. */
const SWEPT =
  process.env.SACCADE_SWEEP === undefined
    ? [
        'bench/src/decode/decode',
        'bench/src/gpu/gpu-run',
        'bench/src/memory-chart',
        'bench/src/step-profile',
        'examples/browser/src/task/overview',
        'packages/tool-service/src/load',
      ].map((path) => `${path}.test.ts`)
    : [];
if (SWEPT.length > 0) console.info(`Left for \`npm run sweep\`: ${SWEPT.join(', ')}.`);

/** `npm run sweep` asserts properties of more cases. */
const alias =
  process.env.SACCADE_SWEEP === undefined
    ? {}
    : { 'fast-check': fileURLToPath(new URL('./scripts/many-cases.ts', import.meta.url)) };

/**
 * Packages whose test files share a process, and with it the modules that it has loaded: they leave
 * nothing behind in it. Files that hold a GPU or a browser, or look at processes, have one each.
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
  'experiments',
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
  'tinker',
  'tool-service',
  'tools',
  'trackers',
  'train',
  'trajectory',
  'vision-tasks',
  'vision-tools',
]
  .map((name) => {
    const apart = APART[name];
    return `packages/${name}/src/**/${apart === undefined ? '*' : `!(${apart})`}.test.ts`;
  })
  .concat(
    // All of the command line but those that count processes, or what they load.
    'packages/cli/src/!(closed-pipe|loading).test.ts',
    'bench/src/**/*.test.ts',
    // All but that of the browser.
    'scripts/{[!b]*,browser-bundle}.test.ts',
  );

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
  resolve: { conditions: ['@saccade/source'], alias },
  ssr: { resolve: { conditions: ['@saccade/source'] } },
  test: {
    projects: [
      { extends: true, test: { name: 'shared', include: SHARED, exclude: SWEPT, isolate: false } },
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
          exclude: [...SHARED, ...SWEPT],
        },
      },
    ],
    globalSetup: './scripts/test-folder.ts',
    setupFiles: './scripts/same-bytes.ts',
    // Each project transforms all modules that it loads, for most of a minute: what one has, and what an
    // earlier run had, is read from here. A file that changed is another entry.
    experimental: { fsModuleCache: true, fsModuleCachePath: '.cache/test-modules' },
    // Native addons and child processes want processes, not worker threads.
    pool: 'forks',
    // Twice the processors of the least machine: tests wait for sandboxes, browsers and children. With
    // three workers a whole run took longer.
    maxWorkers: 4,
    testTimeout: 180_000,
    // Hooks train, too.
    hookTimeout: 180_000,
    sequence: { sequencer: LongFirst },
  },
});
