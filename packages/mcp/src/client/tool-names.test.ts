import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mapNames } from './tool-names.ts';

it.each([
  [['get-sum', 'getSum', 'get_sum'], undefined, ['get_sum_2', 'get_sum_3', 'get_sum']],
  [['3d', '', '日本', 'a.b/c'], undefined, ['tool_3d', 'tool', 'tool_2', 'a_b_c']],
  [['echo', 'HTTPGet'], 'web_', ['web_echo', 'web_httpget']],
  [['a', 'a'], undefined, ['a', 'a']],
])('maps %j with the prefix %s to %j', (names, prefix, ours) => {
  expect(mapNames(names, prefix).map((name) => name.ours)).toEqual(ours);
});

it('gives every name another one that a model may write', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a-b', 'a_b', 'aB'),
  );
  fc.assert(
    fc.property(fc.uniqueArray(text, { maxLength: 20 }), (names) => {
      const mapped = mapNames(names);
      expect(mapped.map(({ theirs }) => theirs)).toEqual(names);
      expect(new Set(mapped.map(({ ours }) => ours)).size).toBe(names.length);
      for (const { ours } of mapped) expect(ours).toMatch(/^[a-z][a-z0-9_]{0,80}$/);
    }),
  );
});
