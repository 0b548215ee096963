import { ConfigError } from '@saccade/core';
import { describe, expect, it } from 'vitest';
import { checkRun } from './parts.ts';
import { protocolOf } from './protocol-of.ts';
import { inputOf } from './recipe.ts';
import { recipes } from './registry.ts';
import { type RunInput, resolveRun } from './run-config.ts';
import { rewardTermsOf } from './scoring.ts';
import { parseSetting } from './setting.ts';
import { applySettings } from './settings.ts';
import { type Slot, schemaOf } from './slots/slot.ts';
import { slots } from './slots/slots.ts';

const smoke = inputOf(recipes.get('smoke'));
const apply = (base: RunInput, ...settings: readonly string[]) =>
  applySettings(base, settings.map(parseSetting));
const configure = (...settings: readonly string[]) => resolveRun(apply(smoke, ...settings));

/** Only some protocols take tools. */
const company = (key: string): RunInput => (key === 'tools' ? { protocol: 'vista' } : {});

/** Units with a field that has no default. */
const withRequired: Readonly<Record<string, object>> = {
  'model=pretrained': { name: 'pretrained', from: 'hf:owner/name' },
  'taskSet=dataset': { name: 'dataset', from: 'data/mine' },
  'taskSet=mixture': { name: 'mixture', sources: ['data/mine'] },
};

