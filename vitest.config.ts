import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of a minute and more, longest first: begun last, one would keep a whole processor waiting. */
const LONG = [
  'backend-native/src/cuda-kernels',
  'backend-webgpu/src/tiles',
  'backend-webgpu/src/kernels',
  'scripts/browser',
  'backend-webgpu/src/variants',
  'train/src/webgpu',
  'backend-native/src/invariance',
  'browser/src/page/page',
  'policy/src/webgpu',
  'backend-native/src/kernels',
  'sandbox/src/local-sandbox',
  'cli/src/resume',
  'sandbox/src/isolations/micro-vm/firecracker',
];

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
    include: [
      'packages/*/src/**/*.test.ts',
      'packages/cli/template/test/**/*.test.ts',
      'native/test/**/*.test.ts',
      'scripts/**/*.test.ts',
      'bench/src/**/*.test.ts',
      'examples/*/src/**/*.test.ts',
    ],
    // Native addons and child processes want processes, not worker threads.
    pool: 'forks',
    // One more than the least machine has processors: tests wait for sandboxes, browsers and children.
    maxWorkers: 3,
    testTimeout: 120_000,
    sequence: { sequencer: LongFirst },
  },
});
