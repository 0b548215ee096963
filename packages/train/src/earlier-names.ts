/** Names that earlier versions wrote into a run's configuration, and their names in this one. */
import { isPlain } from './slots/slot.ts';

const algorithmSettings: Readonly<Record<string, string>> = {
  behaviourCap: 'behaviorCap',
  correctionNormalised: 'correctionNormalized',
  isStandardised: 'isStandardized',
};

const ratios: Readonly<Record<string, string>> = {
  behaviour: 'behavior',
  'behaviour-sequence': 'behavior-sequence',
};

/** A stored configuration under the names of this version; runs of earlier ones stay readable. */
export function withPresentNames<Config extends { readonly algorithm?: unknown }>(
  config: Config,
): Config {
  if (!isPlain(config.algorithm)) return config;
  const algorithm = Object.entries(config.algorithm).map(([name, value]) => {
    const present = name === 'ratio' ? (ratios[String(value)] ?? value) : value;
    return [algorithmSettings[name] ?? name, present] as const;
  });
  return { ...config, algorithm: Object.fromEntries(algorithm) };
}
