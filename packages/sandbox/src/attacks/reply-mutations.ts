/** Replies that a session could write: from good ones, by changes that know their structure. */

/** Numbers from a seed, so that a failure can be had again (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 up to `below`. */
  roll(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  pick<Value>(values: readonly [Value, ...Value[]]): Value {
    return values[this.roll(values.length)] ?? values[0];
  }
}

/** A reply before it is bytes. */
interface Draft {
  kind: number;
  number: number;
  header: string;
  blobs: Uint8Array[];
}

const png = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
  Buffer.from('IHDR'),
  Buffer.from([0, 0, 0, 9, 0, 0, 0, 4, 8, 2, 0, 0, 0, 1, 2, 3, 4]),
]);
const measured = { wallMs: 1.5, cpuMs: 2, maxRssKb: 30_000 };
const quiet = { stdout: '', stderr: '', images: [], error: null, truncated: [], repairs: [] };
const error = { type: 'ValueError', message: 'no', traceback: 'Traceback', line: 3 };
const image = { source: 'image', origin: { image: 'photo', map: [1, 0, 0, 0, 1, 0] } };

/** Replies that sessions really write. */
const corpus: readonly [Draft, ...Draft[]] = [
  draft(1, 0, { cpuMs: 3 }),
  draft(2, 0, { message: 'OSError: no' }),
  draft(3, 0, { image: 0, message: 'no' }),
  draft(3, 0, { video: 'film is no video' }),
  draft(4, 1, { kind: 'ok', ...quiet, ...measured }),
  draft(4, 1, { kind: 'exception', ...quiet, ...measured, error, rolledBack: true }),
  draft(4, 1, { kind: 'ok', ...quiet, ...measured, stdout: 'é\u0000"\\', images: [image] }, [png]),
  draft(4, 1, { kind: 'ok', ...quiet, ...measured, images: [{ source: 'file', file: 'a.png' }] }, [
    png,
  ]),
  draft(4, 1, {
    ...{ kind: 'ok', ...quiet, ...measured, truncated: ['stdout'] },
    repairs: [{ kind: 'cropBox', before: '(0, 0)', after: '(1, 1)', line: 1 }],
  }),
  draft(5, 1, { cause: 'exit', message: '', signal: 9, exitCode: 0, ...measured }),
];

function draft(kind: number, number: number, header: unknown, blobs: Uint8Array[] = []): Draft {
  return { kind, number, header: JSON.stringify(header), blobs };
}

const numbers = [0, 1, 2, 19, 20, 21, 255, 65_536, 2 ** 24, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];
/** In place of a value of the header. */
const values: readonly [string, ...string[]] = [
  ...(['null', 'true', '[]', '{}', '""', '-1', '1e999', '-0', '1e-400', '0.5', '[[]]'] as const),
  ...['{"toString":1,"valueOf":1}', '{"__proto__":null}', '"infraError"', '"\\ud800"', '[null]'],
  ...['9007199254740993', '{"length":4294967295}', '"__proto__"', '"ok"', '"file"', '[0,0,0,0]'],
];

/** The bytes of one reply: good in one of sixteen, else changed in up to four ways. */
export function mutatedReply(dice: Dice): Buffer {
  const { kind, number, header, blobs } = dice.pick(corpus);
  const own: Draft = { kind, number, header, blobs: [...blobs] };
  const changes = dice.roll(16) === 0 ? 0 : 1 + dice.roll(4);
  for (let change = 0; change < changes; change++) changeDraft(own, dice);
  let bytes = encode(own);
  for (let change = 0; change < changes; change++) bytes = changeBytes(bytes, dice);
  return bytes;
}

function encode({ kind, number, header, blobs }: Draft): Buffer {
  const text = Buffer.from(header);
  const lengths = Buffer.alloc(4 * blobs.length);
  blobs.forEach((blob, index) => {
    lengths.writeUInt32LE(blob.length, 4 * index);
  });
  const body = Buffer.concat([text, lengths, ...blobs]);
  const record = Buffer.alloc(20);
  [kind, number, text.length, blobs.length, body.length].forEach((value, index) => {
    record.writeUInt32LE(value, 4 * index);
  });
  return Buffer.concat([record, body]);
}

function changeDraft(own: Draft, dice: Dice): void {
  const change = dice.roll(9);
  if (change === 0) own.kind = dice.roll(8);
  else if (change === 1) own.blobs.push(dice.roll(2) === 0 ? png : new Uint8Array(dice.roll(64)));
  else if (change === 2) own.blobs.pop();
  else if (change === 3) own.header = nested(own.header, dice);
  else if (change === 4) own.header = own.header.slice(0, dice.roll(own.header.length + 1));
  else if (change === 5) own.header = own.header.replace(/"[a-z]+":/i, `${dice.pick(values)}:`);
  else own.header = withOtherValue(own.header, dice);
}

function nested(header: string, dice: Dice): string {
  const depth = 1 << dice.roll(12);
  const [open, close] = dice.roll(2) === 0 ? ['[', ']'] : ['{"a":', '}'];
  return header.replace(/:[^,}]*/, `:${open.repeat(depth)}0${close.repeat(depth)}`);
}

/** One of the header's values, by chance, is another. */
function withOtherValue(header: string, dice: Dice): string {
  const colons = [...header.matchAll(/:/g)].map(({ index }) => index);
  const at = colons[dice.roll(colons.length + 1)];
  if (at === undefined) return header;
  const rest = header.slice(at + 1);
  const value = /^("(?:[^"\\]|\\.)*"|\[[^\]]*\]|[^,}\]]*)/.exec(rest)?.[0] ?? '';
  return `${header.slice(0, at + 1)}${dice.pick(values)}${rest.slice(value.length)}`;
}

function changeBytes(bytes: Buffer, dice: Dice): Buffer {
  const change = dice.roll(10);
  if (bytes.length === 0) return bytes;
  if (change < 2) {
    const field = 4 * dice.roll(5);
    if (field + 4 > bytes.length) return bytes;
    const value = numbers[dice.roll(numbers.length)] ?? 0;
    const near = (bytes.readUInt32LE(field) + dice.roll(5) - 2) >>> 0;
    bytes.writeUInt32LE(dice.roll(2) === 0 ? value : near, field);
    return bytes;
  }
  const at = dice.roll(bytes.length);
  if (change === 2) return bytes.subarray(0, at);
  if (change === 3) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at >> 1)]);
  if (change === 4) return Buffer.concat([bytes, Buffer.alloc(dice.roll(64), dice.roll(256))]);
  if (change === 5) bytes[at] = dice.roll(256);
  if (change === 6) bytes[at] = (bytes[at] ?? 0) ^ (1 << dice.roll(8));
  return bytes;
}
