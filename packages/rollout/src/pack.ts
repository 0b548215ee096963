/**
 * Trajectories as a policy scores them: packed segments and the tokens to score. A group's prompt,
 * with its images, is one root that all its trajectories continue.
 */
import { ConfigError, DataError } from '@saccade/core';
import type { ModelImage, PackedBatch, PackedSegment } from '@saccade/policy';
import type { Segment, Trajectory, TrajectoryImage } from '@saccade/trajectory';
import type { ModelImages } from './model-images.ts';

/** A trajectory to train on. */
export interface PackItem {
  readonly trajectory: Trajectory;
  /** Whether to leave it out: none of its tokens train or count. Default false. */
  readonly isMasked?: boolean;
}

/** Options of `packTrajectories`. */
export interface PackOptions {
  readonly images: ModelImages;
  /** Most packed tokens in a micro-batch; a single trajectory that has more gets one to itself. */
  readonly maxTokens: number;
  /** Whether a group's prompt is packed once; else once per trajectory. Default true. */
  readonly sharedPrefix?: boolean;
}

/**
 * The input of one scoring call to the policy. Arrays of a loss have this order: sequence by
 * sequence, and in each the model's tokens in the trajectory's order.
 */
export interface MicroBatch {
  readonly packed: PackedBatch;
  /** [S] which of the items each sequence is. */
  readonly itemIndices: Int32Array;
  /** [S+1] sequence s owns scored tokens [offsets[s], offsets[s+1]). */
  readonly sequenceOffsets: Int32Array;
  /** Packed tokens, scored or not: what the policy computes. */
  readonly tokenCount: number;
}

/** Trajectories as micro-batches of packed tokens, ready for `policy.forwardBackward`. */
export interface Packing {
  readonly microBatches: readonly MicroBatch[];
  /** Denominators of the whole step: scored tokens, and sequences that have any. */
  readonly counts: { readonly tokens: number; readonly sequences: number };
  /** Indices of items left out: masked, or without a model token. */
  readonly skipped: readonly number[];
}

/** Trajectories with one prompt, and which items they are. */
interface PromptGroup {
  readonly prompt: Segment;
  readonly members: readonly { readonly index: number; readonly item: PackItem }[];
}

/**
 * Packs trajectories into micro-batches. The order is that of the items, except that trajectories
 * with one prompt stand together. A group is split over micro-batches only if it does not fit into
 * one, and then every part has its own copy of the prompt.
 *
 * Scored are the model's tokens and nothing else. The first of them is predicted by the last token
 * of the prompt, which a shared root holds once: that row then stands once per trajectory.
 *
 * @throws DataError if a trajectory was not sampled (`tokenSource`)
 */
export async function packTrajectories(
  items: readonly PackItem[],
  options: PackOptions,
): Promise<Packing> {
  const { maxTokens, sharedPrefix = true } = options;
  if (!(maxTokens >= 1)) {
    throw new ConfigError('pack.maxTokens', `maxTokens must be at least 1, is ${maxTokens}.`);
  }
  for (const { trajectory } of items) {
    if (trajectory.tokenSource === undefined) continue;
    throw new DataError(
      `Trajectory ${trajectory.id} was made from text, not sampled, so it cannot be trained on. ` +
        'Roll it out, or demonstrate it; for supervised training give its texts to the cold start `given`.',
    );
  }
  const skipped = items.flatMap((item, index) => (hasTokens(item) ? [] : [index]));
  const groups = groupByPrompt(items).flatMap((group) => split(group, maxTokens, sharedPrefix));
  const microBatches: MicroBatch[] = [];
  let open: PromptGroup[] = [];
  let openTokens = 0;
  const close = async (): Promise<void> => {
    if (open.length > 0) microBatches.push(await packGroups(open, options));
    open = [];
    openTokens = 0;
  };
  for (const group of groups) {
    const cost = costOf(group, sharedPrefix);
    if (openTokens + cost > maxTokens) await close();
    open.push(group);
    openTokens += cost;
  }
  await close();
  const tokens = microBatches.reduce((sum, one) => sum + one.packed.targets.length, 0);
  const sequences = microBatches.reduce((sum, one) => sum + one.itemIndices.length, 0);
  return { microBatches, counts: { tokens, sequences }, skipped };
}

function hasTokens(item: PackItem): boolean {
  return !item.isMasked && item.trajectory.segments.some((segment) => segment.kind === 'model');
}

function groupByPrompt(items: readonly PackItem[]): readonly PromptGroup[] {
  const byTask = new Map<
    string,
    { prompt: Segment; members: PromptGroup['members'][number][] }[]
  >();
  const groups: PromptGroup[] = [];
  items.forEach((item, index) => {
    const [prompt] = item.trajectory.segments;
    if (prompt === undefined || !hasTokens(item)) return;
    const { taskId } = item.trajectory;
    const known = byTask.get(taskId) ?? [];
    byTask.set(taskId, known);
    const group = known.find((one) => isSamePrompt(one.prompt, prompt));
    if (group !== undefined) {
      group.members.push({ index, item });
      return;
    }
    const fresh = { prompt, members: [{ index, item }] };
    known.push(fresh);
    groups.push(fresh);
  });
  return groups;
}

