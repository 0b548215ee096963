/** The parts of peers that need no library: models, processes, and what they may not get wrong. */
import type { DType } from '@saccade/core';
import { add, openDevice, referenceBackend } from '@saccade/ops';
import { describe, expect, it } from 'vitest';
import { prepareCase } from '../prepared-case.ts';
import { takeTurns } from '../take-turns.ts';
import { runBesidePeers } from './beside-peers.ts';
import { startJsonLines } from './json-lines.ts';
import { localPeer } from './local-peer.ts';
import { encodeOnnx } from './onnx-model.ts';
import { onnxTask } from './onnx-recipes.ts';
import { missingPeers } from './open-peers.ts';
import type { Peer, PeerArray, PeerTask } from './peer.ts';

describe('missingPeers', () => {
  it('names those asked for that a backend has nothing of', () => {
    const jaxJs: Peer = {
      name: 'jax-js',
      version: '1',
      prepare: async () => 'nothing',
      dispose: async () => {},
    };
    const found = { peers: [jaxJs], absent: ['tfjs: is not installed.'] };
    expect(missingPeers('jax-js, tfjs, torch', found)).toEqual([
      'torch: has nothing for this backend.',
    ]);
    expect(missingPeers(true, found)).toEqual([]);
    expect(missingPeers(undefined, found)).toEqual([]);
  });
});

describe('encodeOnnx', () => {
  it('writes what the format says', () => {
    const bytes = encodeOnnx({
      nodes: [
        { op: 'Gemm', inputs: ['x'], outputs: ['y'], ints: { transB: 1 }, floats: { a: 0.5 } },
      ],
      inputs: [{ name: 'x', type: 'float32', shape: [2, 300] }],
      outputs: [{ name: 'y', type: 'int32', shape: [2] }],
    });
    // Field by field from onnx.proto3 and the encoding guide of protocol buffers.
    const hex = [
      '0809', // ir_version 9
      '3a5a', // graph, 90 bytes
      '0a2a', // node, 42 bytes
      '0a0178 120179 2204 47656d6d', // input x, output y, op_type Gemm
      '2a0d 0a06 7472616e7342 1801 a00102', // attribute transB: i 1, type INT
      '2a0b 0a0161 150000003f a00101', // attribute a: f 0.5, type FLOAT
      '3a00', // domain
      '1205 6772617068', // name "graph"
      '5a14 0a0178 120f 0a0d 0801 1209 0a020802 0a0308ac02', // input x: FLOAT [2, 300]
      '620f 0a0179 120a 0a08 0806 1204 0a020802', // output y: INT32 [2]
      '4204 0a00 1014', // opset 20
      '4211 0a0d 636f6d2e6d6963726f736f6674 1001', // com.microsoft 1
    ].join('');
    expect(Buffer.from(bytes).toString('hex')).toBe(hex.replaceAll(' ', ''));
  });
});

describe('onnxTask', () => {
  const values = (dtype: DType, shape: readonly number[]): PeerArray => {
    const length = shape.reduce((a, b) => a * b, 1);
    return {
      dtype,
      shape,
      data: dtype === 'i32' ? new Int32Array(length) : new Uint16Array(length),
    };
  };
  const task: PeerTask = {
    op: 'linearLogprob',
    pass: 'forward',
    dtype: 'f16',
    dims: { N: 2, D: 3, V: 5 },
    scalars: { temperature: 1 },
    inputs: {
      hidden: values('f16', [2, 3]),
      weight: values('f16', [5, 3]),
      targets: values('i32', [2]),
    },
    gradOutputs: {},
  };
  const textOf = (model: Uint8Array): string => Buffer.from(model).toString('latin1');

  it('takes what a provider has on its device', () => {
    const [cpu, gpu] = (['cpu', 'webgpu'] as const).map((provider) => onnxTask(task, provider));
    if (typeof cpu !== 'object' || typeof gpu !== 'object') throw new Error(`${cpu} ${gpu}`);
    expect(textOf(cpu.model)).toContain('LogSoftmax');
    expect(textOf(gpu.model)).not.toContain('LogSoftmax');
    expect(gpu.feeds.hidden).toMatchObject({ type: 'float16', shape: [2, 3] });
    // A column, as GatherElements takes it.
    expect(gpu.feeds.targets).toMatchObject({ type: 'int32', shape: [2, 1] });
  });

  it('says what it has not', () => {
    expect(onnxTask({ ...task, pass: 'both' }, 'webgpu')).toBe('has no backward');
    expect(onnxTask({ ...task, scalars: { temperature: 2 } }, 'webgpu')).toMatch(/temperature 1/);
  });
});

