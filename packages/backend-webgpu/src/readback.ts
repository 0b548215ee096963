/** Copies to the host in queue order, each with the record of failures as it was at that point. */
import type { MemoryUse } from '@saccade/ops';
import { PooledMemory } from '@saccade/ops/backend';
import type { Failures } from './failures.ts';
import { MAP_READ } from './gpu-constants.ts';
import type { GpuBuffers, GpuMemory } from './gpu-memory.ts';
import type { Recorder } from './recorder.ts';
import { FAILURE_RECORD_BYTES } from './shader-text.ts';

/** Bytes of a buffer to read; 4-byte words, as copies need them. */
export interface Span {
  readonly memory: GpuMemory;
  readonly start: number;
  readonly end: number;
}

export class Readback {
  readonly #buffers: GpuBuffers;
  readonly #staging: PooledMemory<GpuMemory>;
  readonly #recorder: Recorder;
  readonly #failures: Failures;
  /** Bytes of one staging buffer at most. */
  readonly #largest: number;

  constructor(buffers: GpuBuffers, recorder: Recorder, failures: Failures, largest: number) {
    this.#buffers = buffers;
    this.#staging = new PooledMemory('webgpu', buffers);
    this.#recorder = recorder;
    this.#failures = failures;
    this.#largest = largest;
  }

  /**
   * Queues the copies at once and resolves when they are here.
   *
   * @param span  absent if only the end of the queue is awaited
   * @throws DataError  the first failure of the launches before it
   */
  async read(span: Span | undefined): Promise<Uint8Array<ArrayBuffer>> {
    const wholeBytes = span === undefined ? 0 : span.end - span.start;
    const pieceBytes = this.#largest - FAILURE_RECORD_BYTES;
    const count = Math.max(1, Math.ceil(wholeBytes / pieceBytes));
    const { record } = this.#failures;
    const mark = this.#failures.mark();
    const pieces = Array.from({ length: count }, (_, i) => {
      const offset = i * pieceBytes;
      const sizeBytes = Math.min(pieceBytes, wholeBytes - offset);
      const memory = this.#staging.take(FAILURE_RECORD_BYTES + sizeBytes);
      this.#recorder.copy(record.buffer, 0, memory.buffer, 0, FAILURE_RECORD_BYTES);
      if (span !== undefined && sizeBytes > 0) {
        const { buffer } = span.memory;
        const from = span.start + offset;
        this.#recorder.copy(buffer, from, memory.buffer, FAILURE_RECORD_BYTES, sizeBytes);
      }
      return { memory, offset, sizeBytes };
    });
    this.#recorder.submit();
    const bytes = new Uint8Array(wholeBytes);
    const words = new Uint32Array(FAILURE_RECORD_BYTES / 4);
    try {
      // All are awaited, so that none is still mapped when it is reused.
      const mapped = await Promise.allSettled(
        pieces.map(({ memory, sizeBytes }) =>
          memory.buffer.mapAsync(MAP_READ, 0, FAILURE_RECORD_BYTES + sizeBytes),
        ),
      );
      for (const outcome of mapped) if (outcome.status === 'rejected') throw outcome.reason;
      for (const { memory, offset, sizeBytes } of pieces) {
        const range = memory.buffer.getMappedRange(0, FAILURE_RECORD_BYTES + sizeBytes);
        if (offset === 0) words.set(new Uint32Array(range, 0, words.length));
        bytes.set(new Uint8Array(range, FAILURE_RECORD_BYTES, sizeBytes), offset);
      }
    } finally {
      for (const { memory } of pieces) {
        if (memory.buffer.mapState === 'mapped') memory.buffer.unmap();
        this.#staging.give(memory);
      }
    }
    const failure = this.#failures.check(words, mark);
    if (failure !== undefined) throw failure;
    return bytes;
  }

  /** Bytes of the staging buffers; no array's memory is among them. */
  get use(): MemoryUse {
    return this.#staging.use;
  }

  dispose(): void {
    this.#buffers.dispose();
  }
}
