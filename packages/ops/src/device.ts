/**
 * A device is a backend behind checks: shapes and dtypes are checked, dims inferred, fallbacks
 * visible.
 */
import {
  allocate,
  bytesOf,
  convert,
  type DType,
  DtypeError,
  type EventSink,
  encode,
  expectLength,
  formatShape,
  type Shape,
  ShapeError,
  StateError,
  sizeOf,
  span,
  type TypedArray,
} from '@saccade/core';
import type { Backend, BufferView } from './backend.ts';
import { checkInputs, checkSaved, outputDtypes, wantedGradients } from './check-operands.ts';
import type { DeviceArray, DeviceArrays } from './device-array.ts';
import { shapeOf } from './infer-dims.ts';
import { Launcher } from './launcher.ts';
import { gradientDtype, type Op, resolveScalars, type Scalars } from './op.ts';
import { formOf } from './op-form.ts';
import type {
  GradientName,
  GradientsOf,
  GradOutputsOf,
  InputsOf,
  OutputsOf,
  SavedOf,
  ScalarsOf,
} from './operand-types.ts';
import { WorkQueue } from './work-queue.ts';

/** Options of `openDevice`: what happens when the backend has no kernel for a call. */
export interface DeviceOptions {
  /** Throw instead of falling back when the backend lacks a kernel. Default true. */
  readonly strict?: boolean;
  /** Runs what the backend cannot; its use is a `fallback` event. Ignored in strict mode. */
  readonly fallback?: Backend;
  /** Receives the `fallback` events. */
  readonly onEvent?: EventSink;
}

/**
 * A backend behind checks: every call checks shapes, dtypes and scalars against the op's
 * declaration before any work. Calls run in order; `read` and `synchronize` wait for them. After
 * `dispose`, calls that need the backend throw a StateError.
 */
export interface Device {
  readonly backend: Backend;
  /**
   * Allocates an uninitialized array.
   *
   * @throws ShapeError  if a length is negative or not an integer
   */
  alloc(dtype: DType, shape: Shape): DeviceArray;
  /** Returns an array's memory once the work queued so far has run. */
  free(array: DeviceArray): void;
  /**
   * Allocates an array and writes `data` to it, row-major, converted to `dtype`.
   *
   * @throws ShapeError  if `data` does not have the shape's number of elements
   * @throws DtypeError  if `dtype` is i32 and a value is not an integer
   */
  upload(dtype: DType, shape: Shape, data: ArrayLike<number>): DeviceArray;
  /** Allocates an array of zeros. */
  zeros(dtype: DType, shape: Shape): DeviceArray;
  /**
   * Replaces an array's contents, converted like `upload`. The caller may reuse `data` on return.
   */
  write(array: DeviceArray, data: ArrayLike<number>): void;
  /**
   * Replaces an array's contents with elements as its dtype stores them: 16-bit floats as their
   * patterns. The caller may reuse `stored` on return.
   *
   * @throws ShapeError  if it has another number of elements
   * @throws DtypeError  if its elements have another size
   */
  writeStored(array: DeviceArray, stored: TypedArray): void;
  /**
   * Waits for the work queued before it and copies an array to the host: f64 as Float64Array, other
   * floats as Float32Array, i32 as Int32Array. Rejects with the first failure of that work.
   */
  read(array: DeviceArray): Promise<Float32Array | Float64Array | Int32Array>;
  /** Like `read`, as the array's dtype stores the elements: 16-bit floats as their patterns. */
  readStored(array: DeviceArray): Promise<TypedArray>;
  /**
   * Runs an op's forward and returns its outputs by name. They are freshly allocated, except those
   * declared `inPlaceOf` an input, which are that input's array.
   *
   * @throws ShapeError, DtypeError, UnsupportedError before any work
   */
  forward<O extends Op>(
    op: O,
    inputs: InputsOf<O, DeviceArray>,
    scalars?: ScalarsOf<O>,
  ): OutputsOf<O, DeviceArray>;
  /**
   * Runs an op's backward and returns fresh arrays with the gradients of the inputs in `wanted`, by
   * default of all differentiable inputs that are present. A missing output gradient counts as
   * zero.
   *
   * @throws ShapeError, DtypeError, UnsupportedError before any work
   */
  backward<O extends Op, Wanted extends GradientName<O> = never>(
    op: O,
    gradOutputs: GradOutputsOf<O, DeviceArray>,
    inputs: InputsOf<O, DeviceArray>,
    outputs: SavedOf<O, DeviceArray>,
    scalars?: ScalarsOf<O>,
    wanted?: readonly Wanted[],
  ): GradientsOf<O, Wanted, DeviceArray>;
  /** Waits for all queued work; rejects with the first failure. */
  synchronize(): Promise<void>;
  /** Bytes allocated on the device now; 0 after `dispose`. */
  allocatedBytes(): number;
  /** Frees all arrays and the backend. May be called again. */
  dispose(): void;
}