describe('startJsonLines', () => {
  const echo = `
    console.log(JSON.stringify({ version: 1 }));
    require('readline').createInterface({ input: process.stdin })
      .on('line', (line) => console.log(JSON.stringify({ got: JSON.parse(line) })))`;

  it('asks and gets answers, and ends the process when it is closed', async () => {
    const child = await startJsonLines(process.execPath, ['-e', echo], 'nothing');
    expect(child.ready).toEqual({ version: 1 });
    expect(await child.ask({ do: 'time' })).toEqual({ got: { do: 'time' } });
    await child.close();
  });

  it('says what is needed and what the process said if it ends', async () => {
    const fails = startJsonLines(process.execPath, ['-e', 'throw Error("no module")'], 'torch');
    await expect(fails).rejects.toThrow(/needs torch.*said[\s\S]*no module/);
    await expect(startJsonLines('/nowhere/python', [], 'torch')).rejects.toThrow(/ENOENT/);
  });
});

describe('takeTurns', () => {
  it('goes round, leaves the first round out, and runs short things many times', async () => {
    const calls: string[] = [];
    const side = (name: string, seconds: number) => async (launches: number) => {
      calls.push(`${name}${launches}`);
      return seconds;
    };
    const times = await takeTurns([side('a', 1), side('b', 0.001)], { rounds: 7, seconds: 1e-3 });
    expect(times).toEqual([Array(5).fill(1), Array(5).fill(0.001)]);
    expect(calls).toEqual(['a1', 'b1', 'b1', ...Array(6).fill(['a1', 'b20']).flat()]);
  });
});

describe('runBesidePeers', () => {
  const peerThatAdds = (error: number): Peer =>
    localPeer({
      name: 'adder',
      version: '1',
      async prepare({ inputs }) {
        const [a, b] = ['a', 'b'].map((name) => inputs[name]?.data as Float32Array);
        const y = a?.map((value, i) => value + (b?.[i] ?? 0) + error) ?? [];
        return { run: async () => {}, read: async () => ({ y }), dispose: async () => {} };
      },
    });
  const measure = async (peers: readonly Peer[], dtype: 'f32' | 'bf16' = 'f32') => {
    const device = openDevice(referenceBackend());
    const stored = { ...add, inputs: { ...add.inputs } };
    const prepared = prepareCase(device, stored, { dims: { N: 3, D: 4 } }, 'f32', ['forward']);
    try {
      const task = { ...prepared, dtype };
      return await runBesidePeers(device, task, 'forward', peers, { rounds: 5, seconds: 0.01 });
    } finally {
      prepared.dispose();
      device.dispose();
    }
  };

  it('waits once for all that a peer queues, and takes no time from its first run', async () => {
    const calls: string[] = [];
    const queue = localPeer({
      name: 'queue',
      version: '1',
      prepare: async () => ({
        run: () => void calls.push('run'),
        wait: async () => void calls.push('wait'),
        read: async () => ({}),
        dispose: async () => {},
      }),
    });
    const task = { dtype: 'f32' } as PeerTask;
    const run = await queue.prepare(task);
    if (typeof run === 'string') throw new Error(run);
    expect(run.firstSeconds).toBeUndefined();
    expect(await run.time(3)).toBeGreaterThan(0);
    expect(calls).toEqual(['run', 'run', 'run', 'wait']);
  });

  it('times a peer that gives our result on our data', async () => {
    const { ours, peers } = await measure([peerThatAdds(0)]);
    expect(ours?.count).toBeGreaterThanOrEqual(5);
    expect(peers).toMatchObject([{ peer: 'adder', ratio: { count: ours?.count } }]);
  });

  it('runs a peer that is far behind once, and not in turns', async () => {
    let runs = 0;
    const slow: Peer = {
      ...peerThatAdds(0),
      async prepare(task) {
        const run = await peerThatAdds(0).prepare(task);
        if (typeof run === 'string') return run;
        const time = async () => {
          runs++;
          return 1000;
        };
        return { ...run, firstSeconds: 1000, time };
      },
    };
    const { ours, peers } = await measure([slow]);
    expect(ours).toBeUndefined();
    expect(peers).toMatchObject([{ peer: 'adder', seconds: { median: 1000, count: 1 } }]);
    expect(runs).toBe(0);
  });

  it('does not time a wrong answer', async () => {
    const { ours, peers } = await measure([peerThatAdds(0.1)]);
    expect(ours).toBeUndefined();
    expect(peers).toMatchObject([
      { missing: expect.stringMatching(/another y than ours, by 0.0/) },
    ]);
    const nan = await measure([peerThatAdds(Number.NaN)]);
    expect(nan.peers).toMatchObject([{ missing: expect.stringMatching(/by Infinity/) }]);
  });

  it('says why a peer is missing, and times nothing without one', async () => {
    expect(await measure([peerThatAdds(0)], 'bf16')).toEqual({
      peers: [{ peer: 'adder', missing: 'computes in float32 here, not bf16' }],
    });
    const broken = localPeer({
      name: 'broken',
      version: '1',
      prepare: async () => {
        throw new Error('no such kernel\nat …');
      },
    });
    expect(await measure([broken])).toEqual({
      peers: [{ peer: 'broken', missing: 'fails: no such kernel' }],
    });
  });
});
