/** Reads parameters from the files of a checkpoint to a device, in their own element types. */
import {
  bytesOf,
  convert,
  DataError,
  type DType,
  formatShape,
  type Shape,
  sameShape,
  viewBytes,
} from '@saccade/core';
import type { Device } from '@saccade/ops';
import { adopt, type Tensor } from '@saccade/tensor';
import { Checkpoint, type StoredTensor } from './checkpoint.ts';
import type { ParameterSpec } from './parameters.ts';
import { isStoredTransposed, transpose } from './transposed.ts';
import type { StoredNames, WeightLayout } from './weight-layout.ts';

/** Bytes of a file that are on the host at a time. */
const CHUNK_BYTES: number = 1 << 24;

/** The element type of parameters on a device; `checkpoint` is that of each in its file. */
export type ParameterDType = 'checkpoint' | 'f32' | 'bf16';

/** A parameter, and where it is in the files. */
interface Source {
  readonly spec: ParameterSpec;
  readonly stored: StoredTensor;
  /** The element type in the file. */
  readonly dtype: DType;
  /** Which of the parameters in the stored tensor it is. */
  readonly index: number;
  /** Whether the file has its matrices transposed. */
  readonly isTransposed: boolean;
}

/**
 * Reads the parameters of a directory, each by range straight to the device: the host never holds
 * more than a chunk of one tensor, or one matrix of those that a file keeps transposed.
 *
 * @returns the parameters in the order of the specs, and the layout of their files
 * @throws DataError naming the tensor or the file that is missing, damaged, or of another shape or
 *         type; all but a failure while reading before any memory is allocated
 */
export async function loadParameters(
  device: Device,
  directory: string,
  specs: readonly ParameterSpec[],
  { names, dtype }: { readonly names: StoredNames; readonly dtype: ParameterDType },
): Promise<{ readonly parameters: Record<string, Tensor>; readonly layout: WeightLayout }> {
  const checkpoint = await Checkpoint.open(directory);
  const parameters: Record<string, Tensor> = {};
  try {
    const sources = specs.map((spec) => sourceOf(checkpoint, spec, names));
    const chunk = new Uint8Array(CHUNK_BYTES);
    for (const source of sources) {
      const { shape, name } = source.spec;
      const held = dtype === 'checkpoint' ? heldAs(source.dtype) : dtype;
      const tensor = adopt(device, device.alloc(held, shape));
      parameters[name] = tensor;
      await (source.isTransposed ? fillTransposed(tensor, source) : fill(tensor, source, chunk));
    }
    return { parameters, layout: layoutIn(checkpoint, sources) };
  } catch (error) {
    for (const tensor of Object.values(parameters)) tensor.dispose();
    throw error;
  } finally {
    await checkpoint.close();
  }
}

/** @throws DataError if the files lack it, or have it in another shape or without floats */
function sourceOf(checkpoint: Checkpoint, spec: ParameterSpec, names: StoredNames): Source {
  const { name, part, isTransposed: mayBeTransposed = false } = names.storedAs(spec.name);
  const alternatives = names.alternatives(name);
  const stored = checkpoint.find([name, ...alternatives]);
  const where = `in ${checkpoint.directory}`;
  if (stored === undefined) {
    const others = alternatives.length > 0 ? ` (nor as ${alternatives.join(', ')})` : '';
    throw new DataError(
      `The weights ${where} have no "${name}"${others}. Take config.json and the weights from ` +
        'the same place.',
    );
  }
  const [rows = 0, ...rest] = spec.shape;
  const shape: Shape = part === undefined ? spec.shape : [rows * part.of, ...rest];
  const isTransposed = mayBeTransposed && isStoredTransposed(stored.shape, shape);
  if (!isTransposed && !sameShape(stored.shape, shape)) {
    throw new DataError(
      `"${stored.name}" ${where} must be ${formatShape(shape)}, got ` +
        `${formatShape(stored.shape)}. config.json and the weights disagree.`,
    );
  }
  const { dtype } = stored;
  if (dtype === 'i32' || dtype === 'i64' || dtype === 'u8') {
    throw new DataError(
      `"${stored.name}" ${where} holds ${dtype}, expected floats (f64, f32, f16 or bf16). ` +
        'Quantized weights cannot be read; take the checkpoint that they were made from.',
    );
  }
  return { spec, stored, dtype, index: part?.index ?? 0, isTransposed };
}

/** No kernel but an oracle computes in f64. */
function heldAs(dtype: DType): DType {
  return dtype === 'f64' ? 'f32' : dtype;
}

/** Reads a parameter chunk by chunk and converts it to the tensor's element type. */
async function fill(tensor: Tensor, source: Source, chunk: Uint8Array<ArrayBuffer>): Promise<void> {
  const { stored, dtype, index } = source;
  const size = bytesOf(dtype);
  const start = index * tensor.size * size;
  const elements = tensor.reshape([tensor.size]);
  const step = chunk.length / size;
  for (let first = 0; first < tensor.size; first += step) {
    const count = Math.min(step, tensor.size - first);
    await stored.file.read(stored, chunk.subarray(0, count * size), start + first * size);
    const read = viewBytes(dtype, chunk.buffer, 0, count);
    elements.rows(first, first + count).writeStored(convert(read, dtype, tensor.dtype));
  }
}

/** The same, matrix by matrix, where the file has [..., K, N] for a tensor of [..., N, K]. */
async function fillTransposed(tensor: Tensor, { stored, dtype }: Source): Promise<void> {
  const [rows = 1, columns = 1] = tensor.shape.slice(-2);
  const count = rows * columns;
  const bytes = new Uint8Array(count * bytesOf(dtype));
  const elements = tensor.reshape([tensor.size]);
  for (let first = 0; first < tensor.size; first += count) {
    await stored.file.read(stored, bytes, first * bytesOf(dtype));
    const turned = transpose(viewBytes(dtype, bytes.buffer), columns, rows);
    elements.rows(first, first + count).writeStored(convert(turned, dtype, tensor.dtype));
  }
}

/** The layout of a checkpoint's files, without what no parameter is read from. */
function layoutIn(checkpoint: Checkpoint, sources: readonly Source[]): WeightLayout {
  const partsOf = new Map<string, string[]>();
  const transposed = new Set<string>();
  for (const { spec, stored, index, isTransposed } of sources) {
    if (isTransposed) transposed.add(stored.name);
    const parts = partsOf.get(stored.name) ?? [];
    parts[index] = spec.name;
    partsOf.set(stored.name, parts);
  }
  const files = [...checkpoint.files].map(([name, tensors]) => ({
    name,
    tensors: [...tensors.keys()].flatMap((tensor) => {
      const parameters = partsOf.get(tensor);
      if (parameters === undefined) return [];
      return [{ name: tensor, parameters, ...(transposed.has(tensor) && { isTransposed: true }) }];
    }),
  }));
  return { files: files.filter(({ tensors }) => tensors.length > 0) };
}
