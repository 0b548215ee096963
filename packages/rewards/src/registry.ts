/** All rewards, verifiers and judges by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { Judge } from './judge.ts';
import * as judgeCatalog from './judges/catalog.ts';
import type { GroupReward, Reward, TurnReward, Verifier } from './reward.ts';
import * as rewardCatalog from './rewards/catalog.ts';
import * as verifierCatalog from './verifiers/catalog.ts';

export const rewards: Registry<Reward | TurnReward | GroupReward> = defineRegistry<
  Reward | TurnReward | GroupReward
>('reward', rewardCatalog);

export const verifiers: Registry<Verifier> = defineRegistry<Verifier>('verifier', verifierCatalog);

export const judges: Registry<Judge<never>> = defineRegistry<Judge<never>>('judge', judgeCatalog);
