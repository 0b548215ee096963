/** Typed calls of tools that change one image, as the Python that does the same to it. */

/** The sides of an image, pixels. */
interface Size {
  readonly width: number;
  readonly height: number;
}

type Arguments = Readonly<Record<string, unknown>>;
type Write = (given: Arguments, image: Size, shown: Size | undefined) => string | undefined;

/** The image tools of `@saccade/tools` by name; the image is in `image`, what comes of it in `result`. */
const writers: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['image_zoom_in_tool', crop],
  ['image_rotate_tool', ({ angle }) => (isNumber(angle) ? rotated(angle) : undefined)],
  ['image_flip_tool', ({ direction }) => flipped(direction)],
  [
    'image_resize_tool',
    (_given, _image, shown) => shown && `result = image.resize((${shown.width}, ${shown.height}))`,
  ],
  ['image_adjust_tool', adjusted],
]);

/** Whether a tool of that name changes one image in a way that is known. */
export function isImageTool(name: string): boolean {
  return writers.has(name);
}

/**
 * Python for a call; undefined where the tool is not known, or its arguments do not fit.
 *
 * @param image the one that it worked on
 * @param shown the one that it gave, if any
 */
export function codeOfTypedCall(
  name: string,
  given: Arguments,
  image: Size,
  shown: Size | undefined,
): string | undefined {
  return writers.get(name)?.(given, image, shown);
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** The box in whole pixels of the image; a side that was too short is widened to what was shown. */
function crop({ bbox_2d: box }: Arguments, image: Size, shown?: Size): string | undefined {
  if (!Array.isArray(box) || box.length !== 4 || !box.every(isNumber)) return undefined;
  const [left = 0, top = 0, right = 0, bottom = 0] = box;
  const [fromX, toX] = span(left, right, image.width, shown?.width);
  const [fromY, toY] = span(top, bottom, image.height, shown?.height);
  return `result = image.crop((${fromX}, ${fromY}, ${toX}, ${toY}))`;
}

function span(from: number, to: number, size: number, shown = 0): readonly [number, number] {
  const [start, end] = [Math.max(0, Math.floor(from)), Math.min(size, Math.ceil(to))];
  if (end - start >= shown) return [start, end];
  const inside = Math.max(0, Math.min(size - shown, Math.floor((start + end - shown) / 2)));
  return [inside, inside + shown];
}

function rotated(angle: number): string {
  return `result = image.rotate(${((angle % 360) + 360) % 360}, expand=True)`;
}

function flipped(direction: unknown): string | undefined {
  if (direction === 'horizontal') return 'result = image.transpose(Image.FLIP_LEFT_RIGHT)';
  return direction === 'vertical' ? 'result = image.transpose(Image.FLIP_TOP_BOTTOM)' : undefined;
}

function adjusted({ brightness = 1, contrast = 1 }: Arguments): string | undefined {
  if (!isNumber(brightness) || !isNumber(contrast)) return undefined;
  const lines = [
    ...(brightness === 1 ? [] : [`image = ImageEnhance.Brightness(image).enhance(${brightness})`]),
    ...(contrast === 1 ? [] : [`image = ImageEnhance.Contrast(image).enhance(${contrast})`]),
    'result = image',
  ];
  return lines.join('\n');
}
