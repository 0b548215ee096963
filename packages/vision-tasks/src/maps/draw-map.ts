/** Draws a planned map, and says where every region is and which are named. */
import type { Box } from '@saccade/gym';
import { Drawing, type Paint, type TextStyle } from '../rendering/drawing.ts';
import { overlaps } from '../scenes/place.ts';
import { boxOf, type Region } from './map-data.ts';
import { type MapStyle, shade } from './map-style.ts';
import { classOf, type MapPlan } from './plan-map.ts';

/** A drawn map. */
interface DrawnMap {
  readonly drawing: Drawing;
  /** By name of region; pixels. */
  readonly boxes: ReadonlyMap<string, Box>;
  /** Names written in the map; pixels. */
  readonly labels: ReadonlyMap<string, Box>;
  readonly legend: Box;
}

/** A name reaches over the border of its region by at most this share of the region's room. */
const OVERHANG = 1.5;
const MARGIN = 14;
/** Least distance of two names beside each other; pixels. */
const APART = 5;
/** Width of borders and of the seam around them; pixels. */
const [LINE, SEAM] = [0.8, 2.4];

/** Draws a title above, the map, and a legend of classes on the right. */
export function drawMap(plan: MapPlan, style: MapStyle): DrawnMap {
  const { map, table, classes } = plan;
  const { width, height, size } = style;
  const drawing = new Drawing(width, height, style.background);
  const heading: TextStyle = { typeface: style.bold, size: size + 1, color: '#1a1a1a' };
  const what = table.measure.replace(/^./, (letter) => letter.toUpperCase());
  const when = table.when === '' ? '' : `, ${table.when}`;
  const title = `${what} by ${map.region[0]}, ${map.place}${when}`;
  drawing.text(title, MARGIN, MARGIN + size, heading);
  const top = MARGIN + 2 * size;
  const hasGaps = map.regions.some(({ name }) => classOf(plan, name) === undefined);
  const entries = [...(hasGaps ? ['no data'] : []), ...classes];
  const caption = `${table.unit}:`;
  const legendWidth =
    Math.max(...[caption, ...entries].map((text) => style.regular.widthOf(text, size))) +
    2 * size +
    MARGIN;
  const wide = width - legendWidth - 2 * MARGIN;
  const tall = height - top - MARGIN;
  const scale = Math.min(wide / map.width, tall / map.height);
  const left = MARGIN + (wide - map.width * scale) / 2;
  const above = top + (tall - map.height * scale) / 2;
  const boxes = new Map<string, Box>();
  const transform = `translate(${left.toFixed(2)} ${above.toFixed(2)}) scale(${scale.toFixed(4)})`;
  const borders: Paint = { transform, fill: 'none', 'stroke-linejoin': 'round' };
  for (const region of map.regions) {
    const index = classOf(plan, region.name);
    const fill = index === undefined ? style.missing : shade(style.ramp, index, classes.length);
    drawing.path(region.path, { transform, fill });
    const [x0, y0, x1, y1] = boxOf(region);
    boxes.set(region.name, [
      left + x0 * scale,
      above + y0 * scale,
      left + x1 * scale,
      above + y1 * scale,
    ]);
  }
  // A dark line in a light seam is seen between two regions of any class.
  for (const [stroke, thickness] of [
    [style.seam, SEAM],
    [style.border, LINE],
  ] as const) {
    for (const { path } of map.regions) {
      drawing.path(path, { ...borders, stroke, 'stroke-width': thickness / scale });
    }
  }
  const labels = new Map<string, Box>();
  for (const region of [...map.regions].sort((a, b) => b.room - a.room)) {
    const box = nameRegion(drawing, region, [left, above, scale], style, labels);
    if (box !== undefined) labels.set(region.name, box);
  }
  const legend = drawLegend(drawing, plan, style, caption, entries, width - legendWidth, top);
  return { drawing, boxes, labels, legend };
}

/** Writes a region's name where there is room; undefined where there is none. */
function nameRegion(
  drawing: Drawing,
  { name, spot, room }: Region,
  [left, above, scale]: readonly [number, number, number],
  style: MapStyle,
  taken: ReadonlyMap<string, Box>,
): Box | undefined {
  const { small: size, regular: typeface } = style;
  const half = typeface.widthOf(name, size) / 2;
  if (Math.hypot(half, size / 2) > OVERHANG * room * scale) return undefined;
  const x = left + spot[0] * scale;
  const y = above + spot[1] * scale;
  const box: Box = [x - half, y - size / 2, x + half, y + size / 2];
  const around: Box = [box[0] - APART, box[1], box[2] + APART, box[3]];
  const isFree = [...taken.values()].every((other) => !overlaps(around, other));
  if (!isFree) return undefined;
  // A light seam keeps a name readable where it reaches over a border or lies on a dark class.
  drawing.path(typeface.outline(name, x - half, y + 0.35 * size, size), {
    fill: '#1a1a1a',
    stroke: '#ffffff',
    'stroke-width': 2.4,
    'stroke-linejoin': 'round',
    'paint-order': 'stroke',
  });
  return box;
}

function drawLegend(
  drawing: Drawing,
  { classes }: MapPlan,
  style: MapStyle,
  caption: string,
  entries: readonly string[],
  left: number,
  top: number,
): Box {
  const { size } = style;
  const text: TextStyle = { typeface: style.regular, size, color: '#1a1a1a' };
  drawing.text(caption, left, top + size, text);
  const step = 1.7 * size;
  // The highest class on top, what has no data last.
  const listed = [...entries].reverse();
  listed.forEach((entry, row) => {
    const index = classes.indexOf(entry);
    const fill = index < 0 ? style.missing : shade(style.ramp, index, classes.length);
    const y = top + 1.6 * size + row * step;
    drawing.rectangle([left, y, left + 1.4 * size, y + 1.2 * size], {
      fill,
      stroke: '#777777',
      'stroke-width': 0.5,
    });
    drawing.text(entry, left + 1.9 * size, y + 0.95 * size, text);
  });
  return [left, top, drawing.width, top + 1.6 * size + listed.length * step];
}
