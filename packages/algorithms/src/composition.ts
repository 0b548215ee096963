/** The contents of an algorithm's file: its settings, and the choices that follow from them. */
import type { z } from 'zod';
import type { AlgorithmSettings } from './algorithm.ts';
import type { Choices } from './choices.ts';
import type { SharedSettings } from './shared-settings.ts';
import type { SettingsShape } from './unit.ts';

/** The values of an algorithm's own fields and of the shared ones. */
export type SettingsWith<Own extends SettingsShape> = Omit<SharedSettings, keyof Own> & {
  readonly [Name in keyof Own]: z.output<Own[Name]>;
};

/** The definition of an algorithm in its file. */
export interface Composition<Own extends SettingsShape> {
  readonly name: string;
  readonly paper: string;
  readonly description: string;
  /**
   * The algorithm's own fields, of its units; every algorithm also has those of `sharedSettings`.
   */
  readonly settings: Own;
  /** Values that replace the fields' defaults. */
  readonly defaults?: Partial<SettingsWith<Own>>;
  /**
   * Settings by profile. A setting that a profile does not name keeps its default; one that the
   * algorithm does not have is ignored.
   */
  readonly profiles: Readonly<Record<string, AlgorithmSettings>>;
  choose(settings: SettingsWith<Own>): Choices;
}
