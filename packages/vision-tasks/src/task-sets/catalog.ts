export { chartsQa } from './charts-qa.ts';
