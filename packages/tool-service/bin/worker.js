/** One process of tools, forked by a tool service; see `src/places/worker.ts`. */
import { runWorker } from '../dist/places/worker.js';

runWorker();
