/** The mapping that a setting names: a unit, a file, or the one that fits. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ConfigError, messageOf } from '@saccade/core';
import { describeValue } from '@saccade/core/settings';
import { compileMapping, type Mapping } from '../mapping/compile-mapping.ts';
import { type MappingDeclaration, mappingSchema } from '../mapping/mapping-schema.ts';
import { mappings, readers } from '../reader-registry.ts';
import type { Column } from '../table.ts';
import type { SourceSettings } from './source-settings.ts';

const FIELD = 'taskSet.mapping';
/** The mappings of data sets that Saccade wrote, one for each layout. */
const OWN = ['saccade', 'saccade-folder', 'saccade-webdataset'] as const;

const isFile = (name: string): boolean => /\.(ya?ml|json)$/i.test(name);

/** A mapping with its name. */
export interface NamedMapping {
  readonly name: string;
  readonly mapping: Mapping;
}

/** @throws ConfigError for a name that no mapping or reader has; files are not opened */
export function checkNames({ mapping, format }: Pick<SourceSettings, 'mapping' | 'format'>): void {
  if (mapping !== 'auto' && !isFile(mapping)) mappings.get(mapping);
  if (format !== 'auto') readers.get(format);
}

/**
 * Finds a mapping. `auto` is that of the repository's name, or that of data sets that Saccade wrote.
 *
 * @throws ConfigError for a mapping that is not known, or a file that holds none
 */
export async function findMapping(
  name: string,
  from: string,
  columns: readonly Column[],
): Promise<NamedMapping> {
  if (isFile(name)) {
    const declaration = await readDeclaration(name);
    const base = name.replace(/^.*[\\/]/, '').replace(/\.\w+$/, '');
    return { name: base, mapping: compileMapping(name, declaration) };
  }
  return named(name === 'auto' ? mappingOf(from, columns) : name);
}

function named(name: string): NamedMapping {
  const declaration = mappingSchema.parse(mappings.get(name).declaration);
  return { name, mapping: compileMapping(name, declaration) };
}

function mappingOf(from: string, columns: readonly Column[]): string {
  const repository = from.replace(/^hf:(datasets\/)?/, '').replace(/@.*$/, '');
  const found = mappings.entries().find(([, { sources }]) => sources.includes(repository));
  if (found !== undefined) return found[0];
  const known = new Set(columns.map((column) => column.name));
  const fitting = OWN.find((own) => named(own).mapping.columns.every((name) => known.has(name)));
  return fitting ?? OWN[0];
}

async function readDeclaration(path: string): Promise<MappingDeclaration> {
  if (!existsSync(path)) {
    throw new ConfigError(
      FIELD,
      `${FIELD}: there is no file ${path}. Give a mapping's name or file.`,
    );
  }
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    value = parse(await readFile(path, 'utf8'), { maxAliasCount: 100 });
  } catch (error) {
    throw new ConfigError(FIELD, `${FIELD}: ${path} is no YAML or JSON: ${messageOf(error)}.`);
  }
  const parsed = mappingSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') || 'the mapping';
  let got: unknown = value;
  for (const key of issue?.path ?? [])
    got = (got as Record<PropertyKey, unknown> | undefined)?.[key];
  throw new ConfigError(
    FIELD,
    `${FIELD}: ${path}: ${where}: ${issue?.message ?? 'is not valid'}, got ${describeValue(got)}. ` +
      'Known fields: ' +
      `${Object.keys(mappingSchema.shape).join(', ')}.`,
  );
}
