/**
 * Draws a room as a pinhole camera sees it: floor, walls and ceiling by casting a ray through every
 * pixel, furniture by filling its faces with a depth buffer. A buffer of ids says exactly what is seen.
 */
import type { Color } from '../rendering/page.ts';
import type { CameraPose } from './camera.ts';
import { type Bounds, blocksOf, type Room } from './room.ts';

/** Colors of a room's shell. */
export interface RoomStyle {
  readonly floor: readonly [Color, Color];
  readonly wall: Color;
  readonly baseboard: Color;
  readonly ceiling: Color;
}

/** One frame. */
export interface Frame {
  /** [height, width, 3] red, green and blue. */
  readonly pixels: Uint8Array;
  /** [height, width] 0 for the room itself, or 1 + the index of a piece. */
  readonly ids: Uint8Array;
}

/** Horizontal field of view in radians: 75 degrees. */
const FIELD = (75 * Math.PI) / 180;
/** Side of a floor tile, and height of a baseboard; meters. */
const [TILE, BASEBOARD] = [0.5, 0.1] as const;
/** Nearest depth that is drawn; meters. */
const NEAR = 0.05;
/** How bright faces are that look along x, along y, up and down. */
const [ALONG_X, ALONG_Y, UP, DOWN] = [0.74, 0.88, 1, 0.5] as const;
/** Light that is left at a depth in meters: 1 / (1 + depth · HAZE). */
const HAZE = 0.035;

type Vector = readonly [number, number, number];

interface Face {
  readonly corners: readonly Vector[];
  readonly normal: Vector;
  readonly color: Color;
  readonly id: number;
}

/** Makes a function that draws frames of a room. */
export function roomRenderer(
  room: Room,
  style: RoomStyle,
  width: number,
  height: number,
): (pose: CameraPose) => Frame {
  const faces = [
    ...room.fixtures.flatMap(({ block, color }) => facesOf(block, color, 0)),
    ...room.pieces.flatMap((piece, index) =>
      blocksOf(piece).flatMap(({ block, color }) => facesOf(block, color, index + 1)),
    ),
  ];
  const depths = new Float64Array(width * height);
  const focal = width / 2 / Math.tan(FIELD / 2);
  return (pose) => {
    const frame = {
      pixels: new Uint8Array(width * height * 3),
      ids: new Uint8Array(width * height),
    };
    const axes = axesOf(pose);
    castShell(frame, depths, room, style, pose, axes, width, height, focal);
    const eye: Vector = [pose.x, pose.y, pose.z];
    for (const face of faces) fillFace(frame, depths, face, eye, axes, width, height, focal);
    return frame;
  };
}

/** Right, up and ahead of a camera, each of length 1. */
function axesOf({ yaw, pitch }: CameraPose): readonly [Vector, Vector, Vector] {
  const [sin, cos] = [Math.sin(yaw), Math.cos(yaw)];
  const [rise, level] = [Math.sin(pitch), Math.cos(pitch)];
  return [
    [cos, -sin, 0],
    [-rise * sin, -rise * cos, level],
    [level * sin, level * cos, rise],
  ];
}

function castShell(
  { pixels }: Frame,
  depths: Float64Array,
  room: Room,
  style: RoomStyle,
  { x, y, z }: CameraPose,
  [right, up, ahead]: readonly [Vector, Vector, Vector],
  width: number,
  height: number,
  focal: number,
): void {
  const { width: wide, depth: deep, height: tall } = room;
  for (let row = 0; row < height; row++) {
    const v = (height / 2 - row - 0.5) / focal;
    for (let column = 0; column < width; column++) {
      const u = (column + 0.5 - width / 2) / focal;
      const dx = ahead[0] + u * right[0] + v * up[0];
      const dy = ahead[1] + u * right[1] + v * up[1];
      const dz = ahead[2] + u * right[2] + v * up[2];
      const tx = dx > 0 ? (wide - x) / dx : -x / dx;
      const ty = dy > 0 ? (deep - y) / dy : -y / dy;
      const tz = dz > 0 ? (tall - z) / dz : -z / dz;
      const t = Math.min(tx, ty, tz);
      let color = style.wall;
      let light: number = tx <= ty ? ALONG_X : ALONG_Y;
      if (t === tz) {
        light = 1;
        const isEven =
          (Math.floor((x + t * dx) / TILE) + Math.floor((y + t * dy) / TILE)) % 2 === 0;
        color = dz > 0 ? style.ceiling : style.floor[isEven ? 0 : 1];
      } else if (z + t * dz < BASEBOARD) color = style.baseboard;
      const at = row * width + column;
      depths[at] = 1 / t;
      paint(pixels, at, color, light / (1 + t * HAZE));
    }
  }
}

