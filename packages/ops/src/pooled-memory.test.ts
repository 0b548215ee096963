import { describe, expect, it } from 'vitest';
import { PooledMemory } from './pooled-memory.ts';

interface Block {
  readonly id: number;
  readonly sizeBytes: number;
}

/** Counts what is taken from the system and given back. */
class CountingSource {
  readonly held = new Map<number, number>();
  allocations = 0;
  /** Capacity in bytes. */
  mostBytes = Number.POSITIVE_INFINITY;

  allocate(sizeBytes: number): Block {
    if (this.heldBytes + sizeBytes > this.mostBytes) throw new Error('out of memory');
    const id = this.allocations++;
    this.held.set(id, sizeBytes);
    return { id, sizeBytes };
  }

  release({ id }: Block): void {
    this.held.delete(id);
  }

  get heldBytes(): number {
    return [...this.held.values()].reduce((sum, size) => sum + size, 0);
  }
}

describe('PooledMemory', () => {
  /** Some buffers of one size, all alive at once. */
  const use = (memory: PooledMemory<Block>, count: number, sizeBytes: number): void => {
    const buffers = Array.from({ length: count }, () => memory.alloc(sizeBytes));
    for (const buffer of buffers) memory.free(buffer);
  };

  it('asks the system for nothing when phases that use other sizes come round again', () => {
    const source = new CountingSource();
    const memory = new PooledMemory('test', source);
    const round = (): void => {
      use(memory, 10, 1 << 20);
      for (let pass = 0; pass < 3; pass++) use(memory, 20, 1 << 14);
    };
    round();
    const { allocations } = source;
    round();
    expect(source.allocations).toBe(allocations);
  });

  it('holds little more than was in use at once, and gives up the size unused for longest', () => {
    const source = new CountingSource();
    const memory = new PooledMemory('test', source);
    use(memory, 16, 1 << 16);
    for (const sizeBytes of [1 << 17, 1 << 18, 1 << 19]) {
      use(memory, (1 << 20) / sizeBytes, sizeBytes);
      expect(source.heldBytes).toBeLessThanOrEqual(1.25 * (1 << 20));
    }
    expect([...source.held.values()]).not.toContain(1 << 16);
    expect([...source.held.values()].filter((size) => size === 1 << 19)).toHaveLength(2);
    expect(memory.liveBytes).toBe(0);
  });

  it('says what is live and what it holds', () => {
    const source = new CountingSource();
    const memory = new PooledMemory('test', source);
    const [a, b] = [memory.alloc(1000), memory.alloc(10)];
    const lent = memory.take(5000);
    expect(memory.use).toEqual({
      liveBuffers: 2,
      liveBytes: 1010,
      heldBuffers: 3,
      heldBytes: source.heldBytes,
    });
    memory.give(lent);
    memory.free(a);
    use(memory, 4, 1 << 14);
    expect(memory.use).toEqual({
      liveBuffers: 1,
      liveBytes: 10,
      heldBuffers: source.held.size,
      heldBytes: source.heldBytes,
    });
    memory.free(b);
    memory.dispose();
    const nothing = { liveBuffers: 0, liveBytes: 0, heldBuffers: 0, heldBytes: 0 };
    expect(memory.use).toEqual(nothing);
  });

  it('lends memory for a launch without counting it as live', () => {
    const source = new CountingSource();
    const memory = new PooledMemory('test', source);
    const block = memory.take(1000);
    expect(memory.liveBytes).toBe(0);
    memory.give(block);
    expect(memory.take(1000)).toBe(block);
  });

  it('gives up what it keeps before it says that there is no memory', () => {
    const source = new CountingSource();
    const memory = new PooledMemory('test', source);
    source.mostBytes = 1 << 20;
    use(memory, 4, 1 << 18);
    const whole = memory.alloc(1 << 20);
    expect(source.heldBytes).toBe(1 << 20);
    expect(() => memory.alloc(1 << 10)).toThrow('out of memory');
    memory.free(whole);
    expect(memory.releaseFree()).toBe(true);
    expect(source.heldBytes).toBe(0);
    expect(memory.use).toMatchObject({ heldBuffers: 0, heldBytes: 0 });
    expect(memory.releaseFree()).toBe(false);
  });
});
