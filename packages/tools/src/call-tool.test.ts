import { SandboxError } from '@saccade/sandbox';
import { coordinateImage } from '@saccade/sandbox/contract';
import { encode } from 'fast-png';
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

  const outcome = {
    ...{ kind: 'ok', stdout: '', stderr: '', truncated: [], tier: 'none' },
    ...{ wallMs: 0, cpuMs: 0, maxRssKb: 0 },
  };
  const png = coordinateImage(20, 10);
  const large = encode({
    ...{ width: 10_000, height: 10_000, channels: 1, depth: 1 },
    data: new Uint8Array(1250 * 10_000),
  });

  it.each<[string, object, RegExp]>([
    ['no list of images', { images: undefined }, /it gave no outcome/],
    [
      'bytes that are no image',
      { images: [{ png: new Uint8Array(9), width: 1, height: 1 }] },
      /no PNG/,
    ],
    ['half an image', { images: [{ png: png.slice(0, 90), width: 20, height: 10 }] }, /breaks off/],
    [
      'another size',
      { images: [{ png, width: 10, height: 20 }] },
      /is 20×10 and says that it is 10×20/,
    ],
    [
      '100 megapixels',
      {
        images: [
          { png, width: 20, height: 10 },
          { png: large, width: 10_000, height: 10_000 },
        ],
      },
      /image 1 of its outcome has 10000×10000 pixels/,
    ],
  ])('is one where it gives %s', async (_, given, message) => {
    const failure = await calling(() => ({ ...outcome, ...given })).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(ToolError);
    expect((failure as Error).message).toMatch(message);
  });

  it('is none where its images are what they say', async () => {
    const given = { ...outcome, images: [{ png, width: 20, height: 10, source: 'image' }] };
    expect(await calling(() => given)).toBe(given);
  });

  it('leaves errors of the sandbox and of a caller who gave up what they are', async () => {
    const broken = new SandboxError('no server');
    await expect(calling(fail(broken))).rejects.toBe(broken);
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    await expect(calling(fail(new Error('x')), { signal })).rejects.toBe(reason);
  });
});
