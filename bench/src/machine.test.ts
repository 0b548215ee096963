import { expect, it } from 'vitest';
import { machineFolder, provenance } from './machine.ts';

it('a machine has a folder of its own', () => {
  const machine = { processors: 2, memoryGiB: 8, system: 'Linux' };
  const folder = (processor: string) => machineFolder({ ...machine, processor });
  expect(folder('Intel(R) Xeon(R) Processor @ 2.50GHz')).toBe('intel-xeon-processor-2-50ghz-x2');
  expect(folder('Apple M4 Max')).toBe('apple-m4-max-x2');
  expect(folder('…')).toBe('unknown-x2');
});

it('a result says where it comes from', () => {
  expect(
    provenance(['table', '--python', '/home/me/venv/bin/python'], { torch: '2' }),
  ).toMatchObject({
    command: 'npm run bench -- table --python python',
    commit: expect.stringMatching(/^([0-9a-f]{12}(-dirty)?|unknown)$/),
    versions: { node: process.versions.node, torch: '2' },
  });
});
