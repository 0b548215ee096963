#!/usr/bin/env node
import { main } from '@saccade/train';

await main(process.argv);
