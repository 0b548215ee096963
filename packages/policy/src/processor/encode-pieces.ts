/** Encodes pieces of a rendered chat, with images in place of their placeholders. */
import { DataError } from '@saccade/core';
import type { ModelImage } from '../batch.ts';
import type { EncodedContent } from '../policy.ts';
import type { MarkupScanner, Piece } from './markup-scanner.ts';
import type { TextCodec } from './text-codec.ts';
import type { Markup, Visuals } from './visuals.ts';

/** A run of one control token, or text. */
type Run = { readonly token: string; readonly count: number } | { readonly text: string };

/** What encodes the chats of a checkpoint. */
export interface PieceEncoder {
  readonly codec: TextCodec;
  readonly scanner: MarkupScanner;
  /** Undefined where there are no images. */
  readonly visuals: Visuals | undefined;
}

/**
 * The tokens of the pieces: those of the whole text, with an expansion for each placeholder.
 *
 * @param images  in order of their placeholders, videos among them
 * @throws DataError if there are more or fewer placeholders than images
 */
export function encodePieces(
  { codec, scanner, visuals }: PieceEncoder,
  pieces: readonly Piece[],
  images: readonly ModelImage[],
): EncodedContent {
  const runs: Run[] = [];
  const waiting = [...images];
  const placed: ModelImage[] = [];
  for (const piece of pieces) {
    const image =
      visuals && 'markup' in piece ? takeImage(visuals, piece.markup, waiting) : undefined;
    if (visuals !== undefined && image !== undefined) {
      placed.push(image);
      for (const part of visuals.expand(image)) addMarkup(runs, codec, scanner, part);
    } else {
      addRun(runs, codec, 'text' in piece ? piece : { token: piece.markup, count: 1 });
    }
  }
  if (waiting.length > 0) {
    throw new DataError(
      `The chat template left out ${waiting.length} of ${images.length} images. Put them where ` +
        'it shows them: most templates show those of users and tools.',
    );
  }
  return { tokens: tokensOf(codec, runs), images: placed };
}

/** The image of a placeholder; undefined for other markup. */
function takeImage(
  { image, video }: Visuals,
  markup: string,
  waiting: ModelImage[],
): ModelImage | undefined {
  if (markup !== image.rendered && markup !== video?.rendered) return undefined;
  const isVideo = markup !== image.rendered;
  const at = waiting.findIndex((one) => (one.video !== undefined) === isVideo);
  const [taken] = at < 0 ? [] : waiting.splice(at, 1);
  if (taken !== undefined) return taken;
  throw new DataError(
    `The chat template shows an ${isVideo ? 'extra video' : 'extra image'} (${markup}). Use the ` +
      'template of the checkpoint.',
  );
}

function addMarkup(runs: Run[], codec: TextCodec, scanner: MarkupScanner, part: Markup): void {
  if (typeof part !== 'string') {
    addRun(runs, codec, part);
    return;
  }
  for (const piece of scanner.scan(part)) {
    addRun(runs, codec, 'text' in piece ? piece : { token: piece.markup, count: 1 });
  }
}

function addRun(runs: Run[], codec: TextCodec, run: Run): void {
  if ('text' in run) addText(runs, run.text);
  else if (codec.find(run.token) !== undefined) runs.push(run);
  // What a tokenizer does not know is text, as `<row_9_col_9>` may be.
  else addText(runs, run.token.repeat(run.count));
}

/** Adjacent texts are encoded as one, since their boundary need not be one of tokens. */
function addText(runs: Run[], text: string): void {
  const last = runs.at(-1);
  if (last !== undefined && 'text' in last) runs[runs.length - 1] = { text: last.text + text };
  else runs.push({ text });
}

function tokensOf(codec: TextCodec, runs: readonly Run[]): Int32Array {
  const tokens: number[] = [];
  for (const [i, run] of runs.entries()) {
    if ('text' in run) {
      const text = withoutTaken(codec, run.text, runs[i - 1], runs[i + 1]);
      for (const token of codec.encode(text)) tokens.push(token);
    } else {
      const id = codec.markup(run.token);
      for (let n = 0; n < run.count; n++) tokens.push(id);
    }
  }
  return Int32Array.from(tokens);
}

/** Some control tokens take the white space beside them. */
function withoutTaken(codec: TextCodec, text: string, before?: Run, after?: Run): string {
  const takes = (run: Run | undefined, side: 'lstrip' | 'rstrip'): boolean =>
    run !== undefined && 'token' in run && codec.find(run.token)?.[side] === true;
  const rest = takes(before, 'rstrip') ? text.trimStart() : text;
  return takes(after, 'lstrip') ? rest.trimEnd() : rest;
}
