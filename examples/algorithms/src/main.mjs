/**
 * Prints one step of an algorithm, token by token.
 *
 *   node src/main.mjs [algorithm]
 */
import { rowsOf } from './rows.mjs';
import { tenLines } from './ten-lines.mjs';

const { loss, explanation } = tenLines(process.argv[2] ?? 'dapo');
console.table(rowsOf(explanation));
console.log(`loss ${loss.toFixed(6)}`);
