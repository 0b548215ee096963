/** Who eats whom in some habitats. Common knowledge, simplified; no habitat is in both splits. */
import type { Split } from '@saccade/gym';

/** A habitat: living things by level, producers first, and what each of the others eats. */
export interface Habitat {
  readonly name: string;
  readonly levels: readonly (readonly string[])[];
  readonly eats: Readonly<Record<string, readonly string[]>>;
}

/** The habitats of each split. */
export const habitatsOf: Readonly<Record<Split, readonly Habitat[]>> = {
  train: [
    {
      name: 'meadow',
      levels: [
        ['grass', 'clover', 'berries'],
        ['grasshopper', 'vole', 'rabbit', 'bee'],
        ['frog', 'shrew', 'robin'],
        ['hawk', 'fox', 'owl'],
      ],
      eats: {
        grasshopper: ['grass', 'clover'],
        vole: ['grass', 'berries'],
        rabbit: ['grass', 'clover'],
        bee: ['clover'],
        frog: ['grasshopper', 'bee'],
        shrew: ['grasshopper'],
        robin: ['berries', 'grasshopper'],
        hawk: ['vole', 'rabbit', 'robin', 'frog'],
        fox: ['rabbit', 'vole', 'berries'],
        owl: ['vole', 'shrew', 'frog'],
      },
    },
    {
      name: 'pond',
      levels: [
        ['algae', 'duckweed', 'reeds'],
        ['water flea', 'tadpole', 'snail', 'mayfly'],
        ['diving beetle', 'minnow', 'newt'],
        ['heron', 'pike', 'kingfisher'],
      ],
      eats: {
        'water flea': ['algae'],
        tadpole: ['algae', 'duckweed'],
        snail: ['algae', 'duckweed', 'reeds'],
        mayfly: ['algae'],
        'diving beetle': ['tadpole', 'snail'],
        minnow: ['water flea', 'mayfly'],
        newt: ['tadpole', 'water flea'],
        heron: ['minnow', 'newt', 'pike'],
        pike: ['minnow', 'tadpole'],
        kingfisher: ['minnow', 'diving beetle'],
      },
    },
  ],
  heldOut: [
    {
      name: 'ocean',
      levels: [
        ['phytoplankton', 'kelp'],
        ['krill', 'copepod', 'sea urchin', 'mussel'],
        ['herring', 'squid', 'sea star', 'crab'],
        ['seal', 'otter', 'tuna'],
        ['orca'],
      ],
      eats: {
        krill: ['phytoplankton'],
        copepod: ['phytoplankton'],
        'sea urchin': ['kelp'],
        mussel: ['phytoplankton'],
        herring: ['krill', 'copepod'],
        squid: ['krill', 'copepod'],
        'sea star': ['mussel'],
        crab: ['mussel', 'kelp'],
        seal: ['herring', 'squid'],
        otter: ['sea urchin', 'crab', 'mussel'],
        tuna: ['herring', 'squid'],
        orca: ['seal', 'tuna', 'otter'],
      },
    },
    {
      name: 'desert',
      levels: [
        ['cactus', 'acacia', 'seeds'],
        ['ant', 'kangaroo rat', 'jackrabbit', 'tortoise'],
        ['lizard', 'scorpion', 'roadrunner'],
        ['rattlesnake', 'coyote', 'eagle'],
      ],
      eats: {
        ant: ['seeds'],
        'kangaroo rat': ['seeds', 'acacia'],
        jackrabbit: ['acacia', 'cactus'],
        tortoise: ['cactus'],
        lizard: ['ant', 'scorpion'],
        scorpion: ['ant'],
        roadrunner: ['lizard', 'scorpion'],
        rattlesnake: ['kangaroo rat', 'lizard'],
        coyote: ['jackrabbit', 'kangaroo rat', 'roadrunner'],
        eagle: ['jackrabbit', 'rattlesnake', 'roadrunner'],
      },
    },
  ],
};