/** Opens a device on a backend, which from then on belongs to it and is disposed with it. */
export function openDevice(backend: Backend, options: DeviceOptions = {}): Device {
  return new BackendDevice(backend, options);
}

class BackendDevice implements Device {
  readonly backend: Backend;
  readonly #launcher: Launcher;
  readonly #queue = new WorkQueue();
  #isDisposed = false;

  constructor(backend: Backend, options: DeviceOptions) {
    this.backend = backend;
    this.#launcher = new Launcher(backend, this.#queue, options);
  }

  alloc(dtype: DType, shape: Shape): DeviceArray {
    this.#expectOpen();
    for (const length of shape) {
      if (!Number.isInteger(length) || length < 0) {
        throw new ShapeError(
          `Cannot allocate ${formatShape(shape)}: ${length} is not a length. ` +
            'Pass integers that are not negative.',
        );
      }
    }
    const length = sizeOf(shape);
    const buffer = this.backend.alloc(Math.max(length, 1) * bytesOf(dtype));
    return { view: { buffer, offsetBytes: 0, dtype, length }, shape: shape.slice() };
  }

  free(array: DeviceArray): void {
    if (this.#isDisposed) return;
    this.#queue.add(() => this.backend.free(array.view.buffer));
  }

  upload(dtype: DType, shape: Shape, data: ArrayLike<number>): DeviceArray {
    expectLength(`Data for ${formatShape(shape)}`, data.length, sizeOf(shape));
    const array = this.alloc(dtype, shape);
    this.write(array, data);
    return array;
  }

  zeros(dtype: DType, shape: Shape): DeviceArray {
    const array = this.alloc(dtype, shape);
    const { view } = array;
    if (view.length === 0) return array;
    const { backend } = this;
    this.#queue.add(() => {
      if (backend.clear !== undefined) backend.clear(view);
      // As stored: converting each of them would take longer than the copy.
      else backend.write(view, allocate(dtype, view.length));
    });
    return array;
  }

  write(array: DeviceArray, data: ArrayLike<number>): void {
    this.#expectOpen();
    expectLength(`Data for ${formatShape(array.shape)}`, data.length, array.view.length);
    const stored = storedAs(data, array.view.dtype);
    this.#write(array.view, stored, stored === data);
  }

  writeStored(array: DeviceArray, stored: TypedArray): void {
    this.#expectOpen();
    const { shape, view } = array;
    expectLength(`Data for ${formatShape(shape)}`, stored.length, view.length);
    if (stored.BYTES_PER_ELEMENT !== bytesOf(view.dtype)) {
      throw new DtypeError(
        `An element of ${view.dtype} has ${bytesOf(view.dtype)} bytes, got elements of ` +
          `${stored.BYTES_PER_ELEMENT}. Pass the array that core's allocate makes for the dtype.`,
      );
    }
    this.#write(view, stored, true);
  }

  #write(view: BufferView, stored: TypedArray, isCallers: boolean): void {
    if (view.length === 0) return;
    // Deferred work must not see later changes that the caller makes to its array.
    const bytes = isCallers && !this.#queue.isIdle ? stored.slice() : stored;
    this.#queue.add(() => this.backend.write(view, bytes));
  }

  read({ view }: DeviceArray): Promise<Float32Array | Float64Array | Int32Array> {
    return this.#read(view, (stored) => decoded(stored, view.dtype));
  }

  readStored({ view }: DeviceArray): Promise<TypedArray> {
    return this.#read(view, (stored) => stored);
  }

  // One async function, so that waits settle in the order of the calls.
  async #read<Read>(view: BufferView, give: (stored: TypedArray) => Read): Promise<Read> {
    this.#expectOpen();
    if (!this.#queue.isClear) await this.#queue.drain();
    if (view.length === 0) return give(allocate(view.dtype, 0));
    return give((await this.backend.read(view)) as TypedArray);
  }

  forward<O extends Op>(
    op: O,
    inputs: InputsOf<O, DeviceArray>,
    given?: ScalarsOf<O>,
  ): OutputsOf<O, DeviceArray> {
    return span('launches/forward', () =>
      this.#forward(op, inputs as DeviceArrays, given as Scalars),
    ) as OutputsOf<O, DeviceArray>;
  }

  backward<O extends Op, Wanted extends GradientName<O> = never>(
    op: O,
    gradOutputs: GradOutputsOf<O, DeviceArray>,
    inputs: InputsOf<O, DeviceArray>,
    outputs: SavedOf<O, DeviceArray>,
    given?: ScalarsOf<O>,
    wanted?: readonly Wanted[],
  ): GradientsOf<O, Wanted, DeviceArray> {
    const [grads, ins, outs] = [gradOutputs, inputs, outputs] as DeviceArrays[];
    return span('launches/backward', () =>
      this.#backward(op, grads, ins, outs, given as Scalars, wanted),
    ) as GradientsOf<O, Wanted, DeviceArray>;
  }

  #forward(op: Op, inputs: DeviceArrays, given?: Scalars): Record<string, DeviceArray> {
    this.#expectOpen();
    const scalars = resolveScalars(op, given);
    const dims = checkInputs(op, inputs);
    const outputs: Record<string, DeviceArray> = {};
    const dtypes = outputDtypes(op, (name) => inputs[name]?.view.dtype);
    const plan = this.#launcher.plan(op, 'forward', dims, scalars, ({ role, name }) =>
      role === 'input' ? inputs[name]?.view.dtype : dtypes[name],
    );
    for (const name of formOf(op).outputs) {
      const operand = op.outputs[name];
      const inPlace = operand.inPlaceOf === undefined ? undefined : inputs[operand.inPlaceOf];
      outputs[name] = inPlace ?? this.alloc(dtypes[name] as DType, shapeOf(operand, dims));
    }
    this.#launcher.launch(plan, ({ role, name }) =>
      role === 'input' ? inputs[name]?.view : outputs[name].view,
    );
    return outputs;
  }

  #backward(
    op: Op,
    gradOutputs: DeviceArrays,
    inputs: DeviceArrays,
    outputs: DeviceArrays,
    given?: Scalars,
    wanted?: readonly string[],
  ): Record<string, DeviceArray> {
    this.#expectOpen();
    const scalars = resolveScalars(op, given);
    const dims = checkInputs(op, inputs);
    checkSaved(op, gradOutputs, outputs, dims);
    const names = wantedGradients(op, inputs, wanted);
    const plan = this.#launcher.plan(op, 'backward', dims, scalars, ({ role, name }) => {
      if (role === 'gradOutput') return gradOutputs[name]?.view.dtype;
      if (role === 'gradInput' && !names.includes(name)) return undefined;
      const dtype = (role === 'output' ? outputs : inputs)[name]?.view.dtype;
      return role === 'gradInput' && dtype !== undefined
        ? gradientDtype(op.inputs[name], dtype)
        : dtype;
    });
    const gradients: Record<string, DeviceArray> = {};
    for (const name of names) {
      const { view, shape } = inputs[name] as DeviceArray;
      gradients[name] = this.alloc(gradientDtype(op.inputs[name], view.dtype), shape);
    }
    const from = { gradOutput: gradOutputs, input: inputs, output: outputs, gradInput: gradients };
    this.#launcher.launch(plan, ({ role, name }) => from[role][name]?.view);
    return gradients;
  }

  async synchronize(): Promise<void> {
    this.#expectOpen();
    if (!this.#queue.isClear) await this.#queue.drain();
    await this.backend.synchronize();
  }

  allocatedBytes(): number {
    return this.#isDisposed ? 0 : this.backend.allocatedBytes();
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#queue.add(() => this.backend.dispose());
  }

  #expectOpen(): void {
    if (this.#isDisposed) {
      throw new StateError(
        `The device on backend ${this.backend.name} was disposed. Open another with openDevice.`,
      );
    }
  }
}

/** `data` as the host array a backend stores for `dtype`; itself where it already is one. */
function storedAs(data: ArrayLike<number>, dtype: DType): TypedArray {
  if (dtype === 'f32' && data instanceof Float32Array) return data;
  if (dtype === 'f64' && data instanceof Float64Array) return data;
  if (dtype === 'i32' && data instanceof Int32Array) return data;
  const isFloat = data instanceof Float32Array && dtype !== 'i32';
  return isFloat ? convert(data, 'f32', dtype) : encode(data, dtype);
}

function decoded(stored: TypedArray, dtype: DType): Float32Array | Float64Array | Int32Array {
  if (!(stored instanceof Uint16Array)) return stored;
  return convert(stored, dtype, 'f32') as Float32Array;
}
