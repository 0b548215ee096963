import { ConfigError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { listConfigFields } from './config-fields.ts';
import { checkNames, rewardTermsOf } from './parts.ts';
import { recipes } from './registry.ts';
import { applySettings, parseSetting, validateConfig } from './settings.ts';

const configure = (...settings: readonly string[]) =>
  validateConfig(applySettings(recipes.get('smoke').config, settings.map(parseSetting)));

describe('settings', () => {
  it('puts a value where it belongs and leaves the rest', () => {
    const config = configure('rl.steps=7', 'rl.ranking=false', 'protocol=pyvision-image');
    expect(config.rl.steps).toBe(7);
    expect(config.rl.ranking).toBe(false);
    expect(config.protocol).toBe('pyvision-image');
    expect(config.rl.groupSize).toBe(8);
  });

  it('takes the budgets of the protocol where none are set', () => {
    const budgets = (values: object) => {
      const { maxToolTurns, maxImages } = validateConfig(values).rollout;
      return [maxToolTurns, maxImages];
    };
    expect(budgets({})).toEqual([4, 31]);
    expect(budgets({ protocol: 'codevision', rollout: {} })).toEqual([11, 1000]);
    expect(budgets({ protocol: 'vista', rollout: { maxToolTurns: 2 } })).toEqual([2, 1000]);
    expect(budgets(recipes.get('pyvision-image-nano').config)).toEqual([4, 8]);
  });

  it('takes a field by its last word, and settings of the algorithm by theirs', () => {
    const { rl } = configure('algorithm=dapo', 'algorithm.clipHigh=0.3', 'groupSize=4');
    expect(rl).toMatchObject({ algorithm: 'dapo', groupSize: 4 });
    expect(rl.algorithmSettings).toEqual({ clipHigh: 0.3 });
    expect(configure('rl.algorithmSettings.kl=k2').rl.algorithmSettings).toEqual({ kl: 'k2' });
  });

  it('leaves the settings of one algorithm behind when another is chosen', () => {
    const base = applySettings({}, ['algorithm=grpo', 'algorithm.clipHigh=0.3'].map(parseSetting));
    const other = applySettings(base, ['algorithm.kl=k2', 'algorithm=dapo'].map(parseSetting));
    expect(other.rl).toEqual({ algorithm: 'dapo', algorithmSettings: { kl: 'k2' } });
    const same = applySettings(base, [parseSetting('algorithm=grpo')]);
    expect(same.rl?.algorithmSettings).toEqual({ clipHigh: 0.3 });
  });

  it('weighs the terms of a reward, leaves out those of weight 0, and forgets both for another', () => {
    const weights = ['reward=codevision', 'reward.accuracy=2', 'reward.turn-limit-penalty=0'];
    const config = configure(...weights);
    expect(config.rl.rewardWeights).toEqual({ accuracy: 2, 'turn-limit-penalty': 0 });
    const terms = rewardTermsOf(config).map(({ reward, weight }) => [reward.name, weight]);
    expect(terms).toContainEqual(['accuracy', 2]);
    expect(terms).toContainEqual(['must-use-tools', 1]);
    expect(terms.map(([name]) => name)).not.toContain('turn-limit-penalty');
    const base = applySettings({}, weights.map(parseSetting));
    expect(applySettings(base, [parseSetting('rl.reward=vista')]).rl).toEqual({ reward: 'vista' });
    const bonus = configure('reward=pyvision', 'accumulativeCoefficient=0.3');
    expect(rewardTermsOf(bonus).map(({ weight }) => weight)).toEqual([1, 0.3]);
  });

  it.each([
    ['rl.stepz=3', /there is no field of this name.*Did you mean rl\.steps/s],
    ['updates.steps=3', /there is no field of this name/],
    ['batchSize=3', /Did you mean sft\.batchSize or rl\.batchSize/],
    ['rl=3', /It is a group; set one of rl\.steps/],
    ['rl.steps', /expected path=value/],
    ['rl.steps=many', /rl\.steps: expected an integer.*got "many", a string/s],
    ['rl.steps=1.5', /rl\.steps: expected an integer.*got 1\.5/s],
    ['rl.temperature=20', /rl\.temperature: expected a number in \[0\.01, 10\].*got 20/s],
    ['rollout.maxTurnTokens=5000', /less than rollout\.maxContextTokens/],
  ])('says what is wrong with %s', (setting, message) => {
    expect(() => configure(setting)).toThrow(ConfigError);
    expect(() => configure(setting)).toThrow(message);
  });

  it.each([
    ['taskSet=haystack', /no task set "haystack"\. Known: .*needle/],
    ['protocol=shouting', /no protocol "shouting"\. Known: .*pyvision-image/],
    ['rl.algorithm=magic', /no algorithm "magic"\. Known: .*grpo/],
    ['algorithm=magic', /no algorithm "magic"/],
    ['algorithm.clipWide=1', /pyvision-rl has no setting "clipWide"\. Known: .*clipLow/],
    ['algorithm.clipLow=-1', /algorithm\.clipLow: expected a number in \[0, .*got -1/],
    ['algorithm.aggregation=sum', /algorithm\.aggregation: expected one of .*token-mean/],
    ['profile=openrlhf', /pyvision-rl has no profile "openrlhf"\. Known: /],
    ['rl.scheduler=later', /no scheduler "later"\. Known: /],
    ['rl.reward=praise', /no reward preset "praise"\. Known: .*codevision/],
    ['rl.reward=codevision/book', /Known: codevision\/paper, codevision\/code/],
    [
      'rl.reward=codev',
      /codev needs stepScores of a judge, and there is none\. Set rl\.judge\.baseUrl/,
    ],
    ['rl.judge.baseUrl=localhost', /expected an address like .*got "localhost"/],
    ['judge.baseUrl=http://127.0.0.1:1/v1', /needs the name of a model/],
    ['sft.examples=none', /no cold start "none"\. Known: card-video, needle, turned-needle/],
    ['reward.praise=1', /pyvision has no term "praise"\. Known: accuracy/],
    ['policy=giant', /no policy size "giant"\. Known: nano/],
  ])('names the known units for %s, before anything is opened', (setting, message) => {
    expect(() => checkNames(configure(setting))).toThrow(message);
  });

  it('validates every recipe, and describes every field', () => {
    for (const [name, recipe] of recipes.entries()) {
      const config = validateConfig({ ...recipe.config, recipe: name });
      expect(() => checkNames(config)).not.toThrow();
    }
    for (const field of listConfigFields()) {
      expect(field.about, field.path).not.toBe('');
      expect(field.unit, field.path).not.toBe('');
    }
  });
});
