/** A server's answer to a call, as an outcome: bounded text, checked images. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import type { CapturedImage, Outcome } from '@saccade/sandbox';
import { readBase64Image } from '../read-image.ts';

/** Characters of all text of an answer that are kept. */
const MOST_CHARACTERS = 64 * 1024;
/** As of an execution in the sandbox. */
const MOST_IMAGES = 8;

/**
 * - `ok` with the text as `stdout` and the images; what is left out is said in the text;
 * - `exception` of the type `ToolRefused` where the server says that it is an error.
 */
export async function readResult(result: CallToolResult, wallMs: number): Promise<Outcome> {
  const texts: string[] = [];
  const images: CapturedImage[] = [];
  const truncated = new Set<'stdout' | 'images'>();
  const leaveOut = (what: string, why: string): void => {
    truncated.add('images');
    texts.push(`[${what} is left out: ${why}.]`);
  };
  for (const block of result.content) {
    const part = partOf(block);
    if (part.kind === 'text') texts.push(part.text);
    else if (images.length === MOST_IMAGES)
      leaveOut('An image', `there are ${MOST_IMAGES} already`);
    else {
      const image = await readBase64Image(part.data);
      if ('problem' in image) leaveOut('An image', image.problem);
      else images.push(image);
    }
  }
  const { structuredContent } = result;
  if (texts.length === 0 && images.length === 0 && structuredContent !== undefined) {
    texts.push(JSON.stringify(structuredContent));
  }
  let said = texts.join('\n');
  if (said.length > MOST_CHARACTERS) {
    // Not in the middle of a character of two halves.
    said = said.slice(0, MOST_CHARACTERS).replace(/[\ud800-\udbff]$/, '');
    truncated.add('stdout');
  }
  const measured = { wallMs, cpuMs: 0, maxRssKb: 0, tier: 'none' };
  const common = { stderr: '', images, truncated: [...truncated], ...measured };
  if (result.isError !== true) return { kind: 'ok', stdout: said, ...common };
  const message = said.trim() === '' ? 'The tool gave no reason.' : said.trim();
  const error = { type: 'ToolRefused', message, traceback: `ToolRefused: ${message}` };
  return { kind: 'exception', stdout: '', error, ...common };
}

type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly data: string };

function partOf(block: ContentBlock): Part {
  const text = (said: string): Part => ({ kind: 'text', text: said });
  switch (block.type) {
    case 'text':
      return text(block.text);
    case 'image':
      return { kind: 'image', data: block.data };
    case 'audio':
      return text(`[Sound (${block.mimeType.slice(0, 100)}) is left out.]`);
    case 'resource_link':
      return text(`${block.name}: ${block.uri}`);
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return text(resource.text);
      if (resource.mimeType?.startsWith('image/') === true) {
        return { kind: 'image', data: resource.blob };
      }
      return text(`[A file (${(resource.mimeType ?? 'of no type').slice(0, 100)}) is left out.]`);
    }
  }
}