function paint(pixels: Uint8Array, at: number, color: Color, light: number): void {
  pixels[3 * at] = color[0] * light;
  pixels[3 * at + 1] = color[1] * light;
  pixels[3 * at + 2] = color[2] * light;
}

/** The six faces of a block. */
function facesOf([x0, y0, z0, x1, y1, z1]: Bounds, color: Color, id: number): readonly Face[] {
  const face = (normal: Vector, corners: readonly Vector[]): Face => ({
    corners,
    normal,
    color,
    id,
  });
  const side = (x: number): readonly Vector[] => [
    [x, y0, z0],
    [x, y1, z0],
    [x, y1, z1],
    [x, y0, z1],
  ];
  const front = (y: number): readonly Vector[] => [
    [x0, y, z0],
    [x1, y, z0],
    [x1, y, z1],
    [x0, y, z1],
  ];
  const flat = (z: number): readonly Vector[] => [
    [x0, y0, z],
    [x1, y0, z],
    [x1, y1, z],
    [x0, y1, z],
  ];
  return [
    face([-1, 0, 0], side(x0)),
    face([1, 0, 0], side(x1)),
    face([0, -1, 0], front(y0)),
    face([0, 1, 0], front(y1)),
    face([0, 0, -1], flat(z0)),
    face([0, 0, 1], flat(z1)),
  ];
}

const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** Fills a face where it is nearer than what is there. */
function fillFace(
  { pixels, ids }: Frame,
  depths: Float64Array,
  { corners, normal, color, id }: Face,
  eye: Vector,
  axes: readonly [Vector, Vector, Vector],
  width: number,
  height: number,
  focal: number,
): void {
  const from = (point: Vector): Vector => [point[0] - eye[0], point[1] - eye[1], point[2] - eye[2]];
  const [first] = corners;
  if (first === undefined) return;
  // n·P = c in the camera's frame; a face is seen from the side its normal points to.
  const c = dot(normal, from(first));
  if (c >= 0) return;
  const seen = clipped(
    corners.map((corner) => {
      const p = from(corner);
      return [dot(p, axes[0]), dot(p, axes[1]), dot(p, axes[2])];
    }),
  );
  if (seen.length < 3) return;
  const onScreen = seen.map(([x, y, z]): readonly [number, number] => [
    width / 2 + (focal * x) / z,
    height / 2 - (focal * y) / z,
  ]);
  const [nx, ny, nz] = [dot(normal, axes[0]), dot(normal, axes[1]), dot(normal, axes[2])];
  const light = normal[2] > 0 ? UP : normal[2] < 0 ? DOWN : normal[0] !== 0 ? ALONG_X : ALONG_Y;
  const ys = onScreen.map(([, y]) => y);
  const top = Math.max(0, Math.ceil(Math.min(...ys) - 0.5));
  const bottom = Math.min(height - 1, Math.ceil(Math.max(...ys) - 0.5) - 1);
  for (let row = top; row <= bottom; row++) {
    const [start, end] = spanAt(onScreen, row + 0.5);
    const last = Math.min(width - 1, Math.ceil(end - 0.5) - 1);
    const v = (height / 2 - row - 0.5) / focal;
    for (let column = Math.max(0, Math.ceil(start - 0.5)); column <= last; column++) {
      const u = (column + 0.5 - width / 2) / focal;
      const inverse = (nx * u + ny * v + nz) / c;
      const at = row * width + column;
      if (inverse <= (depths[at] ?? 0)) continue;
      depths[at] = inverse;
      ids[at] = id;
      paint(pixels, at, color, light / (1 + HAZE / inverse));
    }
  }
}

/** The part of a polygon that is at least NEAR ahead. */
function clipped(points: readonly Vector[]): readonly Vector[] {
  return points.flatMap((point, index) => {
    const next = points[(index + 1) % points.length] ?? point;
    const isAhead = point[2] >= NEAR;
    if (isAhead === next[2] >= NEAR) return isAhead ? [point] : [];
    const share = (NEAR - point[2]) / (next[2] - point[2]);
    const cut: Vector = [
      point[0] + (next[0] - point[0]) * share,
      point[1] + (next[1] - point[1]) * share,
      NEAR,
    ];
    return isAhead ? [point, cut] : [cut];
  });
}

/** Where a line of the screen enters a convex polygon and leaves it. */
function spanAt(
  points: readonly (readonly [number, number])[],
  y: number,
): readonly [number, number] {
  let [start, end] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let index = 0; index < points.length; index++) {
    const [ax, ay] = points[index] ?? [0, 0];
    const [bx, by] = points[(index + 1) % points.length] ?? [0, 0];
    if (ay <= y === by <= y) continue;
    const x = ax + ((y - ay) / (by - ay)) * (bx - ax);
    start = Math.min(start, x);
    end = Math.max(end, x);
  }
  return [start, end];
}
