/** Kinds of furniture, each made of blocks, with sizes as they are in homes; no kind is in both splits. */
import type { Split } from '@saccade/gym';
import type { Color } from '../rendering/page.ts';
import type { Block, Furniture } from './furniture-kind.ts';

const legs = (color: Color, top: number, thick = 0.1): readonly Block[] =>
  [
    [0, 0],
    [1 - thick, 0],
    [0, 1 - thick],
    [1 - thick, 1 - thick],
  ].map(([x = 0, y = 0]): Block => [[x, y, 0], [x + thick, y + thick, top], color]);

const oak: Color = [186, 134, 74];
const walnut: Color = [104, 66, 40];
const white: Color = [232, 232, 230];
const steel: Color = [150, 156, 164];
const dark: Color = [52, 54, 60];

const train: readonly Furniture[] = [
  {
    name: 'table',
    plural: 'tables',
    width: [1.2, 2.2],
    depth: [0.8, 1.1],
    height: [0.7, 0.78],
    isAtWall: false,
    comesInNumbers: false,
    blocks: [[[0, 0, 0.92], [1, 1, 1], oak], ...legs(oak, 0.92, 0.07)],
  },
  {
    name: 'chair',
    plural: 'chairs',
    width: [0.42, 0.5],
    depth: [0.42, 0.52],
    height: [0.85, 1.0],
    isAtWall: false,
    comesInNumbers: true,
    blocks: [
      [
        [0, 0, 0.44],
        [1, 1, 0.5],
        [196, 54, 48],
      ],
      [
        [0, 0.9, 0.5],
        [1, 1, 1],
        [196, 54, 48],
      ],
      ...legs(dark, 0.44),
    ],
  },
  {
    name: 'sofa',
    plural: 'sofas',
    width: [1.6, 2.4],
    depth: [0.8, 1.0],
    height: [0.75, 0.9],
    isAtWall: true,
    comesInNumbers: false,
    blocks: [
      [
        [0, 0, 0.08],
        [1, 1, 0.5],
        [62, 96, 150],
      ],
      [
        [0, 0.74, 0.5],
        [1, 1, 1],
        [52, 82, 132],
      ],
      [
        [0, 0, 0.5],
        [0.1, 0.74, 0.72],
        [52, 82, 132],
      ],
      [
        [0.9, 0, 0.5],
        [1, 0.74, 0.72],
        [52, 82, 132],
      ],
    ],
  },
  {
    name: 'floor lamp',
    plural: 'floor lamps',
    width: [0.36, 0.46],
    depth: [0.36, 0.46],
    height: [1.4, 1.75],
    isAtWall: false,
    comesInNumbers: true,
    blocks: [
      [[0.25, 0.25, 0], [0.75, 0.75, 0.03], dark],
      [[0.46, 0.46, 0.03], [0.54, 0.54, 0.78], dark],
      [
        [0, 0, 0.78],
        [1, 1, 1],
        [246, 214, 120],
      ],
    ],
  },
  {
    name: 'bookshelf',
    plural: 'bookshelves',
    width: [0.8, 1.3],
    depth: [0.28, 0.38],
    height: [1.7, 2.1],
    isAtWall: true,
    comesInNumbers: false,
    blocks: [
      [[0, 0.9, 0], [1, 1, 1], walnut],
      [[0, 0, 0], [0.05, 0.9, 1], walnut],
      [[0.95, 0, 0], [1, 0.9, 1], walnut],
      ...[0, 0.24, 0.48, 0.72, 0.97].map(
        (z): Block => [[0.05, 0, z], [0.95, 0.9, z + 0.03], walnut],
      ),
      [
        [0.08, 0.2, 0.03],
        [0.7, 0.9, 0.2],
        [170, 52, 44],
      ],
      [
        [0.1, 0.2, 0.27],
        [0.9, 0.9, 0.43],
        [48, 110, 84],
      ],
      [
        [0.2, 0.2, 0.51],
        [0.85, 0.9, 0.66],
        [206, 170, 60],
      ],
      [
        [0.08, 0.2, 0.75],
        [0.6, 0.9, 0.92],
        [70, 82, 150],
      ],
    ],
  },
  {
    name: 'potted plant',
    plural: 'potted plants',
    width: [0.4, 0.6],
    depth: [0.4, 0.6],
    height: [0.7, 1.3],
    isAtWall: false,
    comesInNumbers: true,
    blocks: [
      [
        [0.25, 0.25, 0],
        [0.75, 0.75, 0.3],
        [182, 92, 56],
      ],
      [[0.44, 0.44, 0.3], [0.56, 0.56, 0.45], walnut],
      [
        [0.1, 0.1, 0.42],
        [0.9, 0.9, 0.8],
        [48, 132, 58],
      ],
      [
        [0.25, 0.25, 0.8],
        [0.75, 0.75, 1],
        [66, 156, 70],
      ],
    ],
  },
  {
    name: 'stove',
    plural: 'stoves',
    width: [0.55, 0.65],
    depth: [0.58, 0.65],
    height: [0.85, 0.95],
    isAtWall: true,
    comesInNumbers: false,
    blocks: [
      [[0, 0, 0], [1, 1, 0.96], white],
      [[0.12, -0.01, 0.15], [0.88, 0, 0.7], dark],
      [[0.02, 0.02, 0.96], [0.98, 0.98, 1], dark],
    ],
  },
  {
    name: 'bench',
    plural: 'benches',
    width: [1.1, 1.6],
    depth: [0.34, 0.42],
    height: [0.42, 0.5],
    isAtWall: false,
    comesInNumbers: false,
    blocks: [
      [
        [0, 0, 0.86],
        [1, 1, 1],
        [222, 190, 132],
      ],
      [
        [0.05, 0.05, 0],
        [0.12, 0.95, 0.86],
        [222, 190, 132],
      ],
      [
        [0.88, 0.05, 0],
        [0.95, 0.95, 0.86],
        [222, 190, 132],
      ],
    ],
  },
];

