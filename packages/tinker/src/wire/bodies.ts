/** Bodies of requests and answers as bytes: JSON, or safetensors with the JSON in its header. */
import { DataError } from '@saccade/core';
import { decodeSafetensors, encodeSafetensors } from '@saccade/nn/files';
import {
  isWireTensor,
  mapTree,
  REFERENCE,
  resolveReference,
  tensorDataOf,
  type WireTensor,
} from './tensors.ts';

/** Content type of a binary body. */
export const BINARY = 'application/x-safetensors';
const JSON_TYPE = 'application/json';

/** A body as it is sent. */
export interface EncodedBody {
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A JSON tree with tensors in it, as bytes. */
export function encodeBody(tree: unknown, form: 'json' | 'binary'): EncodedBody {
  if (form === 'json') {
    const plain = mapTree(tree, (node) => (isWireTensor(node) ? tensorDataOf(node) : undefined));
    return { contentType: JSON_TYPE, bytes: new TextEncoder().encode(JSON.stringify(plain)) };
  }
  const arrays = new Map<string, WireTensor>();
  const referring = mapTree(tree, (node) => {
    if (!isWireTensor(node)) return undefined;
    const name = `t${arrays.size}`;
    arrays.set(name, node);
    return { [REFERENCE]: name };
  });
  const metadata = { body: JSON.stringify(referring) };
  return { contentType: BINARY, bytes: encodeSafetensors({ arrays, metadata }) };
}

/**
 * The JSON tree of a body, with tensors in the place of references.
 *
 * @param what names the source in errors
 * @param parse reads JSON within the limits of who reads; default without
 * @throws DataError if the body is damaged
 */
export function decodeBody(
  what: string,
  contentType: string | null | undefined,
  bytes: Uint8Array,
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  if (!isBinary(contentType)) return parse(textOf(what, bytes));
  const { arrays, metadata } = decodeSafetensors(what, bytes);
  if (metadata.body === undefined) {
    throw new DataError(`${what} has no "body" in the metadata of its safetensors header.`);
  }
  return mapTree(parse(metadata.body), (node) => resolveReference(node, arrays));
}

function isBinary(contentType: string | null | undefined): boolean {
  return contentType?.split(';')[0]?.trim().toLowerCase() === BINARY;
}

function textOf(what: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new DataError(`${what} is not UTF-8 text.`, { cause });
  }
}
