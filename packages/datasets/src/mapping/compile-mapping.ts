/** A declaration that is ready to map rows. */
import { ConfigError, DataError, messageOf } from '@saccade/core';
import { toPng } from '../images/to-png.ts';
import { type Column, type Fields, type Row, typeOf } from '../table.ts';
import { type VideoFacts, videoFacts } from '../videos/video-facts.ts';
import { readAnswer, readChoices } from './answers.ts';
import { type ColumnPath, parsePath, valueAt } from './column-path.ts';
import type { MappingDeclaration } from './mapping-schema.ts';
import { type MediaContext, type MediaReader, readMedia } from './media.ts';
import { readText, textOf } from './texts.ts';
import { readTurns } from './turns.ts';

/** A row as a task's fields. */
export interface MappedRow {
  readonly question: string;
  readonly answer: string;
  readonly images: readonly { png: Uint8Array; width: number; height: number }[];
  readonly videos: readonly (VideoFacts & { readonly encoded: Uint8Array })[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Limits of mapping, and where files are. */
export interface MapContext extends MediaContext {
  readonly maxPixels: number;
  /** Number that draws one of several questions of a row. */
  readonly draw: number;
}

/** A mapping of rows. */
export interface Mapping {
  /** Columns that it reads. */
  readonly columns: readonly string[];
  /** @throws DataError saying what is wrong with the row */
  map(fields: Fields, context: MapContext): Promise<MappedRow>;
  /** The row's own split, where the declaration names one. */
  splitOf?(fields: Fields): string | undefined;
  /** @throws ConfigError naming the column, what is expected and what the first rows have */
  check(name: string, columns: readonly Column[], rows: readonly Row[]): void;
}

/** The names of the question that is drawn, and of the last turn of a conversation, in paths. */
const EACH = 'each';
const TURNS = 'turns';

/**
 * Prepares a declaration.
 *
 * @param name  of the mapping, for messages
 * @throws ConfigError if a path or an expression of it cannot be read
 */
export function compileMapping(name: string, declaration: MappingDeclaration): Mapping {
  try {
    return compile(declaration);
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    throw new ConfigError('taskSet.mapping', `taskSet.mapping: ${name}: ${error.message}`);
  }
}

function compile(declaration: MappingDeclaration): Mapping {
  const question = readText(declaration.question);
  const answer = readAnswer(declaration.answer);
  const choices = declaration.choices === undefined ? undefined : readChoices(declaration.choices);
  const images = [declaration.images].flat().map(readMedia);
  const videos = [declaration.videos].flat().map(readMedia);
  const facts = Object.entries(declaration.metadata).map(([key, path]) => {
    return [key, parsePath(path)] as const;
  });
  const optionalPath = (path: string | undefined) => path && parsePath(path);
  const whole = optionalPath(declaration.metadataFrom);
  const origin = optionalPath(declaration.origin);
  const split = optionalPath(declaration.split);
  const each = optionalPath(declaration.each);
  const turns = declaration.turns && readTurns(declaration.turns);
  const media = [...images, ...videos];
  const take = (paths: readonly ColumnPath[], expected: string, accepts: readonly string[]) =>
    paths.map((path): Needed => ({ path, expected, accepts }));
  const given = (...paths: readonly (ColumnPath | '' | undefined)[]) =>
    paths.filter((path) => path !== undefined && path !== '') as ColumnPath[];
  const needed: Needed[] = [
    ...take(question.paths, 'text', SCALARS),
    ...take(answer.paths, 'an answer', answer.isList ? [...SCALARS, 'list'] : SCALARS),
    ...take(given(answer.flags), 'flags', ['list', ...SCALARS]),
    ...take([...answer.conditions, ...(turns?.conditions ?? [])], 'a kind of row', SCALARS),
    ...take(choices?.paths ?? [], 'choices', ['list', ...SCALARS]),
    // Of images that a row may lack, the first column has to be there: else the mapping is another's.
    ...media.flatMap(({ paths, isFile, isOptional }, i) => {
      if (isOptional && i > 0) return [];
      const [expected, accepts] = isFile ? ['the name of a file', SCALARS] : ['an image', MEDIA];
      return take(paths, expected as string, accepts as readonly string[]);
    }),
    ...take(given(...media.map(({ hash }) => hash)), 'a hash', ['list', ...SCALARS]),
    ...take(given(...facts.map(([, path]) => path)), 'a value', []),
    ...take(given(whole), 'a struct', ['struct', 'string']),
    ...take(given(origin, split), 'text', SCALARS),
    ...take(given(each), 'a list of questions', ['list']),
    ...take(turns?.lists ?? [], 'a list of turns', ['list', ...SCALARS]),
  ];
  // Columns that no data has: they are made of others.
  const made = [...(each ? [EACH] : []), ...(turns ? [TURNS] : [])];
  const columns = [...new Set(needed.map(({ path }) => path.column))];
  const drawn = (fields: Fields, draw: number): Fields => ({
    ...fields,
    ...(each && { [EACH]: drawQuestion(valueAt(fields, each), each, draw) }),
    ...(turns && { [TURNS]: turns.read(fields) }),
  });
  return {
    columns: columns.filter((column) => !made.includes(column)),
    async map(row, context) {
      const fields = drawn(row, context.draw);
      const asked = question.read(fields)?.trim();
      if (!asked) throw new DataError(`${question.paths[0]?.text}: there is no question`);
      const options = choices?.read(fields);
      const answered = answer.read(fields, options);
      if (answered === undefined || answered.text.trim() === '') {
        throw new DataError(`${answer.paths[0]?.text}: there is no answer`);
      }
      const shown = options === undefined || choices?.inQuestion === true ? [] : options;
      return {
        question: [asked, ...shown.map((text, i) => `(${letterAt(i)}) ${text}`)].join('\n'),
        answer: answered.text,
        images: await eachOf(images, fields, context, (bytes) => toPng(bytes, context)),
        videos: await eachOf(videos, fields, context, async (encoded) => {
          return { encoded, ...(await videoFacts(encoded)) };
        }),
        metadata: {
          ...(whole && structOf(valueAt(fields, whole), whole)),
          ...Object.fromEntries(
            facts.flatMap(([key, path]) => {
              const value = valueAt(fields, path);
              return value === undefined || value === null ? [] : [[key, value]];
            }),
          ),
          ...(options && { choices: options }),
          ...(answered.all.length > 1 && { answers: answered.all }),
          ...(origin && { origin: textOf(valueAt(fields, origin), origin.text) }),
        },
      };
    },
    ...(split && { splitOf: (fields: Fields) => textOf(valueAt(fields, split), split.text) }),
    check: (name, known, rows) => {
      checkColumns(
        name,
        needed.filter(({ path }) => !made.includes(path.column)),
        known,
      );
      const first = rows.flatMap(({ fields }) => (fields ? [drawnOrPlain(fields, drawn)] : []));
      for (const one of needed) checkTypes(name, one, first);
    },
  };
}

const letterAt = (index: number): string => String.fromCharCode(65 + index);

async function eachOf<Medium>(
  readers: readonly MediaReader[],
  fields: Fields,
  context: MapContext,
  convert: (bytes: Uint8Array) => Promise<Medium>,
): Promise<readonly Medium[]> {
  const media: Medium[] = [];
  for (const reader of readers) {
    for (const bytes of await reader.read(fields, context)) {
      try {
        media.push(await convert(bytes));
      } catch (error) {
        throw new DataError(`${reader.paths[0]?.text}: ${messageOf(error)}`, { cause: error });
      }
    }
  }
  return media;
}

/** A row that is corrupt has none of the columns that are made; its own are checked all the same. */
function drawnOrPlain(fields: Fields, drawn: (fields: Fields, draw: number) => Fields): Fields {
  try {
    return drawn(fields, 0);
  } catch (error) {
    if (error instanceof DataError) return fields;
    throw error;
  }
}

function drawQuestion(value: unknown, path: ColumnPath, draw: number): unknown {
  if (Array.isArray(value) && value.length > 0) return value[draw % value.length];
  throw new DataError(`${path.text}: expected a list of questions, got ${typeOf(value)}`);
}

/** The facts of a struct, or of the text of its JSON. */
function structOf(value: unknown, path: ColumnPath): Fields {
  if (value === null || value === undefined) return {};
  let struct = value;
  if (typeof value === 'string') {
    try {
      struct = JSON.parse(value);
    } catch (error) {
      throw new DataError(`${path.text}: is no valid JSON: ${messageOf(error)}`, { cause: error });
    }
  }
  if (typeOf(struct) === 'struct') return struct as Fields;
  throw new DataError(`${path.text}: expected a struct, got ${typeOf(struct)}`);
}

const SCALARS = ['string', 'number', 'boolean'];
const MEDIA = ['struct', 'bytes', 'string', 'list'];

/** A path that a mapping reads, and the types that it takes there; none: any. */
interface Needed {
  readonly path: ColumnPath;
  readonly expected: string;
  readonly accepts: readonly string[];
}

function checkColumns(name: string, needed: readonly Needed[], known: readonly Column[]): void {
  const names = known.map((column) => column.name);
  for (const { path, expected } of needed) {
    if (names.includes(path.column)) continue;
    throw new ConfigError(
      'taskSet.mapping',
      `taskSet.mapping: ${name} reads ${expected} from the column ${JSON.stringify(path.column)}, ` +
        `which the data does not have. It has ${names.join(', ') || 'none'}. Choose another mapping, ` +
        'or write one for these columns.',
    );
  }
}

/** Compares the values of the first rows with what is expected: if none fits, the mapping does not. */
function checkTypes(name: string, needed: Needed, rows: readonly Fields[]): void {
  const { path, expected, accepts } = needed;
  const seen = rows.map((row) => typeOf(valueAt(row, path))).filter((type) => type !== 'null');
  if (seen.length === 0 || accepts.length === 0) return;
  if (seen.some((type) => accepts.includes(type))) return;
  throw new ConfigError(
    'taskSet.mapping',
    `taskSet.mapping: ${name} expects ${expected} (${accepts.join(', ')}) at ` +
      `${JSON.stringify(path.text)}, and the first ${rows.length} rows have ` +
      `${[...new Set(seen)].join(', ')}. Choose another mapping, or write one for these columns.`,
  );
}
