import { expect, it } from 'vitest';
import { crc32c, maskedCrc32c } from './crc32c.ts';
import { encodeEvent, type TensorboardEvent } from './event.ts';
import { encodeRecord } from './record.ts';

it('has the checksums of RFC 3720, appendix B.4', () => {
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
  expect(maskedCrc32c(new Uint8Array())).toBe(0xa282ead8);
});

// Written by RecordWriter of Python's tensorboard 2.20 from the same events.
const wallSeconds = 1700000000.25;
const golden: readonly (readonly [TensorboardEvent, string])[] = [
  [
    { wallSeconds, kind: 'version' },
    '1800000000000000a37f4b220900001040fc54d9411a0d627261696e2e4576656e743a32338d2fe9',
  ],
  [
    { wallSeconds, kind: 'restart', step: 300 },
    '100000000000000095fbfe180900001040fc54d94110ac023a0208016b3b88f1',
  ],
  [
    {
      wallSeconds,
      kind: 'scalars',
      step: 70_000,
      scalars: [
        { tag: 'rl/reward', value: 0.1 },
        { tag: 'rl/rewards/größe/mean', value: -3.5 },
      ],
    },
    '410000000000000000a9c2ab0900001040fc54d94110f0a2042a320a100a09726c2f72657761726415cdcccc3d' +
      '0a1e0a17726c2f726577617264732f6772c3b6c39f652f6d65616e15000060c0d344d77a',
  ],
];

it.each(golden)('writes %o as TensorBoard does', (event, hex) => {
  expect(encodeRecord(encodeEvent(event)).toString('hex')).toBe(hex);
});
