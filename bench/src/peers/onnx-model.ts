/**
 * ONNX models as bytes: as much of the format as a graph of one or a few nodes needs.
 *
 * Field numbers are those of onnx.proto3; the wire format is that of protocol buffers.
 */

export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** `com.microsoft` for what ONNX Runtime adds. */
  readonly domain?: string;
  readonly ints?: Readonly<Record<string, number>>;
  readonly floats?: Readonly<Record<string, number>>;
}

export type OnnxElement = keyof typeof ELEMENT;

export interface OnnxTensorType {
  readonly name: string;
  readonly type: OnnxElement;
  readonly shape: readonly number[];
}

export interface OnnxGraph {
  readonly nodes: readonly OnnxNode[];
  readonly inputs: readonly OnnxTensorType[];
  readonly outputs: readonly OnnxTensorType[];
}

const ELEMENT = { float32: 1, int32: 6, int64: 7, float16: 10 } as const;
const [IR_VERSION, OPSET] = [9, 20] as const;

/** The ModelProto of a graph. */
export function encodeOnnx({ nodes, inputs, outputs }: OnnxGraph): Uint8Array {
  const graph = [
    ...nodes.map((node) => message(1, encodeNode(node))),
    text(2, 'graph'),
    ...inputs.map((input) => message(11, encodeType(input))),
    ...outputs.map((output) => message(12, encodeType(output))),
  ];
  return Uint8Array.from([
    ...integer(1, IR_VERSION),
    ...message(7, graph.flat()),
    ...message(8, [...text(1, ''), ...integer(2, OPSET)]),
    ...message(8, [...text(1, 'com.microsoft'), ...integer(2, 1)]),
  ]);
}

function encodeNode({ op, inputs, outputs, domain, ints, floats }: OnnxNode): number[] {
  return [
    ...inputs.flatMap((name) => text(1, name)),
    ...outputs.flatMap((name) => text(2, name)),
    ...text(4, op),
    ...Object.entries(ints ?? {}).flatMap(([name, value]) =>
      message(5, [...text(1, name), ...integer(3, value), ...integer(20, 2)]),
    ),
    ...Object.entries(floats ?? {}).flatMap(([name, value]) =>
      message(5, [...text(1, name), ...float(2, value), ...integer(20, 1)]),
    ),
    ...text(7, domain ?? ''),
  ];
}

function encodeType({ name, type, shape }: OnnxTensorType): number[] {
  const dims = shape.flatMap((length) => message(1, integer(1, length)));
  const tensor = [...integer(1, ELEMENT[type]), ...message(2, dims)];
  return [...text(1, name), ...message(2, message(1, tensor))];
}

/** A whole number in groups of seven bits, the lowest first. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}

const integer = (field: number, value: number): number[] => [
  ...varint(field * 8),
  ...varint(value),
];

const float = (field: number, value: number): number[] => [
  ...varint(field * 8 + 5),
  ...new Uint8Array(Float32Array.of(value).buffer),
];

const message = (field: number, bytes: readonly number[]): number[] => [
  ...varint(field * 8 + 2),
  ...varint(bytes.length),
  ...bytes,
];

const text = (field: number, value: string): number[] =>
  message(field, [...new TextEncoder().encode(value)]);
