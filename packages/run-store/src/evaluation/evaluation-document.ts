/** `evaluation.json`: which model was evaluated, on which suites, and how its samples are drawn. */
import { join } from 'node:path';
import { writeDurably } from '../durable-files.ts';
import { type FileSystemOption, nodeFileSystem } from '../file-system.ts';
import { formatSealed, readSealed } from '../sealed-json.ts';
import type { Damage, Read } from '../store-error.ts';

/** Version of the evaluation directory that this package writes. It reads no later one. */
export const EVALUATION_SCHEMA = 1;

/** The model that was evaluated. Two evaluations are of one model if `identity` is the same. */
export interface EvaluatedModel {
  /** A checkpoint of a run, a directory with weights, or a model behind a chat API. */
  readonly kind: 'checkpoint' | 'weights' | 'chat';
  /** For people, in one line: `runs/mine, step 640`, `chat:small-vlm`. */
  readonly label: string;
  /**
   * SHA-256 (hex) of the weights; of a chat model, of its name and address, as nobody sees its
   * weights.
   */
  readonly identity: string;
  /** Directory of the weights, or the address of the server; informative. */
  readonly source: string;
  /** Steps of the run done before the checkpoint. */
  readonly step?: number;
  /** The name as the server calls it; chat models only. */
  readonly chatModel?: string;
}

/** How the samples of a suite are drawn. */
export interface SuiteSampling {
  readonly temperature: number;
  /** 0 keeps all tokens. */
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly maxTurnTokens: number;
  readonly maxContextTokens: number;
}

/** A suite as it was evaluated. */
export interface StoredSuite {
  readonly name: string;
  /** One sentence for people. */
  readonly description: string;
  /** Samples of each task. It may grow; everything else of a suite stays. */
  readonly k: number;
  readonly sampling: SuiteSampling;
  /** Everything else that decides about samples and scores: units with all their settings; JSON. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** SHA-256 (hex) of `sampling` and `settings`. */
  readonly settingsSha256: string;
  /** How many tasks, and the SHA-256 (hex) of their digests in order. */
  readonly tasks: { readonly count: number; readonly sha256: string };
}

/** The content of `evaluation.json`. */
export interface EvaluationDocument {
  readonly schema: number;
  readonly model: EvaluatedModel;
  /** Seed of every sample. */
  readonly seed: number;
  readonly suites: readonly StoredSuite[];
}

const REMEDY = 'Restore it from a copy, or evaluate again with another --out.';

function pathIn(directory: string): string {
  return join(directory, 'evaluation.json');
}

/** Whether a directory holds an evaluation, whole or not. */
export function isEvaluation(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): boolean {
  return fileSystem.status(pathIn(directory)) !== undefined;
}

/** Writes `evaluation.json`, replacing it in one step. @throws StoreError if it cannot */
export function writeEvaluationDocument(
  directory: string,
  document: Omit<EvaluationDocument, 'schema'>,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): void {
  const fields = { schema: EVALUATION_SCHEMA, ...document };
  writeDurably(fileSystem, pathIn(directory), formatSealed('evaluation', fields));
}

/** Reads `evaluation.json`; undefined with the damage if it is missing or not as it was written. */
export function readEvaluationDocument(
  directory: string,
  { fileSystem = nodeFileSystem }: FileSystemOption = {},
): Read<EvaluationDocument | undefined> {
  const path = pathIn(directory);
  const { value, damage } = readSealed(fileSystem, path, 'evaluation', REMEDY);
  if (value === undefined) return { value: undefined, damage };
  const problem = problemOf(value.isChecked, value.fields.schema);
  if (problem === undefined) {
    return { value: value.fields as unknown as EvaluationDocument, damage };
  }
  const found: Damage = { path, problem, remedy: REMEDY };
  return { value: undefined, damage: [...damage, found] };
}

function problemOf(isChecked: boolean, schema: unknown): string | undefined {
  if (!isChecked) return 'its checksum is missing, so it was changed after it was written';
  if (schema === EVALUATION_SCHEMA) return undefined;
  return `it has schema ${String(schema)}, and this version of Saccade reads ${EVALUATION_SCHEMA}`;
}
