/** Every benchmark that a suite is a form of can be read, or there is a reason why not. */
import { describe, expect, it } from 'vitest';
import { suiteGroups, suites } from '../suite-registry.ts';
import { underOrientations } from './orientations.ts';

/** Benchmarks that nobody can read, and why. */
const unread: Readonly<Record<string, string>> = {
  MVToolBench: 'its images and questions are not published; `mvtool` builds them as its paper does',
  'CodeVision, Fig. 1': 'its 200 images are not published; `orientation-diagnostic` makes others',
};

const TURNED = ' under six orientations';

describe('benchmarks that suites are forms of', () => {
  const forms = [...new Set(suites.entries().flatMap(([, { form }]) => form))].sort();
  const readers = new Map(
    suites.entries().flatMap(([, suite]) => suite.reads.map((name) => [name, suite] as const)),
  );

  it.each(forms)('%s has a suite that reads it, or a reason', (form) => {
    if (unread[form] !== undefined) return;
    const name = form.replace(TURNED, '');
    const reader = readers.get(name);
    expect(reader, `no public suite reads ${name}`).toBeDefined();
    if (reader === undefined || !form.endsWith(TURNED)) return;
    expect(underOrientations(reader).taskSet).toMatchObject({ name: 'orientation', of: 'dataset' });
  });

  it('are read by public suites alone, each by one', () => {
    const named = suites.entries().flatMap(([, { reads }]) => reads);
    expect(new Set(named).size).toBe(named.length);
    const reading = suites
      .entries()
      .flatMap(([name, { reads }]) => (reads.length > 0 ? [name] : []));
    expect(reading).toEqual(suiteGroups.public);
  });

  it('are without a reader for a reason only where a suite has their form', () => {
    for (const name of Object.keys(unread)) {
      expect(forms).toContain(name);
      expect(readers.has(name), name).toBe(false);
    }
  });
});
