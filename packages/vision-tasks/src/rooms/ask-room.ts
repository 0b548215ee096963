/** The eight kinds of questions of VSI-Bench about a filmed room, in our words, with exact truth. */
import type { Random } from '@saccade/core';
import { CAMERA_HEIGHT } from './camera.ts';
import type { Furniture } from './furniture-kind.ts';
import { floorDistance, gap, middleOf, type Piece, type Room } from './room.ts';

/**
 * How the answer follows from the room (VSI-Bench, arXiv:2412.14171, §3):
 *
 * | operation            | answer                                                                     |
 * | -------------------- | -------------------------------------------------------------------------- |
 * | `object-count`       | how many pieces of a kind there are                                        |
 * | `absolute-distance`  | meters between the nearest points of two pieces                            |
 * | `object-size`        | the longest of width, depth and height of a piece, in centimeters          |
 * | `room-size`          | the floor's area in square meters                                          |
 * | `relative-distance`  | the piece whose nearest point is nearest to that of the first of `pieces`  |
 * | `relative-direction` | where the third piece is for who stands at the first and faces the second  |
 * | `route-plan`         | the turns on the way along `pieces`                                        |
 * | `appearance-order`   | the order in which kinds are first seen                                    |
 *
 * The first four are numbers, scored by mean relative accuracy; the others are choices.
 */
export const roomOperations = [
  'object-count',
  'absolute-distance',
  'object-size',
  'room-size',
  'relative-distance',
  'relative-direction',
  'route-plan',
  'appearance-order',
] as const;

/** A kind of question. */
export type RoomOperation = (typeof roomOperations)[number];

/** How the answer follows. */
export interface RoomProgram {
  readonly operation: RoomOperation;
  /** Kinds of furniture in the order in which the answer uses them. */
  readonly pieces: readonly string[];
  /** What each letter stands for, of a choice. */
  readonly choices?: readonly string[];
}

/** A question about a room. */
export interface RoomQuestion {
  readonly question: string;
  readonly answer: string;
  readonly program: RoomProgram;
}

/** When a piece is seen. */
export interface Sight {
  /** First frame with a pixel of it, and first one with enough; −1 for never. */
  readonly first: number;
  readonly firstClear: number;
  /** Frames with enough of it. */
  readonly clearFrames: number;
}

/** A room that was filmed. */
export interface FilmedRoom {
  readonly room: Room;
  /** Of each piece. */
  readonly sights: readonly Sight[];
  /** 1 to 3. */
  readonly difficulty: number;
}

/** Frames that have to show a piece before it is asked about. */
const CLEAR_FRAMES = 3;
/** Distances that are compared differ by at least this many meters, and by this share. */
const [FARTHER, SHARE] = [0.3, 0.25] as const;
/** Angles keep this far from where another answer begins; degrees. */
const MARGIN = 14;
/** First sights are at least so many frames apart, and enough is seen so many frames after the first. */
const [ORDER_APART, ORDER_CLEAR] = [3, 4] as const;
/** Two pieces whose distance or direction is asked about are at least so far apart; meters. */
const APART = 0.6;

const HEIGHT = `The camera is ${CAMERA_HEIGHT} meters above the floor.`;
const NUMBER = 'Answer with a number.';

/** Asks about a room; undefined where the drawn pieces do not decide it clearly. */
export function askRoom(
  filmed: FilmedRoom,
  operation: RoomOperation,
  random: Random,
): RoomQuestion | undefined {
  return {
    'object-count': askCount,
    'absolute-distance': askDistance,
    'object-size': askSize,
    'room-size': askArea,
    'relative-distance': askNearest,
    'relative-direction': askDirection,
    'route-plan': askRoute,
    'appearance-order': askOrder,
  }[operation](filmed, random);
}

const isClear = ({ clearFrames }: Sight): boolean => clearFrames >= CLEAR_FRAMES;

/** Pieces of which there is one, and which are seen well. */
function singles({ room, sights }: FilmedRoom, random: Random): readonly Piece[] {
  const { pieces } = room;
  const alone = pieces.filter(
    ({ kind }, index) =>
      isClear(sights[index] ?? { first: -1, firstClear: -1, clearFrames: 0 }) &&
      pieces.filter((other) => other.kind === kind).length === 1,
  );
  return random.shuffle(alone);
}

const nameOf = ({ kind }: Piece): string => kind.name;

/** Adds a choice of letters to a question. */
function withChoices(
  question: string,
  right: string,
  wrong: readonly string[],
  program: Omit<RoomProgram, 'choices'>,
  random: Random,
): RoomQuestion {
  const choices = random.shuffle([right, ...wrong]);
  const listed = choices.map((choice, index) => `${letterOf(index)}. ${choice}`);
  return {
    question: `${question} Answer with the letter alone.\n${listed.join('\n')}`,
    answer: letterOf(choices.indexOf(right)),
    program: { ...program, choices },
  };
}

