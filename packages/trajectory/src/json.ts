/**
 * A trajectory as one line of JSON. Its images are separate files, under the names that the line
 * gives; no pixels are ever in the JSON. Runs in a browser; reading and writing files is in
 * `files.ts`.
 */

import { DataError, messageOf } from '@saccade/core';
import { type AffineMap, readAffineMap } from './affine.ts';
import { checkTrajectory } from './check.ts';
import { JsonFields } from './json-fields.ts';
import {
  type Action,
  boundaries,
  type Failure,
  failureCauses,
  type ScoredTrajectory,
  type Segment,
  segmentKinds,
  stopReasons,
  type ToolResult,
  type Trajectory,
  type TrajectoryImage,
  type TrajectoryTruncation,
  type Turn,
  tokenSources,
  toolResultKinds,
} from './trajectory.ts';

/** Facts a writer wants beside a trajectory, e.g. `{ step: 12, split: 'train' }`. */
export type Tags = Readonly<Record<string, string | number | boolean>>;

/** One line of a trajectory file. */
export interface StoredTrajectory {
  readonly trajectory: Trajectory | ScoredTrajectory;
  readonly tags: Tags;
}

/** A line before its images are loaded: `png` is empty, `files` tells where each is. */
export interface TrajectoryLine extends StoredTrajectory {
  /** File of every image, by the image's name. */
  readonly files: Readonly<Record<string, string>>;
}

/** Whether rewards have been added. */
export function isScored(trajectory: Trajectory): trajectory is ScoredTrajectory {
  return typeof (trajectory as Partial<ScoredTrajectory>).reward === 'number';
}

/**
 * A trajectory as one line of JSON, without the newline.
 *
 * @param fileOf the name of the file an image is kept in
 * @throws DataError if the trajectory breaks its invariants
 */
export function formatTrajectoryLine(
  trajectory: Trajectory | ScoredTrajectory,
  fileOf: (image: TrajectoryImage) => string,
  tags: Tags = {},
): string {
  checkTrajectory(trajectory);
  const segments = trajectory.segments.map((segment) => ({
    kind: segment.kind,
    text: segment.text,
    tokens: Array.from(segment.tokens),
    ...(segment.logprobs && { logprobs: Array.from(segment.logprobs, shortest) }),
    ...(segment.keptMass && { keptMass: Array.from(segment.keptMass, shortest) }),
    images: segment.images.map((image) => ({ ...image, png: undefined, file: fileOf(image) })),
    policyVersion: segment.policyVersion,
  }));
  const { id, taskId, sampleIndex, stopReason, failure, policyVersion, answer, turns } = trajectory;
  const { isBaseline = false, tokenSource, truncation } = trajectory;
  const scores = isScored(trajectory)
    ? {
        reward: trajectory.reward,
        rewardTerms: trajectory.rewardTerms,
        turnRewards: trajectory.turnRewards,
        isCorrect: trajectory.isCorrect,
      }
    : {};
  return JSON.stringify({
    id,
    taskId,
    sampleIndex,
    ...(isBaseline && { isBaseline }),
    policyVersion,
    tokenSource,
    truncation,
    stopReason,
    answer,
    failure,
    ...scores,
    tags,
    turns,
    segments,
  });
}

/** Nine digits are enough to give every float32 back, bit for bit. */
function shortest(value: number): number {
  return Number(value.toPrecision(9));
}

/**
 * Reads one line. Its images have an empty `png`: load them with `withImages`.
 *
 * @param where names the line in messages, e.g. `trajectories.jsonl:12`
 * @throws DataError if the line is not a valid trajectory
 */
export function parseTrajectoryLine(line: string, where = 'trajectory'): TrajectoryLine {
  try {
    const record = new JsonFields(JSON.parse(line));
    const files: Record<string, string> = {};
    const trajectory = parseTrajectory(record, files);
    checkTrajectory(trajectory);
    const tags = record.has('tags') ? record.object('tags') : new JsonFields({});
    return { trajectory, tags: byName(tags, (name) => tags.scalar(name)), files };
  } catch (error) {
    const remedy = 'Remove the line, or write the file again.';
    throw new DataError(`${where}: ${messageOf(error)} ${remedy}`, { cause: error });
  }
}

/** The same line with every image loaded. */
export async function withImages(
  line: TrajectoryLine,
  load: (file: string) => Promise<Uint8Array>,
): Promise<StoredTrajectory> {
  const loadImage = async (image: TrajectoryImage): Promise<TrajectoryImage> => ({
    ...image,
    png: await load(line.files[image.name] ?? image.name),
  });
  const segments = await Promise.all(
    line.trajectory.segments.map(async (segment) => ({
      ...segment,
      images: await Promise.all(segment.images.map(loadImage)),
    })),
  );
  return { trajectory: { ...line.trajectory, segments }, tags: line.tags };
}

