import { ConfigError, MissingError } from '@saccade/core';
import { text } from '@saccade/core/settings';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeTools, openTools } from './open-tools.ts';
import type { Tool } from './tool.ts';
import { defineToolUnit, type ToolHost, type ToolUnit, toolSettings } from './tool-unit.ts';
import { imageFlipTool } from './tools/image-flip-tool.ts';
import { imageZoomInTool } from './tools/image-zoom-in-tool.ts';

const host: ToolHost = {
  python: async () => 'python3',
  onEvent() {},
  secret: () => 'secret',
};

const schema = z.strictObject({
  prefix: text({ default: 'a', unit: 'text', about: 'What the names begin with.' }),
});

/** A unit that opens two tools and notes its end. */
function pair(closed: string[], fault?: Error): ToolUnit<typeof schema> {
  const named = (prefix: string): readonly Tool[] =>
    ['one', 'two'].map((name) => ({ ...imageFlipTool, name: `${prefix}_${name}` }));
  return defineToolUnit({
    name: 'pair',
    description: 'Two tools.',
    settings: schema,
    describe: ({ prefix }) => named(prefix),
    async open({ prefix }) {
      if (fault !== undefined) throw fault;
      return {
        tools: named(prefix),
        dispose: async () => {
          closed.push(prefix);
        },
      };
    },
  });
}

const names = (tools: readonly Tool[]): readonly string[] => tools.map(({ name }) => name);

describe('the tools of a run', () => {
  const flip = { choice: imageFlipTool, settings: {} };

  it('are those of every choice, in order, before and after opening', async () => {
    const closed: string[] = [];
    const chosen = [{ choice: pair(closed), settings: { prefix: 'b' } }, flip];
    const expected = ['b_one', 'b_two', 'image_flip_tool'];
    expect(names(describeTools(chosen))).toEqual(expected);
    const open = await openTools(chosen, host);
    expect(names(open.tools)).toEqual(expected);
    expect(closed).toEqual([]);
    await open.dispose();
    expect(closed).toEqual(['b']);
  });

  it('are closed again where a later choice cannot be opened', async () => {
    const closed: string[] = [];
    const fault = new MissingError('no such server');
    const chosen = [
      { choice: pair(closed), settings: { prefix: 'a' } },
      { choice: pair(closed, fault), settings: { prefix: 'b' } },
    ];
    await expect(openTools(chosen, host)).rejects.toBe(fault);
    expect(closed).toEqual(['a']);
  });

  it('are refused and closed where two have one name', async () => {
    const closed: string[] = [];
    const twice = { choice: pair(closed), settings: { prefix: 'a' } };
    const opening = openTools([twice, twice], host);
    await expect(opening).rejects.toBeInstanceOf(ConfigError);
    await expect(opening).rejects.toThrow('two of them are called a_one');
    expect(closed).toEqual(['a', 'a']);
  });

  it('take the settings of units and of tools that have some', () => {
    expect(Object.keys(toolSettings(pair([])).shape)).toEqual(['prefix']);
    expect(Object.keys(toolSettings(imageZoomInTool).shape)).toEqual(['leastSide']);
    expect(Object.keys(toolSettings(imageFlipTool).shape)).toEqual([]);
  });

  it('are at their settings before and after opening', async () => {
    const seen: unknown[] = [];
    const tool: Tool = {
      ...imageFlipTool,
      settings: schema,
      with(settings) {
        seen.push(settings);
        return { ...imageFlipTool, name: `${settings.prefix}_flip` };
      },
    };
    const chosen = [{ choice: tool, settings: { prefix: 'b' } }];
    expect(names(describeTools(chosen))).toEqual(['b_flip']);
    expect(names((await openTools(chosen, host)).tools)).toEqual(['b_flip']);
    expect(seen).toEqual([{ prefix: 'b' }, { prefix: 'b' }]);
  });
});
