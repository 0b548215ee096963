/** A chart as if it had been read: electricity in Iowa, in GWh (U.S. Energy Information Administration). */
import type { ReadChart } from './chart-reading.ts';

const values = [
  [35361, 3853, 1437],
  [36883, 4538, 2724],
  [38620, 4679, 8560],
  [34873, 5321, 16476],
  [29329, 5214, 21933],
];
const names = ['Fossil Fuels', 'Nuclear Energy', 'Renewables'];
const colors = ['blue', 'orange', 'green'];

export const electricity: ReadChart = {
  size: [640, 400],
  problems: [],
  title: 'Electricity generated in Iowa',
  xTitle: 'Year',
  yTitle: 'GWh',
  page: '#ffffff',
  panel: null,
  plot: [60, 40, 620, 350],
  xAxis: null,
  yAxis: {
    side: 'left',
    isLog: false,
    unit: '',
    confidence: 0.97,
    ticks: [
      { value: 40000, at: 60 },
      { value: 0, at: 350 },
    ],
  },
  legend: null,
  table: {
    kind: 'bar',
    isHorizontal: false,
    isStacked: false,
    rows: ['2001', '2005', '2009', '2013', '2017'],
    series: names.map((name, index) => ({
      name,
      namedBy: 'legend',
      color: '#000000',
      colorName: colors[index] ?? null,
    })),
    cells: values.map((row) =>
      row.map((value) => ({ value, confidence: 0.95, box: [0, 0, 10, 10] })),
    ),
    points: [],
  },
  texts: [],
  rules: [],
  marks: [],
};

/** The same with its fossil fuels alone. */
export const fossil: ReadChart = {
  ...electricity,
  table: {
    ...electricity.table,
    series: electricity.table.series.slice(0, 1),
    cells: electricity.table.cells.map((row) => row.slice(0, 1)),
  },
};
