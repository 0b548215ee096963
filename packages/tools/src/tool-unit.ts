/**
 * A choice for the `tools` slot of a run: a tool as it is, or a unit that opens one or more tools
 * with its settings, such as a detector with worker processes or a server with tools of its own.
 */
import type { EventSink } from '@saccade/core';
import type { SettingsOf, SettingsSchema, Unit } from '@saccade/core/settings';
import { z } from 'zod';
import type { Tool } from './tool.ts';

const noSettings = z.strictObject({});

/** The facilities that a run offers the tools that it opens. */
export interface ToolHost {
  /** The Python interpreter of the sandbox's environment, made on the first call. */
  python(): Promise<string>;
  readonly onEvent: EventSink;
  /** A secret from the environment. @throws ConfigError naming the field if it is not set */
  secret(field: string, variable: string): string;
}

/** Tools that are ready to be called, until they are disposed of. */
export interface OpenTools {
  readonly tools: readonly Tool[];
  dispose(): Promise<void>;
}

/** A unit that opens tools at its settings. */
export interface ToolUnit<Schema extends SettingsSchema = SettingsSchema> extends Unit<Schema> {
  /**
   * The tools as far as they are known before anything is opened, for checks and prompts; none where
   * only the other side knows them. Calling one of these throws.
   */
  describe(settings: SettingsOf<Schema>): readonly Tool[];
  /**
   * Starts what the tools need. A run calls it once.
   *
   * @throws ConfigError or ToolError if that cannot be had
   */
  open(settings: SettingsOf<Schema>, host: ToolHost): Promise<OpenTools>;
}

/** A choice for the `tools` slot of a run. */
export type ToolChoice = Tool | ToolUnit;

/** Whether a choice has to be opened before its tools can be called. */
export function isToolUnit(choice: ToolChoice): choice is ToolUnit {
  return 'open' in choice;
}

/** The settings that a choice takes; most tools take none. */
export function toolSettings(choice: ToolChoice): SettingsSchema {
  return choice.settings ?? noSettings;
}

/** A unit of one's own that opens tools, for catalogs and recipes. */
export function defineToolUnit<const Name extends string, Schema extends SettingsSchema>(
  unit: ToolUnit<Schema> & { readonly name: Name },
): ToolUnit<Schema> & { readonly name: Name } {
  return unit;
}