const heldOut: readonly Furniture[] = [
  {
    name: 'bed',
    plural: 'beds',
    width: [1.0, 1.8],
    depth: [2.0, 2.15],
    height: [0.85, 1.05],
    isAtWall: true,
    comesInNumbers: false,
    blocks: [
      [[0, 0, 0.05], [1, 0.96, 0.3], walnut],
      [
        [0.02, 0.02, 0.3],
        [0.98, 0.95, 0.52],
        [214, 220, 232],
      ],
      [
        [0.02, 0.02, 0.52],
        [0.98, 0.6, 0.56],
        [120, 62, 120],
      ],
      [[0.12, 0.76, 0.52], [0.88, 0.93, 0.64], white],
      [[0, 0.96, 0], [1, 1, 1], walnut],
    ],
  },
  {
    name: 'desk',
    plural: 'desks',
    width: [1.1, 1.7],
    depth: [0.6, 0.8],
    height: [0.71, 0.77],
    isAtWall: true,
    comesInNumbers: false,
    blocks: [
      [[0, 0, 0.94], [1, 1, 1], steel],
      [
        [0.02, 0.05, 0],
        [0.3, 0.95, 0.94],
        [90, 118, 128],
      ],
      [[0.94, 0.05, 0], [0.98, 0.95, 0.94], steel],
    ],
  },
  {
    name: 'stool',
    plural: 'stools',
    width: [0.32, 0.4],
    depth: [0.32, 0.4],
    height: [0.42, 0.66],
    isAtWall: false,
    comesInNumbers: true,
    blocks: [
      [
        [0, 0, 0.88],
        [1, 1, 1],
        [38, 142, 140],
      ],
      ...legs(oak, 0.88, 0.12),
    ],
  },
  {
    name: 'wardrobe',
    plural: 'wardrobes',
    width: [1.0, 1.8],
    depth: [0.55, 0.65],
    height: [1.8, 2.2],
    isAtWall: true,
    comesInNumbers: false,
    blocks: [
      [
        [0, 0, 0],
        [1, 1, 1],
        [172, 120, 96],
      ],
      [[0.495, -0.01, 0.03], [0.505, 0, 0.97], dark],
      [[0.44, -0.03, 0.45], [0.47, 0, 0.58], steel],
      [[0.53, -0.03, 0.45], [0.56, 0, 0.58], steel],
    ],
  },
  {
    name: 'refrigerator',
    plural: 'refrigerators',
    width: [0.58, 0.72],
    depth: [0.6, 0.7],
    height: [1.6, 1.9],
    isAtWall: true,
    comesInNumbers: false,
    blocks: [
      [
        [0, 0, 0],
        [1, 1, 1],
        [226, 230, 234],
      ],
      [[0, -0.01, 0.66], [1, 0, 0.675], dark],
      [[0.85, -0.05, 0.7], [0.9, 0, 0.9], steel],
      [[0.85, -0.05, 0.35], [0.9, 0, 0.62], steel],
    ],
  },
  {
    name: 'bathtub',
    plural: 'bathtubs',
    width: [1.5, 1.8],
    depth: [0.7, 0.8],
    height: [0.52, 0.62],
    isAtWall: true,
    comesInNumbers: false,
    blocks: [
      [[0, 0, 0], [1, 0.1, 1], white],
      [[0, 0.9, 0], [1, 1, 1], white],
      [[0, 0.1, 0], [0.05, 0.9, 1], white],
      [[0.95, 0.1, 0], [1, 0.9, 1], white],
      [
        [0.05, 0.1, 0.1],
        [0.95, 0.9, 0.75],
        [126, 186, 214],
      ],
    ],
  },
  {
    name: 'piano',
    plural: 'pianos',
    width: [1.4, 1.55],
    depth: [0.55, 0.65],
    height: [1.1, 1.3],
    isAtWall: true,
    comesInNumbers: false,
    blocks: [
      [
        [0, 0.35, 0],
        [1, 1, 1],
        [34, 28, 30],
      ],
      [
        [0, 0, 0.48],
        [1, 0.35, 0.58],
        [34, 28, 30],
      ],
      [[0.04, 0.02, 0.58], [0.96, 0.3, 0.6], white],
      [
        [0, 0, 0],
        [0.06, 0.1, 0.48],
        [34, 28, 30],
      ],
      [
        [0.94, 0, 0],
        [1, 0.1, 0.48],
        [34, 28, 30],
      ],
    ],
  },
  {
    name: 'trash bin',
    plural: 'trash bins',
    width: [0.26, 0.36],
    depth: [0.26, 0.36],
    height: [0.32, 0.6],
    isAtWall: false,
    comesInNumbers: true,
    blocks: [
      [
        [0.08, 0.08, 0],
        [0.92, 0.92, 0.92],
        [226, 122, 36],
      ],
      [
        [0, 0, 0.92],
        [1, 1, 1],
        [150, 74, 18],
      ],
    ],
  },
];

/** The kinds of a split. */
export const furnitureOf: Readonly<Record<Split, readonly Furniture[]>> = { train, heldOut };
