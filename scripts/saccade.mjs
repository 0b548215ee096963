#!/usr/bin/env node
/** `npx saccade` at the root of a clone: sets the clone up if that was never done, then runs. */
import { isSetUp, setUpOrExit } from './setup.mjs';

if (!isSetUp()) await setUpOrExit();
await import('../packages/cli/bin/saccade.js');
