/** Runs Python on one image, in a session of its own: nothing stays for the next call. */
import type { CapturedImage, Outcome } from '@saccade/sandbox';
import { composeAffine } from '@saccade/trajectory';
import { refused } from './refused.ts';
import type { ToolContext, ToolImage } from './tool.ts';

/** The image's variable in the session. */
const imageVariable = 'image';

/**
 * Runs the scripts one after another, as long as they end without error, with the image in the
 * variable `image`. What they print and show is one outcome.
 *
 * @param index of the image among the context's
 */
export async function runOnImage(
  context: ToolContext,
  index: number,
  scripts: readonly string[],
): Promise<Outcome> {
  const source = context.images[index];
  if (source === undefined) {
    const last = context.images.length - 1;
    const remedy = last < 0 ? 'There are none.' : `Write 0 to ${last}.`;
    return refused('BadArgument', `There is no picture ${index}. ${remedy}`);
  }
  const abort = context.signal === undefined ? {} : { signal: context.signal };
  const images = [{ name: imageVariable, encoded: source.png }];
  const session = await context.sandbox.open({ images, ...abort });
  try {
    let outcome: Outcome | undefined;
    for (const script of scripts) {
      const next = await session.execute(script, abort);
      outcome = outcome === undefined ? next : joinOutcomes(outcome, next);
      if (next.kind !== 'ok') break;
    }
    if (outcome === undefined) return refused('BadArgument', 'There is nothing to run.');
    return { ...outcome, images: outcome.images.map((image) => inFrameOf(source, image)) };
  } finally {
    await session.dispose();
  }
}

/** Two executions of one call as one outcome: how it ended is how the second did. */
export function joinOutcomes(first: Outcome, second: Outcome): Outcome {
  return {
    ...second,
    stdout: first.stdout + second.stdout,
    stderr: first.stderr + second.stderr,
    images: [...first.images, ...second.images],
    truncated: [...new Set([...first.truncated, ...second.truncated])],
    wallMs: first.wallMs + second.wallMs,
    cpuMs: first.cpuMs + second.cpuMs,
    maxRssKb: Math.max(first.maxRssKb, second.maxRssKb),
  };
}

/** Says where a shown image comes from in terms of the trajectory instead of the session. */
function inFrameOf(source: ToolImage, image: CapturedImage): CapturedImage {
  const { origin, ...rest } = image;
  if (origin === undefined || origin.image !== imageVariable) return rest;
  if (source.origin === undefined) return { ...rest, origin: { ...origin, image: source.name } };
  const map = composeAffine(source.origin.map, origin.map);
  return { ...rest, origin: { image: source.origin.image, map } };
}
