/** The declaration of how rows become tasks. It is data: a unit, or a YAML or JSON file of your own. */
import { z } from 'zod';

const path = z.string().min(1);

/**
 * A text: a path (`query`), a template of paths (`{hint}\n{question}`), or a path with what is done
 * to its value.
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
]);

/** How an answer is stored. */
const ANSWERS = ['text', 'all', 'majority', 'index', 'letter', 'choice'] as const;

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
  }),
]);

/** Where choices are: one list, or a column for each. */
const choicesSchema = z.union([
  path,
  z.strictObject({
    /** A list, or a text of several with `separator` between them. */
    value: path,
    separator: z.string().min(1).optional(),
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
    /** A template of a file's name: `images/{image_id}.png`. */
    file: path.optional(),
    /** Folder that file names in values are relative to. */
    folder: path.optional(),
    /** Whether a row may have none. */
    optional: z.boolean().default(false),
  }),
]);

const media = z.union([mediumSchema, z.array(mediumSchema)]);

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
});

/** A declaration with its defaults filled in. */
export type MappingDeclaration = z.output<typeof mappingSchema>;
/** A declaration as it is written. */
export type MappingInput = z.input<typeof mappingSchema>;
export type TextValue = z.output<typeof textSchema>;
export type AnswerValue = z.output<typeof answerSchema>;
export type ChoicesValue = z.output<typeof choicesSchema>;
export type MediumValue = z.output<typeof mediumSchema>;
