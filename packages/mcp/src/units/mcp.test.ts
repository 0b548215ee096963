import { readSettings } from '@saccade/core/settings';
import { expect, it } from 'vitest';
import { mcpNamed } from './mcp.ts';

it('names its own fields in what is wrong with its settings', () => {
  const maps = mcpNamed('maps');
  const settings = readSettings('tools.maps', maps.settings, {});
  expect(() => maps.describe(settings)).toThrow(/^tools\.maps\.command: .* tools\.maps\.url,/);
});
