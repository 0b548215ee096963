/** Duplicates among tasks: the same question about the same image, or about one that looks the same. */
import { createHash } from 'node:crypto';
import type { EventSink } from '@saccade/core';
import type { Split, Task } from '@saccade/gym';
import { type DHash, dHash, hammingDistance, pixelHash } from '../images/image-hash.ts';
import type { DataSource } from '../sources/data-source.ts';
import { RowSet } from './row-set.ts';

/** How duplicates are found. */
export interface DuplicateOptions {
  /** `exact`: equal pixels and texts. `perceptual`: also images whose hashes are near. */
  readonly by: 'exact' | 'perceptual';
  /** Bits of 64 in which the hashes of two images that look the same may differ. */
  readonly maxDistance: number;
  readonly onEvent?: EventSink;
}

/** Rows that are left out of one source's training split. */
export interface LeftOut {
  readonly source: string;
  /** Equal to an earlier row of this or another source. */
  readonly repeated: number;
  /** With an image that a held-out row has. */
  readonly heldOut: number;
}

/**
 * Leaves duplicates out of the training splits: rows whose image a held-out row of any source has, and
 * all but the first of rows with the same texts and images. Every row is decoded once; 16 bytes of it
 * are kept.
 */
export async function leaveDuplicatesOut(
  sources: readonly DataSource[],
  options: DuplicateOptions,
): Promise<readonly LeftOut[]> {
  const heldOut = new Index(options);
  await eachTask(sources, 'heldOut', options.onEvent, async (task) => {
    for (const image of task.images) heldOut.add(await signatureOf(image.png, '', options));
  });
  const seen = new Index(options);
  const found: LeftOut[] = [];
  for (const source of sources) {
    const dropped = new RowSet(Math.max(1, source.size('train')));
    let [repeated, shown] = [0, 0];
    await eachTask([source], 'train', options.onEvent, async (task, number) => {
      for (const image of task.images) {
        if (!heldOut.has(await signatureOf(image.png, '', options))) continue;
        shown++;
        dropped.add(number);
        return;
      }
      const signature = await signatureOfTask(task, options);
      if (seen.has(signature)) {
        repeated++;
        dropped.add(number);
      } else {
        seen.add(signature);
      }
    });
    if (repeated + shown > 0) source.leaveOut((number) => dropped.has(number));
    found.push({ source: source.name, repeated, heldOut: shown });
  }
  return found;
}

/** Tasks whose rows can be used, in the order of their numbers. */
async function eachTask(
  sources: readonly DataSource[],
  split: Split,
  onEvent: EventSink | undefined,
  visit: (task: Task, number: number) => Promise<void>,
): Promise<void> {
  for (const source of sources) {
    const total = source.size(split);
    for (let number = 0; number < total; number++) {
      const task = await source.mapped(split, number);
      if (typeof task !== 'string') await visit(task, number);
      const note = `rows of ${source.name} compared`;
      onEvent?.({ kind: 'progress', stage: 'duplicates', done: number + 1, total, note });
    }
  }
}

/** What is compared: texts and pixels exactly, or texts exactly and images nearly. */
interface Signature {
  /** 64 bits of a SHA-256. */
  readonly exact: DHash;
  readonly image?: DHash;
}

async function signatureOf(
  png: Uint8Array,
  text: string,
  { by }: DuplicateOptions,
): Promise<Signature> {
  if (by === 'perceptual') return { exact: wordsOf(text), image: await dHash(png) };
  return { exact: wordsOf(`${text}\0${await pixelHash(png)}`) };
}

async function signatureOfTask(task: Task, options: DuplicateOptions): Promise<Signature> {
  const asked = `${task.question.trim().replace(/\s+/g, ' ')}\0${task.answer.trim()}`;
  const videos = (task.videos ?? []).map(({ encoded }) => {
    return createHash('sha256').update(encoded).digest('hex');
  });
  const [first, ...others] = task.images;
  const rest = await Promise.all(others.map(({ png }) => pixelHash(png)));
  const text = [asked, ...videos, ...rest].join('\0');
  return first ? await signatureOf(first.png, text, options) : { exact: wordsOf(text) };
}

function wordsOf(text: string): DHash {
  const digest = createHash('sha256').update(text).digest();
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}

/** Words of an entry: two of the text, two of the image. */
const WORDS = 4;

/**
 * Signatures that were seen. Near images are found by bands: of hashes that differ in at most d bits,
 * one of d + 1 bands is equal (Manku et al. 2007), so only entries with an equal band are compared.
 */
class Index {
  readonly #bands: readonly Map<number, number[]>[];
  readonly #maxDistance: number;
  #entries: Uint32Array = new Uint32Array(WORDS * 1024);
  #count = 0;

  constructor({ by, maxDistance }: DuplicateOptions) {
    this.#maxDistance = by === 'exact' ? 0 : maxDistance;
    this.#bands = Array.from({ length: this.#maxDistance + 1 }, () => new Map<number, number[]>());
  }

  add({ exact, image }: Signature): void {
    if (WORDS * (this.#count + 1) > this.#entries.length) {
      const larger = new Uint32Array(2 * this.#entries.length);
      larger.set(this.#entries);
      this.#entries = larger;
    }
    const compared = image ?? exact;
    this.#entries.set([...exact, ...compared], WORDS * this.#count);
    this.#keys(exact, compared).forEach((key, band) => {
      const known = this.#bands[band] as Map<number, number[]>;
      const list = known.get(key);
      if (list === undefined) known.set(key, [this.#count]);
      else list.push(this.#count);
    });
    this.#count++;
  }

  has({ exact, image }: Signature): boolean {
    const compared = image ?? exact;
    return this.#keys(exact, compared).some((key, band) =>
      (this.#bands[band]?.get(key) ?? []).some((entry) => {
        const [a, b, c, d] = this.#entries.subarray(WORDS * entry, WORDS * (entry + 1));
        if (a !== exact[0] || b !== exact[1]) return false;
        return hammingDistance(compared, [c ?? 0, d ?? 0]) <= this.#maxDistance;
      }),
    );
  }

  /** A number for each band of the image, mixed with the text, which must be equal anyway. */
  #keys([text]: DHash, [low, high]: DHash): readonly number[] {
    const count = this.#bands.length;
    return this.#bands.map((_, band) => {
      let bits = 0;
      const [from, to] = [Math.floor((64 * band) / count), Math.floor((64 * (band + 1)) / count)];
      for (let bit = from; bit < to; bit++) {
        const word = bit < 32 ? low : high;
        bits = Math.imul(bits, 2) | ((word >>> (bit & 31)) & 1);
        if ((bit - from) % 31 === 30) bits = Math.imul(bits, 0x9e3779b1);
      }
      return (Math.imul(bits, 0x85ebca6b) ^ text) >>> 0;
    });
  }
}
