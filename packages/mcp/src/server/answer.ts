/** An outcome as the result of an MCP tool call. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Outcome } from '@saccade/sandbox';
import type { ImageList } from './image-list.ts';

/**
 * Text first, then every image that the session has room for, each under its new name. What the
 * caller did wrong is a result with `isError`, as the protocol has it.
 */
export function answerOf(outcome: Outcome, list: ImageList): CallToolResult {
  const { kind, stdout, images, error } = outcome;
  const texts = stdout.trim() === '' ? [] : [stdout.trim()];
  if (kind !== 'ok') {
    const { type = kind, message = 'It gave no reason.' } = error ?? {};
    texts.push(`${type}: ${message}`);
  }
  const shown = images.flatMap((image) => {
    const added = list.add(image);
    if (added !== undefined) {
      texts.push(`Image: ${added.name} (${added.width} x ${added.height})`);
      return [added];
    }
    texts.push('An image is left out: this session is full. Begin another one.');
    return [];
  });
  return {
    content: [
      ...(texts.length > 0 || shown.length === 0
        ? [{ type: 'text' as const, text: texts.join('\n') || 'Done.' }]
        : []),
      ...shown.map(({ png }) => ({
        type: 'image' as const,
        data: Buffer.from(png).toString('base64'),
        mimeType: 'image/png',
      })),
    ],
    ...(kind !== 'ok' && { isError: true }),
  };
}
