/** Opens the tools of a run together, and closes them together. */
import { ConfigError } from '@saccade/core';
import type { Tool } from './tool.ts';
import { isToolUnit, type OpenTools, type ToolChoice, type ToolHost } from './tool-unit.ts';

/** A choice with the settings that its schema has checked. */
export interface ChosenTool {
  readonly choice: ToolChoice;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The tools of a choice as far as they are known before anything is opened. */
export function describeTools(chosen: readonly ChosenTool[]): readonly Tool[] {
  return chosen.flatMap(({ choice, settings }) =>
    isToolUnit(choice) ? choice.describe(settings) : [atSettings(choice, settings)],
  );
}

/**
 * Opens every choice, one after another; the tools keep that order.
 *
 * @throws ConfigError if two tools have one name: a model could not call the second
 * @throws ConfigError, ToolError or MissingError as the units do; what was open is closed before
 */
export async function openTools(chosen: readonly ChosenTool[], host: ToolHost): Promise<OpenTools> {
  const open: OpenTools[] = [];
  const dispose = async (): Promise<void> => {
    await Promise.all(open.map((one) => one.dispose()));
  };
  try {
    for (const { choice, settings } of chosen) {
      open.push(
        isToolUnit(choice)
          ? await choice.open(settings, host)
          : { tools: [atSettings(choice, settings)], dispose: async () => {} },
      );
    }
    const tools = open.flatMap((one) => one.tools);
    const names = tools.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) < index);
    if (twice === undefined) return { tools, dispose };
    throw new ConfigError(
      'tools',
      `tools: two of them are called ${twice}. Leave one out, or give it another name.`,
    );
  } catch (error) {
    await dispose();
    throw error;
  }
}

function atSettings(tool: Tool, settings: ChosenTool['settings']): Tool {
  return tool.with?.(settings) ?? tool;
}
