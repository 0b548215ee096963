/** The kinds of image operations, and the family of each. */

/**
 * Families of operations. `orientation`, `crop`, `scale` move pixels; `enhance`, `analysis`
 * (segmentation, detection, text recognition), `draw` (visual prompting and sketching), `composite`
 * make new ones; `statistics` gives numbers; `io` neither.
 */
export type OperationFamily =
  | 'crop'
  | 'orientation'
  | 'scale'
  | 'enhance'
  | 'analysis'
  | 'draw'
  | 'composite'
  | 'statistics'
  | 'io'
  | 'other';

/**
 * The orientation kinds and those of `enhance` bear the names of CodeVision's tool classification
 * (arXiv:2512.03746, its code); `rotate` is an angle that is not a quarter turn. Turns count
 * counter-clockwise, as Pillow's do: OpenCV's ROTATE_90_CLOCKWISE is `rotate_270`.
 */
export type OperationKind =
  | 'crop'
  | 'rotate_90'
  | 'rotate_180'
  | 'rotate_270'
  | 'rotate'
  | 'flip_horizontal'
  | 'flip_vertical'
  | 'transpose'
  | 'transverse'
  | 'warp'
  | 'resize'
  | 'pad'
  | 'brightness_up'
  | 'brightness_down'
  | 'contrast'
  | 'sharpness'
  | 'color'
  | 'blur'
  | 'gaussian_blur'
  | 'median_blur'
  | 'sharpen'
  | 'smooth'
  | 'detail'
  | 'edge_enhance'
  | 'edge_detect'
  | 'emboss'
  | 'grayscale'
  | 'autocontrast'
  | 'equalize'
  | 'invert'
  | 'solarize'
  | 'posterize'
  | 'erode'
  | 'dilate'
  | 'morphology'
  | 'filter'
  | 'arithmetic'
  | 'segmentation'
  | 'detection'
  | 'ocr'
  | 'render_marks'
  | 'render_lines'
  | 'render_text'
  | 'composite'
  | 'histogram'
  | 'numerical_analysis'
  | 'load'
  | 'save'
  | 'show'
  | 'other';

const families: Readonly<Record<OperationKind, OperationFamily>> = {
  crop: 'crop',
  rotate_90: 'orientation',
  rotate_180: 'orientation',
  rotate_270: 'orientation',
  rotate: 'orientation',
  flip_horizontal: 'orientation',
  flip_vertical: 'orientation',
  transpose: 'orientation',
  transverse: 'orientation',
  warp: 'orientation',
  resize: 'scale',
  pad: 'scale',
  brightness_up: 'enhance',
  brightness_down: 'enhance',
  contrast: 'enhance',
  sharpness: 'enhance',
  color: 'enhance',
  blur: 'enhance',
  gaussian_blur: 'enhance',
  median_blur: 'enhance',
  sharpen: 'enhance',
  smooth: 'enhance',
  detail: 'enhance',
  edge_enhance: 'enhance',
  edge_detect: 'enhance',
  emboss: 'enhance',
  grayscale: 'enhance',
  autocontrast: 'enhance',
  equalize: 'enhance',
  invert: 'enhance',
  solarize: 'enhance',
  posterize: 'enhance',
  erode: 'enhance',
  dilate: 'enhance',
  morphology: 'enhance',
  filter: 'enhance',
  arithmetic: 'enhance',
  segmentation: 'analysis',
  detection: 'analysis',
  ocr: 'analysis',
  render_marks: 'draw',
  render_lines: 'draw',
  render_text: 'draw',
  composite: 'composite',
  histogram: 'statistics',
  numerical_analysis: 'statistics',
  load: 'io',
  save: 'io',
  show: 'io',
  other: 'other',
};

/** The family that a kind of operation belongs to. */
export function familyOf(kind: OperationKind): OperationFamily {
  return families[kind];
}
