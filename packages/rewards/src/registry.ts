/** All rewards and verifiers by name. */
import { defineRegistry, type Registry } from '@saccade/core';
import type { GroupReward, Reward, TurnReward, Verifier } from './reward.ts';
import * as rewardCatalog from './rewards/catalog.ts';
import * as verifierCatalog from './verifiers/catalog.ts';

export const rewards: Registry<Reward | TurnReward | GroupReward> = defineRegistry<
  Reward | TurnReward | GroupReward
>('reward', rewardCatalog);

export const verifiers: Registry<Verifier> = defineRegistry<Verifier>('verifier', verifierCatalog);
