/** Parts of real speeches that pages are set from; a president's speeches are in one split. */
import { readFileSync } from 'node:fs';
import type { Split } from '@saccade/gym';

/** Part of a State of the Union speech, in printable ASCII. */
export interface Speech {
  readonly year: number;
  readonly president: string;
  /** Whole sentences, with one space between words. */
  readonly text: string;
}

interface SpeechesFile {
  /** Presidents. */
  readonly heldOut: readonly string[];
  readonly speeches: readonly Speech[];
}

let file: SpeechesFile | undefined;

/** The speeches of a split. */
export function speechesOf(split: Split): readonly Speech[] {
  file ??= JSON.parse(
    readFileSync(new URL('../../data/speeches.json', import.meta.url), 'utf8'),
  ) as SpeechesFile;
  const heldOut = new Set(file.heldOut);
  return file.speeches.filter(({ president }) => heldOut.has(president) === (split === 'heldOut'));
}
