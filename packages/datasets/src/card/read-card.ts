/** A data set's card: the front matter of its README.md, as Hugging Face writes it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '@saccade/core';

/** Facts of a card that travel with the data. */
export interface Card {
  readonly title?: string;
  /** As the card says it, e.g. `cc-by-4.0`; several with commas between them. */
  readonly license?: string;
  readonly licenseLink?: string;
  readonly homepage?: string;
  /** Something of it that could not be read. */
  readonly problem?: string;
}

const FRONT_MATTER = /^\uFEFF?---\r?\n(.*?)\r?\n---\s*(\r?\n|$)/s;
/** Aliases of a YAML file may unfold to more than memory holds. */
const MOST_ALIASES = 100;

/** The card of a folder; undefined if it has none. */
export async function readCard(root: string): Promise<Card | undefined> {
  const path = join(root, 'README.md');
  if (!existsSync(path)) return undefined;
  return await parseCard(await readFile(path, 'utf8'));
}

/** Reads a card's text. A card that is damaged is one with a `problem`: no row depends on it. */
export async function parseCard(text: string): Promise<Card> {
  const [, title] = /^#\s+(.+)$/m.exec(text) ?? [];
  const matter = FRONT_MATTER.exec(text)?.[1];
  if (matter === undefined) return title === undefined ? {} : { title };
  const { parse } = await import('yaml');
  let fields: unknown;
  try {
    fields = parse(matter, { maxAliasCount: MOST_ALIASES });
  } catch (error) {
    return { ...(title && { title }), problem: `the front matter is no YAML: ${messageOf(error)}` };
  }
  if (typeof fields !== 'object' || fields === null) return title === undefined ? {} : { title };
  const at = (key: string): string | undefined => textOf((fields as Record<string, unknown>)[key]);
  const named = at('pretty_name') ?? title;
  const license = at('license') === 'other' ? (at('license_name') ?? 'other') : at('license');
  const [link, homepage] = [at('license_link'), at('homepage')];
  return {
    ...(named && { title: named }),
    ...(license && { license }),
    ...(link && { licenseLink: link }),
    ...(homepage && { homepage }),
  };
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim();
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((one) => typeof one === 'string');
  return texts.length === 0 ? undefined : texts.join(', ');
}