function isSamePrompt(a: Segment, b: Segment): boolean {
  return (
    isSame(a.tokens, b.tokens) &&
    a.images.length === b.images.length &&
    a.images.every((image, index) => isSame(image.png, b.images[index]?.png ?? new Uint8Array(0)))
  );
}

function isSame(a: Int32Array | Uint8Array, b: Int32Array | Uint8Array): boolean {
  return a === b || (a.length === b.length && a.every((value, index) => value === b[index]));
}

function lengthAfterPrompt(trajectory: Trajectory): number {
  return trajectory.segments.slice(1).reduce((sum, segment) => sum + segment.tokens.length, 0);
}

function costOf(group: PromptGroup, sharedPrefix: boolean): number {
  const own = group.members.reduce((sum, one) => sum + lengthAfterPrompt(one.item.trajectory), 0);
  return own + group.prompt.tokens.length * (sharedPrefix ? 1 : group.members.length);
}

/** The group in as few parts as fit, usually one. */
function split(
  group: PromptGroup,
  maxTokens: number,
  sharedPrefix: boolean,
): readonly PromptGroup[] {
  const parts: PromptGroup[] = [];
  for (const member of group.members) {
    const last = parts.at(-1);
    const grown = { prompt: group.prompt, members: [...(last?.members ?? []), member] };
    if (last !== undefined && costOf(grown, sharedPrefix) <= maxTokens) {
      parts[parts.length - 1] = grown;
    } else {
      parts.push({ prompt: group.prompt, members: [member] });
    }
  }
  return parts;
}

async function packGroups(
  groups: readonly PromptGroup[],
  options: PackOptions,
): Promise<MicroBatch> {
  const packer = new Packer(options.images);
  for (const { prompt, members } of groups) {
    if (options.sharedPrefix ?? true) {
      const root = await packer.add([prompt], -1);
      for (const { index, item } of members) {
        const own = item.trajectory.segments.slice(1);
        const start = await packer.add(own, root.segment);
        packer.score(own, start.token, root.token + prompt.tokens.length - 1, index);
      }
    } else {
      for (const { index, item } of members) {
        const [, ...own] = item.trajectory.segments;
        const { token } = await packer.add(item.trajectory.segments, -1);
        const first = token + prompt.tokens.length;
        packer.score(own, first, first - 1, index);
      }
    }
  }
  return packer.finish();
}

/** Lays segments out one after another and lists the tokens to score. */
class Packer {
  readonly #images: ModelImages;
  readonly #segments: PackedSegment[] = [];
  readonly #rows: number[] = [];
  readonly #targets: number[] = [];
  readonly #items: number[] = [];
  readonly #offsets: number[] = [0];
  #tokenCount = 0;

  constructor(images: ModelImages) {
    this.#images = images;
  }

  /** Appends ledger segments as one packed segment; gives its index and its first token's. */
  async add(
    segments: readonly Segment[],
    parent: number,
  ): Promise<{ segment: number; token: number }> {
    const length = segments.reduce((sum, segment) => sum + segment.tokens.length, 0);
    const tokens = new Int32Array(length);
    let at = 0;
    for (const segment of segments) {
      tokens.set(segment.tokens, at);
      at += segment.tokens.length;
    }
    const images = await this.#prepare(segments.flatMap((segment) => segment.images));
    const token = this.#tokenCount;
    this.#segments.push({ tokens, parent, images });
    this.#tokenCount += length;
    return { segment: this.#segments.length - 1, token };
  }

  /**
   * Lists the model tokens of `segments`, the first of which stands at `first`; `before` is the
   * token that precedes it in its context.
   */
  score(segments: readonly Segment[], first: number, before: number, item: number): void {
    let at = first;
    for (const segment of segments) {
      if (segment.kind === 'model') {
        segment.tokens.forEach((token, offset) => {
          const position = at + offset;
          this.#rows.push(position === first ? before : position - 1);
          this.#targets.push(token);
        });
      }
      at += segment.tokens.length;
    }
    this.#items.push(item);
    this.#offsets.push(this.#rows.length);
  }

  finish(): MicroBatch {
    return {
      packed: {
        segments: this.#segments,
        rows: Int32Array.from(this.#rows),
        targets: Int32Array.from(this.#targets),
      },
      itemIndices: Int32Array.from(this.#items),
      sequenceOffsets: Int32Array.from(this.#offsets),
      tokenCount: this.#tokenCount,
    };
  }

  #prepare(images: readonly TrajectoryImage[]): Promise<ModelImage[]> {
    return Promise.all(images.map((image) => this.#images.prepareRecorded(image)));
  }
}