const letterOf = (index: number): string => 'ABCD'.charAt(index);

function askCount({ room, sights }: FilmedRoom, random: Random): RoomQuestion | undefined {
  const kinds = [...new Set(room.pieces.map(({ kind }) => kind))].filter((kind) => {
    const own = room.pieces.flatMap((piece, index) => (piece.kind === kind ? [index] : []));
    return (
      own.length > 1 &&
      own.every((index) => {
        const sight = sights[index];
        return sight !== undefined && isClear(sight);
      })
    );
  });
  if (kinds.length === 0) return undefined;
  const kind = random.pick(kinds);
  const count = room.pieces.filter((piece) => piece.kind === kind).length;
  return {
    question: `How many ${kind.plural} are in this room? ${NUMBER}`,
    answer: String(count),
    program: { operation: 'object-count', pieces: [kind.name] },
  };
}

function askDistance(filmed: FilmedRoom, random: Random): RoomQuestion | undefined {
  const [one, other] = singles(filmed, random);
  if (one === undefined || other === undefined) return undefined;
  const meters = gap(one.bounds, other.bounds);
  if (meters < APART) return undefined;
  return {
    question:
      `How far apart are the ${nameOf(one)} and the ${nameOf(other)} in meters, measured between ` +
      `their nearest points? ${HEIGHT} ${NUMBER}`,
    answer: meters.toFixed(2),
    program: { operation: 'absolute-distance', pieces: [nameOf(one), nameOf(other)] },
  };
}

function askSize(filmed: FilmedRoom, random: Random): RoomQuestion | undefined {
  const [one] = singles(filmed, random);
  if (one === undefined) return undefined;
  return {
    question:
      `How long is the longest side of the ${nameOf(one)} in centimeters: its width, its depth or ` +
      `its height? ${HEIGHT} ${NUMBER}`,
    answer: String(Math.round(Math.max(...one.size) * 100)),
    program: { operation: 'object-size', pieces: [nameOf(one)] },
  };
}

function askArea({ room }: FilmedRoom): RoomQuestion {
  return {
    question: `How large is the floor of this room in square meters? ${HEIGHT} ${NUMBER}`,
    answer: (room.width * room.depth).toFixed(1),
    program: { operation: 'room-size', pieces: [] },
  };
}

function askNearest(filmed: FilmedRoom, random: Random): RoomQuestion | undefined {
  const [from, ...others] = singles(filmed, random);
  const listed = others.slice(0, 4);
  if (from === undefined || listed.length < 3) return undefined;
  const ranked = listed
    .map((piece) => ({ piece, far: gap(from.bounds, piece.bounds) }))
    .sort((a, b) => a.far - b.far);
  const [nearest, rival] = ranked;
  if (nearest === undefined || rival === undefined) return undefined;
  if (rival.far - nearest.far < Math.max(FARTHER, SHARE * rival.far)) return undefined;
  return withChoices(
    `Which of these is nearest to the ${nameOf(from)}, measured between nearest points?`,
    nameOf(nearest.piece),
    ranked.slice(1).map(({ piece }) => nameOf(piece)),
    { operation: 'relative-distance', pieces: [nameOf(from), ...listed.map(nameOf)] },
    random,
  );
}

/** Degrees from a way to another one, positive to the left; pieces are where their middles are. */
function turnBetween(from: Piece, by: Piece, to: Piece, at: Piece): number {
  const way = (a: Piece, b: Piece) => {
    const [[ax, ay], [bx, by_]] = [middleOf(a), middleOf(b)];
    return Math.atan2(by_ - ay, bx - ax);
  };
  const turn = ((way(at, to) - way(from, by)) * 180) / Math.PI;
  return ((turn + 540) % 360) - 180;
}

const isApart = (a: Piece, b: Piece): boolean => floorDistance(middleOf(a), b) >= APART;

/** What an angle is called, or undefined where it is near to another name; degrees, left is positive. */
function sideOf(angle: number, difficulty: number): string | undefined {
  const limits = difficulty === 1 ? [0, 180] : difficulty === 2 ? [0, 135] : [0, 90, 180];
  const size = Math.abs(angle);
  if (limits.some((limit) => Math.abs(size - limit) < MARGIN)) return undefined;
  const side = angle > 0 ? 'left' : 'right';
  if (difficulty === 1) return side;
  if (difficulty === 2) return size > 135 ? 'behind' : side;
  return `${size < 90 ? 'front' : 'back'} ${side}`;
}

const sidesOf = [
  ['left', 'right'],
  ['left', 'right', 'behind'],
  ['front left', 'front right', 'back left', 'back right'],
] as const;

