import { SandboxError } from '@saccade/sandbox';
import { describe, expect, it } from 'vitest';
import { callTool } from './call-tool.ts';
import { ToolError } from './errors.ts';
import type { Tool, ToolContext } from './tool.ts';

const sandbox: ToolContext['sandbox'] = {
  open: () => Promise.reject(new Error('not used')),
};

function calling(call: () => unknown, context: Partial<ToolContext> = {}) {
  const tool: Tool = {
    name: 'search',
    description: 'Searches.',
    parameters: {},
    example: {},
    call: async () => call() as Awaited<ReturnType<Tool['call']>>,
  };
  return callTool([tool], { name: 'search', arguments: {} }, { images: [], sandbox, ...context });
}

const fail = (error: unknown) => () => {
  throw error;
};

describe('a tool that breaks', () => {
  it('is a ToolError that names it, whatever it threw', async () => {
    const cause = new TypeError('fetch failed');
    const error = await calling(fail(cause)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ToolError);
    expect(error).toMatchObject({
      code: 'tool',
      message: 'The tool search broke: fetch failed',
      cause,
    });
  });

  it.each([undefined, null, 7, {}])('is one where it gives %j for an outcome', async (given) => {
    await expect(calling(() => given)).rejects.toThrow('The tool search broke: it gave no outcome');
  });

  it('leaves errors of the sandbox and of a caller who gave up what they are', async () => {
    const broken = new SandboxError('no server');
    await expect(calling(fail(broken))).rejects.toBe(broken);
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    await expect(calling(fail(new Error('x')), { signal })).rejects.toBe(reason);
  });
});
