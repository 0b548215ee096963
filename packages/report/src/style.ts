/** The report's style sheet. Light and dark follow the reader's system; colors are never alone. */
export const styleSheet: string = `
:root {
  color-scheme: light dark;
  --page: #f7f7f5; --card: #ffffff; --ink: #1c1d1f; --quiet: #5d6168; --rule: #dfe0dc;
  --code: #f1f1ee; --one: #1f5fbf; --two: #b4530a; --three: #17803d; --four: #8e3b9e; --five: #a3232b;
  --six: #5d6168; --right: #17683a; --right-back: #e0f3e6;
  --wrong: #a3232b; --wrong-back: #fbe5e4; --open-back: #ececea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #131416; --card: #1c1e21; --ink: #e8e8e6; --quiet: #a2a6ad; --rule: #34373c;
    --code: #25282c; --one: #82b1ff; --two: #f2a65a; --three: #7fd19b; --four: #d29be0; --five: #ff9d98;
    --six: #a2a6ad; --right: #86dba4; --right-back: #173824;
    --wrong: #ff9d98; --wrong-back: #44201f; --open-back: #2d3035;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; padding: 1.75rem 1.25rem 4rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
body > * { max-width: 73rem; margin-left: auto; margin-right: auto; }
h1, h2, h3, h4, p, figure, dl, dd, ul, ol, pre { margin: 0; padding: 0; }
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -0.015em; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; line-height: 1.3; margin-bottom: .25rem; }
h3 { font-size: 1rem; }
h4 { font-size: .95rem; }
section.part { margin-top: 2.75rem; }
.eyebrow, .quiet, .lead, figcaption, .about { color: var(--quiet); }
.eyebrow { font-size: .85rem; }
.lead { margin-top: .35rem; }
.about { font-size: .9rem; margin-bottom: 1rem; max-width: 46rem; }
.note, .nothing { color: var(--quiet); font-size: .875rem; }
.headline + .note, .charts + .note { margin-top: .6rem; }
.nothing { padding: 2rem 0; text-align: center; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.gaps { margin-top: 1.25rem; padding: .75rem 1rem; border-left: 4px solid var(--two); background: var(--card); font-size: .9rem; }
.gaps ul { padding-left: 1.1rem; }
a { color: var(--one); }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .8125rem; }

.headline { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1rem; margin-top: 1.5rem; }
.number-card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 1rem 1.15rem; }
.number-card h2 { font-size: .9rem; font-weight: 600; color: var(--quiet); margin: 0 0 .35rem; }
.from-to { font-size: 1.65rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; white-space: nowrap; }
.from-to .from, .from-to .arrow { color: var(--quiet); font-weight: 400; }
.number-card p + p { font-size: .85rem; color: var(--quiet); margin-top: .15rem; font-variant-numeric: tabular-nums; }

.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem; }
.chart { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: .9rem 1rem .6rem; display: flex; flex-direction: column; }
.chart svg { width: 100%; height: auto; display: block; margin-top: auto; }
.chart figcaption { font-size: .82rem; line-height: 1.4; padding-bottom: .5rem; }
.chart h3 { color: var(--ink); }
.chart .nothing { padding: 3.5rem 0; }
.key { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1rem; }
.key li { display: flex; align-items: center; gap: .4rem; }
.chart .key svg { width: 22px; margin: 0; }
.chart text { font-size: 10.5px; fill: var(--quiet); font-variant-numeric: tabular-nums; }
.grid { stroke: var(--rule); stroke-width: 1; }
.boundary { stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 2 3; }
.stroke-1 { stroke: var(--one); fill: none; }
.stroke-2 { stroke: var(--two); fill: none; }
.stroke-3 { stroke: var(--three); fill: none; stroke-dasharray: 7 3; }
.stroke-4 { stroke: var(--four); fill: none; stroke-dasharray: 2 3; }
.stroke-5 { stroke: var(--five); fill: none; stroke-dasharray: 8 3 2 3; }
.stroke-6 { stroke: var(--six); fill: none; stroke-dasharray: 4 2; }
.line, .key line { stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.raw { stroke-width: 1; opacity: .32; }
.bar { stroke-width: 1.75; opacity: .85; }
.dot-1 { fill: var(--one); stroke: var(--card); stroke-width: 1.25; }
.dot-2 { fill: var(--two); stroke: var(--card); stroke-width: 1.25; }

.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .35rem 1.5rem; font-size: .9rem; margin-bottom: 1rem; }
.legend li { display: flex; align-items: center; gap: .5rem; }
.legend svg { width: 34px; height: 24px; background: #33302a; border-radius: 4px; flex: none; }
.task { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; margin-bottom: .75rem; }
.task > summary { padding: .7rem 1rem; cursor: pointer; border-radius: 10px; }
.task > summary h3 { display: inline; font-size: .9rem; font-weight: 600; margin-right: .6rem; overflow-wrap: anywhere; }
.task > summary .quiet { font-size: .85rem; margin-left: .4rem; }
.change { white-space: nowrap; }
.question { padding: 0 1rem .75rem; font-size: .9rem; }
.sides { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); border-top: 1px solid var(--rule); }
.side { padding: .9rem 1rem 1.1rem; min-width: 0; }
.side + .side { border-left: 1px solid var(--rule); }
.side h4 { margin-bottom: .5rem; }
.badge { display: inline-block; padding: .05rem .5rem; border-radius: 5px; font-size: .85rem; font-weight: 600; overflow-wrap: anywhere; white-space: normal; }
.badge.right { background: var(--right-back); color: var(--right); }
.badge.wrong { background: var(--wrong-back); color: var(--wrong); }
.badge.open { background: var(--open-back); color: var(--quiet); }
.answer { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.look-and-facts { display: flex; flex-wrap: wrap; gap: .6rem 1.1rem; margin-bottom: .8rem; }
.overview { flex: 1 1 15rem; max-width: 19rem; }
.overview svg { display: block; width: 100%; height: auto; border-radius: 4px; }
.overview figcaption, .look figcaption { font-size: .78rem; margin-top: .25rem; }
.lost { fill: var(--code); }
.halo, .box { fill: none; vector-effect: non-scaling-stroke; }
.halo { stroke: #000; stroke-opacity: .6; stroke-width: 4.5px; }
.box { stroke-width: 2.25px; }
.box.crop { stroke: #35d6ff; }
.box.truth { stroke: #ffd23f; stroke-dasharray: 5 4; }
.tag { fill: #35d6ff; stroke: #000; stroke-opacity: .6; vector-effect: non-scaling-stroke; }
.tag-text { fill: #06232b; font-weight: 700; font-family: system-ui, sans-serif; }
.facts { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .2rem .9rem; font-size: .875rem; flex: 1 1 10rem; align-content: start; }
.facts div { display: contents; }
.facts dt { color: var(--quiet); }
.facts dd { overflow-wrap: anywhere; }
.turns { list-style: none; counter-reset: turn; }
.turns > li { counter-increment: turn; border-top: 1px solid var(--rule); padding: .6rem 0 .7rem 2rem; position: relative; }
.turns > li::before { content: counter(turn); position: absolute; left: 0; top: .62rem; width: 1.35rem; height: 1.35rem; border-radius: 50%; background: var(--open-back); color: var(--quiet); font-size: .78rem; line-height: 1.35rem; text-align: center; }
.what { font-size: .875rem; }
.what.failed { color: var(--wrong); }
.thought { font-size: .875rem; margin-bottom: .3rem; overflow-wrap: anywhere; }
pre { background: var(--code); border-radius: 5px; padding: .5rem .65rem; margin: .3rem 0 .4rem; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.45; max-height: 22rem; overflow-y: auto; }
pre.failed { color: var(--wrong); }
.looks { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: .4rem; }
.look img { display: block; width: 7rem; height: auto; max-width: 100%; border: 2px solid #1a9fc2; border-radius: 3px; }
.look img.tiny { image-rendering: pixelated; }
.look .nothing { width: 7rem; padding: 1rem .5rem; border: 1px dashed var(--rule); }
.number { display: inline-block; min-width: 1.25em; padding: 0 .25em; border-radius: 3px; background: #35d6ff; color: #06232b; font-weight: 700; text-align: center; }

table { border-collapse: collapse; width: 100%; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
td { overflow-wrap: anywhere; }
th { font-weight: 500; }
thead th { color: var(--quiet); }
td.n, th.n { text-align: right; white-space: nowrap; }
.scroll { overflow-x: auto; padding: 0 1rem .9rem; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: .6rem 0 0; }
.audit .badge { white-space: nowrap; overflow-wrap: normal; }
.audit td:nth-child(2) { overflow-wrap: normal; }
.audit td:nth-child(4) { min-width: 20rem; }
.audit td:nth-child(5) { min-width: 14rem; font-size: .8rem; }
.fold h4 { margin-top: .9rem; }
.outcomes { width: auto; margin-bottom: 1.1rem; }
.fold { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; margin-bottom: .75rem; }
.fold > summary { padding: .7rem 1rem; cursor: pointer; font-weight: 600; }
summary:focus-visible { outline: 2px solid var(--one); outline-offset: 2px; }
@media (max-width: 46rem) {
  body { padding: 1.1rem .8rem 3rem; }
  .sides { grid-template-columns: minmax(0, 1fr); }
  .side + .side { border-left: 0; border-top: 4px double var(--rule); }
  .overview { max-width: none; flex-basis: 100%; }
  .change { display: block; white-space: normal; margin-top: .25rem; }
  .task > summary .quiet { margin-left: 0; }
  .outcomes { width: 100%; }
}
@media print { body { background: none; } .task, .chart, .number-card { break-inside: avoid; } }
`;
