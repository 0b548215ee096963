import { describe, expect, it } from 'vitest';
import { rewardContract, verifierContract } from './contract.ts';
import { rewards, verifiers } from './registry.ts';
import { accumulativeTool } from './rewards/accumulative-tool.ts';

describe.each(rewards.entries())('reward %s', (_, reward) => {
  it.each(rewardContract)('$name', ({ check }) => check(reward));
});

describe.each(verifiers.entries())('verifier %s', (_, verifier) => {
  it.each(verifierContract)('$name', ({ check }) => check(verifier));
});

describe('the contracts', () => {
  const [range, purity] = rewardContract;
  const [, , itself, others] = verifierContract;

  it('catch a reward outside of its range, and one that changes', () => {
    expect(() => range?.check({ ...accumulativeTool, range: [0, 3] })).toThrow(/gave 4, outside/);
    let calls = 0;
    const restless = { ...accumulativeTool, score: () => calls++ };
    expect(() => purity?.check(restless)).toThrow(/changes from call to call/);
  });

  it('catch a verifier that is too strict or too kind', () => {
    const strict = { name: 'strict', verify: (a: string, b: string) => (a === b ? 1 : 0) };
    expect(() => itself?.check(strict)).toThrow(/does not accept " 7\n"/);
    const kind = { name: 'kind', verify: () => 1 };
    expect(() => others?.check(kind)).toThrow(/accepts "1" for "7"/);
  });
});
