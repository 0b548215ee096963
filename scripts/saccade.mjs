#!/usr/bin/env node
// `npx saccade` at the root of a clone: makes sure of the build, then runs the command line.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
if (!existsSync(join(root, 'packages', 'train', 'dist', 'index.js'))) await import('./setup.mjs');
await import('../packages/train/bin/saccade.js');
