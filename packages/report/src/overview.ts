/** Originals with boxes on them: where a trajectory looked, and where the answer lies. */
import type { Trajectory, TrajectoryImage } from '@saccade/trajectory';
import { type Html, html } from './html.ts';
import { dataUri, type ImageBox, originBox } from './images.ts';
import { looksOf } from './turns.ts';

/** The same original is in the page once: the second side refers to the first's. */
export type Embedding = 'original' | 'reference';

/** How an overview is drawn. */
export interface OverviewOptions {
  /** Names the image in its page. */
  readonly id: string;
  /** Whose looks these are, for readers who cannot see them. */
  readonly title: string;
  readonly embedding: Embedding;
  /** Where what is asked about lies; without it nothing is marked. */
  readonly truth?: ImageBox;
}

/** An image that was asked about, with the crops that a trajectory looked at, numbered in order. */
export async function drawOverview(
  image: TrajectoryImage,
  trajectory: Trajectory,
  { id, title, embedding, truth }: OverviewOptions,
): Promise<Html> {
  const { width, height, name } = image;
  const looks = [...looksOf(trajectory).values()].flatMap(({ number, image: look }) =>
    look.origin?.image === name ? [{ number, box: originBox(look, look.origin.map) }] : [],
  );
  const uri = await dataUri(image.png);
  const seen =
    looks.length === 0
      ? 'no crops'
      : `${looks.length} crop ${looks.length === 1 ? 'box' : 'boxes'}`;
  const label = `${title}: ${name}, ${width} × ${height} px, with ${seen}${truth ? ' and the place asked about' : ''}`;
  const pixels =
    embedding === 'original'
      ? html`<image id="${id}" width="${width}" height="${height}" href="${uri}"/>`
      : html`<use href="#${id}"/>`;
  return html`<figure class="overview">
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">
${uri === undefined ? html`<rect class="lost" width="${width}" height="${height}"/>` : pixels}
${truth && drawBox(widen(truth, Math.max(width, height) * 0.012), 'truth')}
${looks.map(({ box }) => drawBox(box, 'crop'))}
${looks.map(({ box, number }) => drawNumber(box, number, { width, height }))}
</svg>
<figcaption>${width} × ${height} px; the model gets it as ${image.modelWidth} × ${image.modelHeight}.${uri === undefined && ' The file of the image is missing.'}</figcaption>
</figure>`;
}

/** The frame of the truth stays clear of a crop of exactly the same place. */
function widen([left, top, right, bottom]: ImageBox, by: number): ImageBox {
  return [left - by, top - by, right + by, bottom + by];
}

function drawBox([left, top, right, bottom]: ImageBox, kind: 'crop' | 'truth'): Html {
  const [width, height] = [right - left, bottom - top];
  // A dark line underneath keeps the colors apart from any image.
  return html`<rect class="halo" x="${left}" y="${top}" width="${width}" height="${height}"/><rect class="box ${kind}" x="${left}" y="${top}" width="${width}" height="${height}"/>`;
}

/** The number stands outside of its box, above if there is room. */
function drawNumber(
  [left, top, , bottom]: ImageBox,
  number: number,
  { width, height }: { width: number; height: number },
): Html {
  const side = Math.max(width, height) * 0.05;
  const y = top >= side * 1.15 ? top - side * 1.1 : Math.min(bottom + side * 0.1, height - side);
  const x = Math.min(Math.max(left, 0) + (number - 1) * side * 0.35, width - side);
  return html`<rect class="tag" x="${x}" y="${y}" width="${side}" height="${side}" rx="${side * 0.15}"/><text class="tag-text" text-anchor="middle" font-size="${side * 0.8}" x="${x + side / 2}" y="${y + side * 0.78}">${number}</text>`;
}
