// Small line charts as SVG, one under another, with a mark where something was killed.

const WIDTH = 760;
const HEIGHT = 120;
const LEFT = 64;
const RIGHT = 120;
const GAP = 34;
const colors = ['#2a6f97', '#c05621', '#2f855a', '#805ad5'];

const round = (value) => Number(value.toPrecision(4));
const inXml = (text) =>
  text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);

/** A top of the axis that reads well. */
function niceAbove(value) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return unit * ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * unit >= value) ?? 10);
}

/**
 * @param charts [{ title, series: [{ label, values: [[minutes, number], …] }] }]
 * @param marks [{ minutes, isNode }]
 */
export function drawCharts(title, charts, marks) {
  const height = 40 + charts.length * (HEIGHT + GAP);
  const last = Math.max(
    ...charts.flatMap(({ series }) => series.flatMap((s) => s.values.map(([x]) => x))),
  );
  const x = (minutes) => round(LEFT + (minutes / last) * (WIDTH - LEFT - RIGHT));
  const parts = [`<text x="8" y="20" font-size="14">${inXml(title)}</text>`];
  for (const [row, chart] of charts.entries()) {
    const top = 40 + row * (HEIGHT + GAP) + 14;
    const most = niceAbove(Math.max(...chart.series.flatMap((s) => s.values.map(([, y]) => y))));
    const y = (value) => round(top + (1 - value / most) * (HEIGHT - 14));
    parts.push(`<text x="${LEFT}" y="${top - 6}" font-weight="600">${inXml(chart.title)}</text>`);
    for (const value of [0, most / 2, most]) {
      parts.push(
        `<path d="M${LEFT} ${y(value)}H${WIDTH - RIGHT}" stroke="#ddd"/>`,
        `<text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${round(value)}</text>`,
      );
    }
    for (const { minutes, isNode } of marks.filter((mark) => mark.isNode)) {
      parts.push(`<path d="M${x(minutes)} ${y(0)}v-6" stroke="${isNode ? '#c00' : '#bbb'}"/>`);
    }
    for (const [index, { label, values }] of chart.series.entries()) {
      const points = values.map(([at, value]) => `${x(at)},${y(value)}`).join(' ');
      const color = colors[index % colors.length];
      const end = values.at(-1)?.[1] ?? 0;
      parts.push(
        `<polyline points="${points}" fill="none" stroke="${color}" stroke-width="1.2"/>`,
        `<text x="${WIDTH - RIGHT + 6}" y="${y(end) + 4 + index * 11}" fill="${color}">${inXml(label)}</text>`,
      );
    }
    parts.push(
      `<text x="${WIDTH - RIGHT}" y="${y(0) + 14}" text-anchor="end">${round(last)} min</text>`,
    );
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" ` +
    'font-family="sans-serif" font-size="10" fill="#333">\n' +
    `<title>${inXml(title)}</title>\n<rect width="100%" height="100%" fill="#fff"/>\n` +
    `${parts.join('\n')}\n</svg>\n`
  );
}
