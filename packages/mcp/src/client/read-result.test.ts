import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileCheck } from './check-arguments.ts';
import { exampleOf } from './example-of.ts';
import { readMessage } from './read-message.ts';
import { readResult } from './read-result.ts';

it('reads any blocks within the limits, and never throws', async () => {
  const block = fc.oneof(
    fc.record({ type: fc.constant('text'), text: fc.string({ maxLength: 50_000 }) }),
    fc.record({ type: fc.constant('image'), data: fc.base64String(), mimeType: fc.string() }),
    fc.record({ type: fc.constant('audio'), data: fc.base64String(), mimeType: fc.string() }),
    fc.record({ type: fc.constant('resource_link'), uri: fc.string(), name: fc.string() }),
    fc.record({
      type: fc.constant('resource'),
      resource: fc.record({
        uri: fc.string(),
        blob: fc.base64String(),
        mimeType: fc.constant('image/png'),
      }),
    }),
  ) as fc.Arbitrary<ContentBlock>;
  await fc.assert(
    fc.asyncProperty(fc.array(block), fc.boolean(), async (content, isError) => {
      const outcome = await readResult({ content, isError } as CallToolResult, 1);
      expect(outcome.kind).toBe(isError ? 'exception' : 'ok');
      expect(outcome.stdout.length).toBeLessThanOrEqual(64 * 1024);
      expect(outcome.error === undefined).toBe(!isError);
    }),
    { numRuns: 60 },
  );
});

it('reads any line, and never throws', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
      const { message, problem } = readMessage(line);
      expect(message !== undefined || problem !== undefined).toBe(true);
    }),
  );
});

it('makes examples that fit plain schemas', () => {
  const schema = {
    type: 'object',
    properties: {
      text: { type: 'string', minLength: 9 },
      count: { type: 'integer', minimum: 3, maximum: 5 },
      kind: { enum: ['b', 'a'] },
      list: { type: 'array', minItems: 2, items: { type: 'number' } },
      inner: { type: 'object', properties: { x: { type: 'boolean' } }, required: ['x'] },
      either: { anyOf: [{ type: 'null' }, { type: 'string' }] },
      other: { type: 'string' },
    },
    required: ['text', 'count', 'kind', 'list', 'inner', 'either'],
  };
  const example = exampleOf(schema);
  expect(example).not.toHaveProperty('other');
  expect(compileCheck(schema)(example)).toBeUndefined();
});
