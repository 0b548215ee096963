/** The protocol-buffer messages of TensorBoard's event files that scalars take. */

/** A scalar under its tag. */
interface Scalar {
  readonly tag: string;
  readonly value: number;
}

/** One event. A `restart` tells readers to forget what they know from its step on. */
export type TensorboardEvent =
  | { readonly wallSeconds: number; readonly kind: 'version' }
  | { readonly wallSeconds: number; readonly kind: 'restart'; readonly step: number }
  | {
      readonly wallSeconds: number;
      readonly kind: 'scalars';
      readonly step: number;
      readonly scalars: readonly Scalar[];
    };

/** Wire types of protocol buffers. */
const [VARINT, FIXED64, LENGTH, FIXED32] = [0, 1, 2, 5];

/** tensorflow.Event: 1 wall_time, 2 step, 3 file_version, 5 summary, 7 session_log. */
export function encodeEvent(event: TensorboardEvent): Buffer {
  const wallTime = Buffer.alloc(8);
  wallTime.writeDoubleLE(event.wallSeconds);
  const head = [key(1, FIXED64), wallTime];
  if (event.kind === 'version')
    return Buffer.concat([...head, bytes(3, Buffer.from('brain.Event:2'))]);
  head.push(key(2, VARINT), varint(event.step));
  // tensorflow.SessionLog: 1 status, whose START is 1.
  if (event.kind === 'restart') return Buffer.concat([...head, bytes(7, Buffer.from([8, 1]))]);
  const values = event.scalars.map((scalar) => bytes(1, encodeScalar(scalar)));
  return Buffer.concat([...head, bytes(5, Buffer.concat(values))]);
}

/** tensorflow.Summary.Value: 1 tag, 2 simple_value. */
function encodeScalar({ tag, value }: Scalar): Buffer {
  const number = Buffer.alloc(4);
  number.writeFloatLE(value);
  return Buffer.concat([bytes(1, Buffer.from(tag)), key(2, FIXED32), number]);
}

const key = (field: number, wire: number): Buffer => varint(field * 8 + wire);

const bytes = (field: number, content: Buffer): Buffer =>
  Buffer.concat([key(field, LENGTH), varint(content.length), content]);

/** A non-negative integer, seven bits a byte, the lowest first. */
function varint(value: number): Buffer {
  const digits: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) digits.push((rest % 128) + 128);
  return Buffer.from([...digits, rest]);
}
