import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseJson } from './json.ts';

it('reads whatever JSON.parse reads, within the limits', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5, noUnicodeString: false }), (text) => {
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
    { numRuns: 100 },
  );
});

it('counts neither brackets nor commas within strings', () => {
  const text = JSON.stringify(['[[[[', '\\"[', '\\\\', ',,,,,', { 'a"[': '{' }]);
  expect(parseJson(text, { maxDepth: 2, maxValues: 9 })).toEqual(JSON.parse(text));
  expect(() => parseJson(text, { maxDepth: 1 })).toThrow(/more than 1 levels/);
  expect(() => parseJson('[1,2,3]', { maxValues: 3 })).toThrow(/more than 3 values/);
});

it.each([
  '"\\',
  `"${'\\'.repeat(3_000_000)}`,
  `"${'\\"'.repeat(1_500_000)}`,
  '{'.repeat(3_000_000),
  ' '.repeat(3_000_000),
  `[${'"",'.repeat(1_000_000)}`,
])('refuses what is none in time that grows with its length (%#)', (text) => {
  const before = process.cpuUsage();
  expect(() => parseJson(text)).toThrow();
  expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
});
