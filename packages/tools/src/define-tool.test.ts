import type { Outcome } from '@saccade/sandbox';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ToolError } from './errors.ts';
import { refused } from './refused.ts';
import { defineTool, type ToolContext, type ToolDefinition } from './tool.ts';

const context: ToolContext = {
  images: [],
  sandbox: { open: () => Promise.reject(new Error('not used')) },
};
const { error: _, ...nothing } = refused('BadArgument', '');
const ok = (stdout: string): Outcome => ({ ...nothing, kind: 'ok', stdout });
const parameters = { size: z.int().min(1) };

/** A tool that says the sizes it is given, and notes how many come together. */
function sizes(together: number[], more: Partial<ToolDefinition<typeof parameters>> = {}) {
  return defineTool({
    ...{ name: 'sizes', description: 'Says sizes.', parameters, example: { size: 1 } },
    run: async ({ size }) => ok(`alone ${size}`),
    runBatch: async (calls) => {
      together.push(calls.length);
      return calls.map(({ given }) => ok(`together ${given.size}`));
    },
    ...more,
  });
}

describe('a tool that takes several calls', () => {
  const calls = [{ size: 3 }, { size: 0 }, { sise: 1 }, {}, { size: 7 }].map((given) => ({
    given,
    context,
  }));

  it('answers each in its place, and sees those alone whose arguments fit', async () => {
    const together: number[] = [];
    const outcomes = await sizes(together).callBatch?.(calls);
    expect(outcomes?.map(({ stdout, error }) => error?.type ?? stdout)).toEqual([
      'together 3',
      'BadArgument',
      'UnknownArgument',
      'MissingArgument',
      'together 7',
    ]);
    expect(together).toEqual([2]);
    await sizes(together).callBatch?.(calls.slice(1, 3));
    expect(together).toEqual([2]);
  });

  it('must answer all of them', async () => {
    const tool = sizes([], { runBatch: async () => [ok('one')] });
    await expect(tool.callBatch?.(calls)).rejects.toThrow(ToolError);
  });
});

it('says nothing of batches, versions and repetition where it was told nothing', () => {
  const plain = defineTool({
    ...{ name: 'plain', description: 'Plain.', parameters: {}, example: {} },
    run: async () => ok(''),
  });
  expect(Object.keys(plain).sort()).toEqual([
    ...['call', 'description', 'example', 'name', 'parameters'],
  ]);
  expect(sizes([], { version: '2', isDeterministic: true })).toMatchObject({
    ...{ version: '2', isDeterministic: true },
  });
});