type Files = Record<string, string>;

function parseTrajectory(record: JsonFields, files: Files): Trajectory | ScoredTrajectory {
  return {
    id: record.text('id'),
    taskId: record.text('taskId'),
    sampleIndex: record.integer('sampleIndex'),
    ...(record.has('isBaseline') && { isBaseline: record.boolean('isBaseline') }),
    segments: record.objects('segments').map((segment) => parseSegment(segment, files)),
    turns: record.objects('turns').map(parseTurn),
    stopReason: record.oneOf('stopReason', stopReasons),
    policyVersion: record.integer('policyVersion'),
    ...(record.has('tokenSource') && { tokenSource: record.oneOf('tokenSource', tokenSources) }),
    ...(record.has('truncation') && { truncation: parseTruncation(record.object('truncation')) }),
    ...(record.has('answer') && { answer: record.text('answer') }),
    ...(record.has('failure') && { failure: parseFailure(record.object('failure')) }),
    ...(record.has('reward') && parseScores(record)),
  };
}

function parseTruncation(record: JsonFields): TrajectoryTruncation {
  return {
    topK: record.integer('topK'),
    topP: record.number('topP'),
    minP: record.number('minP'),
  };
}

function parseScores(
  record: JsonFields,
): Pick<ScoredTrajectory, 'reward' | 'rewardTerms' | 'turnRewards' | 'isCorrect'> {
  const terms = record.object('rewardTerms');
  return {
    reward: record.number('reward'),
    rewardTerms: byName(terms, (name) => terms.number(name)),
    ...(record.has('turnRewards') && { turnRewards: record.numbers('turnRewards') }),
    isCorrect: record.boolean('isCorrect'),
  };
}

function parseFailure(record: JsonFields): Failure {
  return {
    boundary: record.oneOf('boundary', boundaries),
    message: record.text('message'),
    ...(record.has('cause') && { cause: record.oneOf('cause', failureCauses) }),
  };
}

function parseSegment(record: JsonFields, files: Files): Segment {
  return {
    kind: record.oneOf('kind', segmentKinds),
    tokens: Int32Array.from(record.integers('tokens')),
    ...(record.has('logprobs') && { logprobs: Float32Array.from(record.numbers('logprobs')) }),
    ...(record.has('keptMass') && { keptMass: Float32Array.from(record.numbers('keptMass')) }),
    images: record.objects('images').map((image) => parseImage(image, files)),
    text: record.text('text'),
    ...(record.has('policyVersion') && { policyVersion: record.integer('policyVersion') }),
  };
}

function parseImage(record: JsonFields, files: Files): TrajectoryImage {
  const name = record.text('name');
  files[name] = record.text('file');
  return {
    name,
    png: new Uint8Array(0),
    width: record.integer('width'),
    height: record.integer('height'),
    modelWidth: record.integer('modelWidth'),
    modelHeight: record.integer('modelHeight'),
    tokenCount: record.integer('tokenCount'),
    ...(record.has('origin') && { origin: parseOrigin(record.object('origin')) }),
  };
}

function parseOrigin(record: JsonFields): { image: string; map: AffineMap } {
  const map = readAffineMap(record.numbers('map'));
  if (map === undefined) throw new DataError('origin.map must have six numbers, or four.');
  return { image: record.text('image'), map };
}

function parseTurn(record: JsonFields): Turn {
  return {
    action: parseAction(record.object('action')),
    ...(record.has('result') && { result: parseResult(record.object('result')) }),
    segment: record.integer('segment'),
  };
}

function parseAction(record: JsonFields): Action {
  const kind = record.oneOf('kind', ['code', 'toolCall', 'answer', 'invalid']);
  if (kind === 'code') return { kind, code: record.text('code') };
  if (kind === 'toolCall') {
    return { kind, name: record.text('name'), arguments: record.object('arguments').record };
  }
  if (kind === 'answer') return { kind, answer: record.text('answer') };
  return { kind, reason: record.text('reason') };
}

function parseResult(record: JsonFields): ToolResult {
  return {
    kind: record.oneOf('kind', toolResultKinds),
    stdout: record.text('stdout'),
    stderr: record.text('stderr'),
    ...(record.has('errorType') && { errorType: record.text('errorType') }),
    ...(record.has('errorMessage') && { errorMessage: record.text('errorMessage') }),
    ...(record.has('errorLine') && { errorLine: record.integer('errorLine') }),
    imageCount: record.integer('imageCount'),
    wallMs: record.number('wallMs'),
  };
}

function byName<Value>(
  record: JsonFields,
  read: (name: string) => Value,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(record.names().map((name) => [name, read(name)]));
}
