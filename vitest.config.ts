import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@saccade/source'] },
  ssr: { resolve: { conditions: ['@saccade/source'] } },
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'native/test/**/*.test.ts',
      'scripts/**/*.test.ts',
      'bench/src/**/*.test.ts',
      'examples/*/src/**/*.test.ts',
    ],
    // Native addons and child processes want processes, not worker threads.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
  },
});
