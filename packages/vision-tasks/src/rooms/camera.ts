/** The path of a camera through a room: it looks around, walks on, and looks around again. */
import type { Random } from '@saccade/core';
import { floorDistance, type Room } from './room.ts';

/** Where a camera is and looks. Meters; radians. */
export interface CameraPose {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  /** 0 looks along y; clockwise seen from above. */
  readonly yaw: number;
  /** Upwards. */
  readonly pitch: number;
}

/** Height of a camera above the floor in meters; questions about measures name it. */
export const CAMERA_HEIGHT = 1.5;
const PITCH = -0.24;
/** Least distance to furniture and walls in meters. */
const [CLEAR, WALL] = [0.3, 0.7] as const;
/** Least length of a walk as a share of the shorter side of a room. */
const WALK = 0.3;
const DRAWS = 60;
/** Share of the frames in which the camera looks around at its start, walks, and looks around at its end. */
const PARTS = [0.5, 0.2, 0.3] as const;

/** Draws a path of so many frames; undefined where the room has no free way. */
export function drawPath(
  room: Room,
  frames: number,
  random: Random,
): readonly CameraPose[] | undefined {
  const start = freeSpot(room, random);
  if (start === undefined) return undefined;
  const end = freeEnd(room, start, random);
  if (end === undefined) return undefined;
  const first = random.uniform() * 2 * Math.PI;
  const sense = random.integer(2) === 0 ? 1 : -1;
  const [around, walk] = [Math.round(frames * PARTS[0]), Math.round(frames * PARTS[1])];
  return Array.from({ length: frames }, (_, frame): CameraPose => {
    const isWalking = frame >= around && frame < around + walk;
    const way = Math.min(1, Math.max(0, (frame - around) / walk));
    const eased = way * way * (3 - 2 * way);
    // A full turn at the start, and another one spread over the walk and the end.
    const turned =
      frame < around
        ? (frame / around) * 2 * Math.PI
        : 2 * Math.PI * (1 + (frame - around) / Math.max(1, frames - around - 1));
    return {
      x: start[0] + (end[0] - start[0]) * eased,
      y: start[1] + (end[1] - start[1]) * eased,
      // A walking camera rises and falls.
      z: CAMERA_HEIGHT + (isWalking ? 0.015 * Math.sin(way * 6 * Math.PI) : 0),
      yaw: first + sense * turned,
      pitch: PITCH,
    };
  });
}

type Spot = readonly [number, number];

const isFree = ({ pieces, width, depth }: Room, [x, y]: Spot): boolean =>
  Math.min(x, y, width - x, depth - y) >= WALL &&
  pieces.every((piece) => floorDistance([x, y], piece) >= CLEAR);

function freeSpot(room: Room, random: Random): Spot | undefined {
  for (let draw = 0; draw < DRAWS; draw++) {
    const spot: Spot = [random.uniform() * room.width, random.uniform() * room.depth];
    if (isFree(room, spot)) return spot;
  }
  return undefined;
}

/** Another free spot to which a straight way is free. */
function freeEnd(room: Room, start: Spot, random: Random): Spot | undefined {
  const least = WALK * Math.min(room.width, room.depth);
  for (let draw = 0; draw < DRAWS; draw++) {
    const end = freeSpot(room, random);
    if (end === undefined) return undefined;
    const far = Math.hypot(end[0] - start[0], end[1] - start[1]);
    if (far < least) continue;
    const steps = Array.from({ length: 20 }, (_, step) => step / 19);
    const at = (share: number): Spot => [
      start[0] + (end[0] - start[0]) * share,
      start[1] + (end[1] - start[1]) * share,
    ];
    if (steps.every((share) => isFree(room, at(share)))) return end;
  }
  return undefined;
}
