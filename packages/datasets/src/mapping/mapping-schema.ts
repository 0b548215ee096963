/** The declaration of how rows become tasks. It is data: a unit, or a YAML or JSON file of your own. */
import { z } from 'zod';

const path = z.string().min(1);

/** Rows whose value at a path is one of these texts. */
const conditionSchema = z.strictObject({ value: path, is: z.array(z.string().min(1)).min(1) });

/**
 * A text: a path (`query`), a template of paths (`{hint}\n{question}`), a path with what is done to
 * its value, or the same words for every row.
 */
const textSchema = z.union([
  path,
  z.strictObject({
    /** A path or a template. */
    value: path,
    /** Parts that are left out, such as `<image>`. */
    without: z.array(z.string().min(1)).optional(),
    /** Regular expression whose first group is the text; where it does not match, the whole is. */
    pattern: z.string().min(1).optional(),
  }),
  z.strictObject({ text: z.string().min(1) }),
]);

/** How an answer is stored. */
const ANSWERS = ['text', 'all', 'majority', 'index', 'letter', 'choice'] as const;

/** What of an answer has to be the same text, where a verifier would let some of it differ. */
const exactSchema = z.strictObject({
  /** Path of a list of YES and NO, one for each element of the answer; what is not YES is NO. */
  flags: path.optional(),
  /** Rows with a flag for each turn: the last one is that of the answer. */
  lastFlag: conditionSchema.optional(),
  /** Rows whose whole answer is exact. */
  rows: conditionSchema.optional(),
});

const answerSchema = z.union([
  path,
  z.strictObject({
    value: path,
    /**
     * `text`: the value. `all`: a list, of which each is right. `majority`: a list of people's
     * answers. `index`: a number of a choice. `letter`: its letter. `choice`: its text.
     */
    as: z.enum(ANSWERS).default('text'),
    /** Number of the first choice. */
    base: z.number().int().min(0).max(1).default(0),
    pattern: z.string().min(1).optional(),
    /** Words for stored values: `{ "0": "No", "1": "Yes" }`. */
    words: z.record(z.string(), z.string()).optional(),
    /** Handed to the verifier with the text, as JSON. */
    exact: exactSchema.optional(),
  }),
]);

/** Where choices are: one list, or a column for each. */
const choicesSchema = z.union([
  path,
  z.strictObject({
    /** A list, or a text of several with `separator` between them. */
    value: path,
    separator: z.string().min(1).optional(),
    /** As that of a text, for each choice: takes letters away that it begins with. */
    pattern: z.string().min(1).optional(),
    /** Whether the question has them already. */
    inQuestion: z.boolean().default(false),
  }),
  z.strictObject({
    columns: z.array(path).min(1),
    inQuestion: z.boolean().default(false),
  }),
]);

/** Where images or videos are: values of columns, or files that a template names. */
const mediumSchema = z.union([
  path,
  z.strictObject({
    /** A path whose value has bytes, is base64, names a file, or is a list of these. */
    value: path.optional(),
    /** A template of a file's name: `images/{image_id}.png`; without an extension: any usual one. */
    file: path.optional(),
    /** Folder that file names in values are relative to. */
    folder: path.optional(),
    /** Path of the SHA-256 of its bytes, in hexadecimal; other bytes are refused. */
    sha256: path.optional(),
    /** Whether a row may have none. */
    optional: z.boolean().default(false),
  }),
]);

const media = z.union([mediumSchema, z.array(mediumSchema)]);

/**
 * A conversation of one row, as lists of its questions and of their answers. The last question is
 * asked. Other paths name it as `turns.question`, its answer as `turns.answer`, and as `turns.text` the
 * question behind all turns before it.
 */
const turnsSchema = z.strictObject({
  questions: path,
  answers: path,
  /** Rows that are conversations; of others `turns.text` is the last question alone. */
  where: conditionSchema.optional(),
});

/** The schema of a declaration. */
export const mappingSchema = z.strictObject({
  question: textSchema,
  images: media.default([]),
  videos: media.default([]),
  answer: answerSchema,
  choices: choicesSchema.optional(),
  /** Facts of a task by name: the paths of their values. */
  metadata: z.record(z.string().min(1), path).default({}),
  /** A struct, or the text of its JSON, whose facts all go into the metadata. */
  metadataFrom: path.optional(),
  /** Path of the data set that a row comes from, where the rows are of several. */
  origin: path.optional(),
  /** Path of the row's own split, where a file has several: `train` or something else. */
  split: path.optional(),
  /** Path of a list of questions of one row; one is drawn, and other paths name it as `each`. */
  each: path.optional(),
  turns: turnsSchema.optional(),
});

/** A declaration with its defaults filled in. */
export type MappingDeclaration = z.output<typeof mappingSchema>;
/** A declaration as it is written. */
export type MappingInput = z.input<typeof mappingSchema>;
export type TextValue = z.output<typeof textSchema>;
export type AnswerValue = z.output<typeof answerSchema>;
export type ChoicesValue = z.output<typeof choicesSchema>;
export type MediumValue = z.output<typeof mediumSchema>;
export type ConditionValue = z.output<typeof conditionSchema>;
export type ExactValue = z.output<typeof exactSchema>;
export type TurnsValue = z.output<typeof turnsSchema>;
