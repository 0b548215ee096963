// Prints seconds per step of synchronous and asynchronous training on a fake clock:
//   node packages/schedulers/bin/throughput.js [trainSeconds …]
import { compareThroughput } from '../dist/contract.js';

const chosen = process.argv.slice(2).map(Number);
const common = {
  promptsPerStep: 16,
  groupSize: 8,
  steps: 100,
  workers: 128,
  slowRate: 0.1,
  seed: 1,
};
console.log('B 16, G 8, 128 workers, rollouts of 1 s, one in ten of 10 s (exponential), 100 steps');
console.log(
  'train  η  synchronous  wait    drop    ideal   ratio wait  ratio drop  dropped  staleness',
);
for (const trainSeconds of chosen.length > 0 ? chosen : [2, 10, 40]) {
  for (const maxStaleness of [1, 2, 4, 8]) {
    const t = compareThroughput({ ...common, trainSeconds, maxStaleness });
    const cells = [
      `${trainSeconds} s`.padEnd(6),
      String(maxStaleness),
      `${t.synchronous.toFixed(1)} s`.padStart(9),
      `${t.waiting.toFixed(1)} s`.padStart(9),
      `${t.dropping.toFixed(1)} s`.padStart(7),
      `${t.ideal.toFixed(1)} s`.padStart(7),
      (t.synchronous / t.waiting).toFixed(2).padStart(8),
      (t.synchronous / t.dropping).toFixed(2).padStart(11),
      `${(100 * t.droppedShare).toFixed(0)} %`.padStart(9),
      `${t.waitingStaleness.toFixed(1)}, ${t.droppingStaleness.toFixed(1)}`.padStart(10),
    ];
    console.log(cells.join('  '));
  }
}