function askDirection(filmed: FilmedRoom, random: Random): RoomQuestion | undefined {
  const [at, facing, target] = singles(filmed, random);
  if (at === undefined || facing === undefined || target === undefined) return undefined;
  if (!isApart(at, facing) || !isApart(at, target)) return undefined;
  const { difficulty } = filmed;
  const side = sideOf(turnBetween(at, facing, target, at), difficulty);
  if (side === undefined) return undefined;
  const others = (sidesOf[difficulty - 1] ?? sidesOf[0]).filter((other) => other !== side);
  return withChoices(
    `You stand at the ${nameOf(at)} and face the ${nameOf(facing)}. On which side of you is the ` +
      `${nameOf(target)}?`,
    side,
    others,
    { operation: 'relative-direction', pieces: [at, facing, target].map(nameOf) },
    random,
  );
}

/** The turn at a piece on the way from another one to a third. */
function turnAt(from: Piece, at: Piece, to: Piece): string | undefined {
  const angle = turnBetween(from, at, to, at);
  const size = Math.abs(angle);
  if (size < 45 + MARGIN || Math.abs(size - 135) < MARGIN) return undefined;
  if (size > 135) return 'turn around';
  return angle > 0 ? 'turn left' : 'turn right';
}

const turnWords = ['turn left', 'turn right', 'turn around'] as const;

function askRoute(filmed: FilmedRoom, random: Random): RoomQuestion | undefined {
  const stops = singles(filmed, random).slice(0, filmed.difficulty === 3 ? 4 : 3);
  const [start, facing, ...rest] = stops;
  if (start === undefined || facing === undefined || rest.length < stops.length - 2)
    return undefined;
  const areApart = stops.every((stop, index) => {
    const next = stops[index + 1];
    return next === undefined || isApart(stop, next);
  });
  if (!areApart || rest.length === 0) return undefined;
  const turns = rest.map((to, index) =>
    turnAt(stops[index] as Piece, stops[index + 1] as Piece, to),
  );
  if (turns.some((turn) => turn === undefined)) return undefined;
  const right = turns.join(', then ');
  const all = turns.reduce<readonly string[]>(
    (starts) =>
      starts.flatMap((before) =>
        turnWords.map((word) => (before === '' ? word : `${before}, then ${word}`)),
      ),
    [''],
  );
  const wrong = random.shuffle(all.filter((each) => each !== right)).slice(0, 3);
  const way = rest.map((to) => `turn, walk to the ${nameOf(to)}`).join(', ');
  return withChoices(
    `You stand at the ${nameOf(start)} and face the ${nameOf(facing)}. You walk to the ` +
      `${nameOf(facing)}, ${way}. How do you turn${rest.length > 1 ? ' each time' : ''}?`,
    right,
    wrong,
    { operation: 'route-plan', pieces: stops.map(nameOf) },
    random,
  );
}

function askOrder(
  { room, sights, difficulty }: FilmedRoom,
  random: Random,
): RoomQuestion | undefined {
  const firsts = new Map<Furniture, { first: number; firstClear: number }>();
  room.pieces.forEach(({ kind }, index) => {
    const sight = sights[index];
    if (sight === undefined || sight.first < 0) return;
    const known = firsts.get(kind);
    const clear = sight.firstClear < 0 ? Number.POSITIVE_INFINITY : sight.firstClear;
    firsts.set(kind, {
      first: Math.min(known?.first ?? Number.POSITIVE_INFINITY, sight.first),
      firstClear: Math.min(known?.firstClear ?? Number.POSITIVE_INFINITY, clear),
    });
  });
  const plain = [...firsts].filter(
    ([, { first, firstClear }]) => firstClear - first <= ORDER_CLEAR,
  );
  const chosen = random.shuffle(plain).slice(0, difficulty === 1 ? 3 : 4);
  if (chosen.length < (difficulty === 1 ? 3 : 4)) return undefined;
  const ranked = [...chosen].sort(([, a], [, b]) => a.first - b.first);
  const areApart = ranked.every(([, { first }], index) => {
    const next = ranked[index + 1]?.[1].first;
    return next === undefined || next - first >= ORDER_APART;
  });
  if (!areApart) return undefined;
  const names = ranked.map(([{ name }]) => name);
  const right = names.join(', ');
  const wrong = new Set<string>();
  while (wrong.size < 3) {
    const other = random.shuffle(names).join(', ');
    if (other !== right) wrong.add(other);
  }
  return withChoices(
    `In which order are these first seen in the video: ${chosen.map(([{ name }]) => name).join(', ')}?`,
    right,
    [...wrong],
    { operation: 'appearance-order', pieces: names },
    random,
  );
}
