/** The options of `saccade data`. */
import { addDataCheck } from './data-check.ts';
import { addDataExport } from './data-export.ts';
import { addDataShow } from './data-show.ts';
import { addDataStats } from './data-stats.ts';
import type { LazyCommand } from './lazy-command.ts';

export function addData(program: LazyCommand): void {
  const command = program
    .command('data')
    .description('Show, check, measure and export data sets.')
    .addHelpText(
      'after',
      `
Examples:
  saccade data show data/charts
  saccade data show hf:datasets/HuggingFaceM4/ChartQA --set trainFiles=data/train-*
  saccade data check data/charts --set mapping=chartqa
  saccade data stats data/charts --out charts.html
  saccade data export --set taskSet=needle --count 100 --out data/needle`,
    );
  addDataShow(command);
  addDataCheck(command);
  addDataStats(command);
  addDataExport(command);
}
