/** Reads an answer's body within a bound, whatever length it declares. */

/** The body has more bytes than the bound. */
export class OversizedBody extends Error {}

/**
 * The text of a response. Reading stops and the connection is dropped at `maxBytes`, so that
 * neither a forged length nor an endless or compressed stream grows memory.
 *
 * @param taken  takes the text or the bytes as they arrive; the result is then empty
 * @throws OversizedBody beyond the bound; errors of the stream
 */
export async function readAnswer(
  response: Response,
  maxBytes: number,
  taken: {
    readonly onPiece?: (piece: string) => void;
    readonly onBytes?: (piece: Uint8Array) => void;
  } = {},
): Promise<string> {
  const { body } = response;
  if (body === null) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel().catch(() => {});
      throw new OversizedBody(`it has more than ${maxBytes} bytes`);
    }
    if (taken.onBytes !== undefined) {
      taken.onBytes(value);
      continue;
    }
    const piece = decoder.decode(value, { stream: true });
    const { onPiece } = taken;
    if (onPiece === undefined) parts.push(piece);
    else if (piece !== '') onPiece(piece);
  }
  parts.push(decoder.decode());
  return parts.join('');
}