describe('settings', () => {
  it('puts a value where it belongs and leaves the rest', () => {
    const { config } = configure(
      'rl.steps=7',
      'scheduler.ranking=false',
      'protocol=pyvision-image',
    );
    expect(config.rl.steps).toBe(7);
    expect(config.scheduler.ranking).toBe(false);
    expect(config.scheduler.oversample).toBe(2);
    expect(config.protocol.name).toBe('pyvision-image');
    expect(config.rl.groupSize).toBe(8);
  });

  it('takes the budgets of the protocol where none are set', () => {
    const budgets = (input: RunInput) => {
      const { toolTurns, images } = protocolOf(resolveRun(input)).budgets;
      return [toolTurns, images];
    };
    expect(budgets({})).toEqual([4, 31]);
    expect(budgets({ protocol: 'codevision', rollout: {} })).toEqual([
      11,
      Number.POSITIVE_INFINITY,
    ]);
    expect(budgets({ protocol: { name: 'vista', toolTurns: 2 } })).toEqual([
      2,
      Number.POSITIVE_INFINITY,
    ]);
    expect(budgets(inputOf(recipes.get('pyvision-image-nano')))).toEqual([4, 8]);
  });

  it('takes a field by its last word, and settings of the algorithm by theirs', () => {
    const { config } = configure('algorithm=dapo', 'algorithm.clipHigh=0.3', 'groupSize=4');
    expect(config.rl.groupSize).toBe(4);
    expect(config.algorithm).toMatchObject({ name: 'dapo', clipHigh: 0.3 });
    expect(configure('algorithm.kl=k2').config.algorithm.kl).toBe('k2');
  });

  it('leaves the settings of one unit behind when another is chosen', () => {
    const base = apply({}, 'algorithm=grpo', 'algorithm.clipHigh=0.3');
    const other = apply(base, 'algorithm.kl=k2', 'algorithm=dapo');
    expect(other).toEqual({ algorithm: { name: 'dapo', kl: 'k2' } });
    expect(apply(base, 'algorithm=grpo')).toEqual(base);
    expect(configure('scheduler=synchronous').config.scheduler).toEqual({
      name: 'synchronous',
      promptsPerStep: 16,
    });
  });

  it('starts an algorithm from its profile, whatever the order', () => {
    const names = ['algorithm=grpo', 'algorithm.clipHigh=0.3', 'algorithm.profile=trl'];
    const { config, units } = configure(...names);
    expect(config.algorithm).toMatchObject({ profile: 'trl', clipHigh: 0.3 });
    const { settings } = (units.algorithm ?? { settings: {} }) as {
      readonly settings: Readonly<Record<string, unknown>>;
    };
    for (const [name, value] of Object.entries(settings)) {
      if (name !== 'clipHigh') expect(config.algorithm[name], name).toEqual(value);
    }
  });

  it('weighs the terms of a reward, leaves out those of weight 0, and forgets both for another', () => {
    const weights = ['reward=codevision', 'reward.accuracy=2', 'reward.turn-limit-penalty=0'];
    const run = configure(...weights);
    expect(run.config.reward).toMatchObject({
      accuracy: { weight: 2 },
      'turn-limit-penalty': { weight: 0 },
    });
    const terms = rewardTermsOf(run).map(({ reward, weight }) => [reward.name, weight]);
    expect(terms).toContainEqual(['accuracy', 2]);
    expect(terms).toContainEqual(['must-use-tools', 1]);
    expect(terms.map(([name]) => name)).not.toContain('turn-limit-penalty');
    expect(apply(apply({}, ...weights), 'reward=vista')).toEqual({ reward: 'vista' });
    const bonus = configure('reward=pyvision', 'accumulative-tool=0.3');
    expect(rewardTermsOf(bonus).map(({ weight }) => weight)).toEqual([1, 0.3]);
  });

  it('fills an empty slot that settings are given for', () => {
    const { config } = configure('engine.baseUrl=http://127.0.0.1:1', 'judge.model=grader');
    expect(config.engine).toMatchObject({ name: 'http', baseUrl: 'http://127.0.0.1:1' });
    expect(config.judge).toMatchObject({ name: 'openai', model: 'grader' });
    expect(configure().config).not.toHaveProperty('engine');
    expect(() => configure('coldStart=null', 'coldStart.tours=3')).toThrow(/no setting coldStart/);
  });

  it('empties a slot with null', () => {
    const run = configure('coldStart=null', 'sft.updates=0');
    expect(run.config).not.toHaveProperty('coldStart');
    expect(run.units.coldStart).toBeUndefined();
  });

  it.each([
    ['rl.stepz=3', /There is no setting rl\.stepz\. Did you mean rl\.steps\?/],
    ['updates.steps=3', /There is no setting updates\.steps\./],
    ['weightDecay=3', /several fields end in it, optimizer\.weightDecay and sftOptimizer\./],
    ['rl=3', /rl is a group of settings\. Set one of them: rl\.steps, /],
    ['rl.steps', /expected path=value/],
    ['rl.steps=many', /rl\.steps: expected an integer.*got "many", a string/s],
    ['rl.steps=1.5', /rl\.steps: expected an integer.*got 1\.5/s],
    ['rl.temperature=20', /rl\.temperature: expected a number in \[0\.01, 10\].*got 20/s],
    ['rollout.maxTurnTokens=5000', /less than rollout\.maxContextTokens/],
    ['rl.minibatches=17', /rl\.minibatches: expected at most scheduler\.promptsPerStep .*= 16/],
    ['coldStart=null', /coldStart: sft\.updates is 16 and there are no examples/],
  ])('says what is wrong with %s', (setting, message) => {
    expect(() => configure(setting)).toThrow(ConfigError);
    expect(() => configure(setting)).toThrow(message);
  });

  it.each([
    ['taskSet=haystack', /no task set "haystack"\. Known: .*needle/],
    ['protocol=shouting', /no protocol "shouting"\. Known: .*pyvision-image/],
    ['algorithm=magic', /no algorithm "magic"\. Known: .*grpo/],
    ['algorithm.clipWide=1', /There is no setting algorithm\.clipWide\..*algorithm\.clip/],
    ['algorithm.clipLow=-1', /algorithm\.clipLow: expected a number in \[0, .*got -1/],
    ['algorithm.aggregation=sum', /algorithm\.aggregation: expected one of .*token-mean/],
    ['algorithm.profile=openrlhf', /algorithm: pyvision-rl has no profile "openrlhf"\. Known: /],
    ['scheduler=later', /no scheduler "later"\. Known: /],
    ['reward=praise', /no reward preset "praise"\. Known: .*codevision/],
    [
      'reward=codevision/book',
      /no reward preset "codevision\/book"\. Known: .*codevision, codevision\/code/,
    ],
    ['reward=codev', /codev needs stepScores of a judge, and there is none\. Set judge\.baseUrl/],
    [
      'coldStart=nowhere',
      /no cold start "nowhere"\. Known: card-video, given, needle, tool-needle, turned-needle/,
    ],
    ['reward.praise=1', /There is no setting reward\.praise\./],
    ['model=giant', /no model "giant"\. Known: .*nano/],
    ['backend=abacus', /no backend "abacus"\. Known: .*native/],
    ['optimizer=momentum', /no optimizer "momentum"\. Known: adamw/],
    ['verifier=oracle', /no verifier "oracle"\. Known: .*exact/],
  ])('names the known units for %s, before anything is opened', (setting, message) => {
    expect(() => checkRun(configure(setting))).toThrow(ConfigError);
    expect(() => checkRun(configure(setting))).toThrow(message);
  });

  it('refuses a judge without an address or without a model, by the field', () => {
    const judged =
      (...settings: readonly string[]) =>
      () =>
        checkRun(configure('reward=codev', ...settings));
    expect(judged('judge.baseUrl=localhost')).toThrow(/address like .*got "localhost"/);
    expect(judged('judge.model=')).toThrow(/judge\.model: expected text/);
  });

  it('takes a unit and the field that it requires, in any order, and misses it otherwise', () => {
    const settings = ['model.from=hf:owner/name', 'model=pretrained'];
    for (const given of [settings, settings.toReversed()]) {
      expect(configure(...given).config.model).toMatchObject({ from: 'hf:owner/name' });
    }
    expect(() => configure('model=pretrained')).toThrow(
      /model\.from: expected text \(path or name\), got nothing/,
    );
  });

  it('validates every recipe, and describes every field of every unit', () => {
    for (const [, recipe] of recipes.entries()) {
      expect(() => checkRun(resolveRun(inputOf(recipe)))).not.toThrow();
    }
    for (const key of Object.keys(slots) as readonly (keyof typeof slots)[]) {
      const slot = slots[key] as Slot<{ readonly name: string }>;
      for (const name of slot.registry.names) {
        const chosen = withRequired[`${key}=${name}`] ?? name;
        const own = { coldStart: null, sft: { updates: 0 }, ...company(key), [key]: chosen };
        const { fields } = resolveRun(own as RunInput);
        const schema = schemaOf(slot, slot.registry.get(name));
        expect(fields.length, `${key}=${name}`).toBeGreaterThan(Object.keys(schema.shape).length);
        for (const field of fields) {
          expect(field.about, `${key}=${name}: ${field.path}`).not.toBe('');
          expect(field.unit, `${key}=${name}: ${field.path}`).not.toBe('');
        }
      }
    }
  });
});
