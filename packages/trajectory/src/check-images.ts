/** The rules for the images of a segment: sizes, names, origins and placeholders. */
import { isInvertible } from './affine.ts';
import type { Segment, TrajectoryImage } from './trajectory.ts';

/**
 * Everything that is wrong with a segment's images, one sentence each.
 *
 * @param names names of all earlier images of the ledger; those of this segment are added
 * @param imageToken the token that stands in an image's place, if it is known: then the segment
 *   must hold exactly the placeholders of its images, none of them cut
 */
export function imageViolations(
  segment: Segment,
  where: string,
  names: Set<string>,
  imageToken?: number,
): readonly string[] {
  const { images, tokens, kind } = segment;
  if (kind === 'model') return images.length > 0 ? [`${where} has images`] : [];
  const violations: string[] = [];
  for (const image of images) {
    if (names.has(image.name)) violations.push(`two images are called ${image.name}`);
    names.add(image.name);
    violations.push(...ownViolations(image, names));
  }
  const needed = images.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
  if (needed > tokens.length) {
    violations.push(`${where} has ${tokens.length} tokens, its images need ${needed}`);
  } else if (imageToken !== undefined) {
    const found = tokens.reduce((count, token) => count + (token === imageToken ? 1 : 0), 0);
    if (found !== needed) {
      violations.push(`${where} has ${found} placeholders, its images need ${needed}`);
    } else if (!arePlacedWhole(tokens, images, imageToken)) {
      violations.push(`${where} has an image whose placeholders are cut`);
    }
  }
  return violations;
}

function ownViolations(image: TrajectoryImage, known: ReadonlySet<string>): readonly string[] {
  const { name, tokenCount, origin } = image;
  const violations: string[] = [];
  for (const side of ['width', 'height', 'modelWidth', 'modelHeight'] as const) {
    if (Number.isInteger(image[side]) && image[side] >= 1) continue;
    violations.push(`${side} of image ${name} must be a whole number from 1, is ${image[side]}`);
  }
  if (!Number.isInteger(tokenCount) || tokenCount < 1) {
    violations.push(`image ${name} has no placeholder tokens`);
  }
  if (origin === undefined) return violations;
  if (!isInvertible(origin.map)) {
    violations.push(`the map of image ${name} is [${origin.map.join(', ')}], not invertible`);
  }
  if (!known.has(origin.image)) {
    violations.push(`image ${name} comes from ${origin.image}, which is no earlier image`);
  }
  return violations;
}

/**
 * Whether images and runs of placeholders, both in order, begin and end together: a run is made of whole
 * images, or an image of whole runs, as where the names of its tiles stand between them.
 */
function arePlacedWhole(
  tokens: Int32Array,
  images: readonly TrajectoryImage[],
  imageToken: number,
): boolean {
  let next = 0;
  // Placeholders of an image that began in an earlier run and has more to come.
  let owed = 0;
  for (let start = 0; start < tokens.length; start++) {
    if (tokens[start] !== imageToken) continue;
    let end = start;
    while (tokens[end] === imageToken) end++;
    const length = end - start;
    start = end;
    if (owed === 0) {
      let filled = images[next++]?.tokenCount ?? 0;
      owed = filled - length;
      if (owed >= 0) continue;
      while (filled < length && next < images.length) filled += images[next++]?.tokenCount ?? 0;
      if (filled !== length) return false;
      owed = 0;
    } else {
      owed -= length;
      if (owed < 0) return false;
    }
  }
  return owed === 0 && next === images.length;
}
