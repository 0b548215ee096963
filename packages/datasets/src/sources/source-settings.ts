/** Settings of one source of tasks: where it is, how it is read and mapped, and what is held out. */
import {
  count,
  optionalText,
  quantity,
  type SettingsOf,
  text,
  textList,
} from '@saccade/core/settings';
import { z } from 'zod';

const MEGAPIXEL = 2 ** 20;

/** The fields of a source, which task sets add theirs to. */
export const sourceFields = {
  from: z.string().min(1).meta({
    unit: 'path or name',
    description: 'A file, a folder, or hf:datasets/owner/name or the same with @revision.',
  }),
  source: optionalText({
    unit: 'name',
    about: 'Name of the source in ids and metrics; unset: that of its mapping.',
  }),
  format: text({
    default: 'auto',
    unit: 'name',
    about: 'Reader of the files, such as parquet; auto: by their names.',
  }),
  records: optionalText({
    unit: 'key',
    about: 'For JSON: key of the root that has the list of rows; unset: its first list.',
  }),
  mapping: text({
    default: 'auto',
    unit: 'name or path',
    about: 'How rows become tasks: a mapping by name, or a YAML or JSON file of your own.',
  }),
  trainFiles: textList({
    unit: 'patterns',
    about: 'Files of the training split, e.g. data/train-*; unset: by their names.',
  }),
  heldOutFiles: textList({
    unit: 'patterns',
    about: 'Files of the held-out split; unset: those named validation, else test.',
  }),
  heldOutShare: quantity({
    min: 0,
    max: 1,
    default: 0.05,
    unit: 'fraction of rows',
    about: 'Rows that are held out where no file is; whole blocks of neighbors.',
  }),
  cap: count({
    min: 0,
    max: 2 ** 40,
    default: 0,
    unit: 'rows',
    about: 'Most rows of the training split that are used; 0: all of them.',
  }),
  maxCorruptShare: quantity({
    min: 0,
    max: 1,
    default: 0.01,
    unit: 'fraction of rows',
    about: 'Rows that may be corrupt; they are counted, named, and replaced by the next.',
  }),
  maxPixels: count({
    min: 1,
    max: 1024 * MEGAPIXEL,
    default: 64 * MEGAPIXEL,
    unit: 'pixels',
    about: 'Images with more are refused by their header, before they are decoded.',
  }),
  maxRowBytes: count({
    min: 1024,
    max: 2 ** 31,
    default: 2 ** 28,
    unit: 'bytes',
    about: 'Bytes that one row may take, with its images and videos.',
  }),
  shuffleBytes: count({
    min: 0,
    max: 2 ** 32,
    default: 2 ** 25,
    unit: 'bytes in memory',
    about: 'About the bytes of rows that are mixed with each other; 0: rows keep their order.',
  }),
};

/** Settings of one source, e.g. of `DataSource.open`. */
export const sourceSettings = z.strictObject(sourceFields);

/** One source with its defaults filled in. */
export type SourceSettings = SettingsOf<typeof sourceSettings>;
