#!/usr/bin/env node
import { main } from '@saccade/cli';

await main(process.argv);
