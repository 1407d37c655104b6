"""How the page looks: light and dark, wide and narrow, on paper; no font or image from elsewhere."""

from __future__ import annotations

STYLE = r"""
:root { color-scheme: light dark; --page: #fff; --ink: #1c2430; --quiet: #5a6675; --line: #d5dbe3; --card: #f6f8fa;
  --track: #eceff3; --stays: #b9cfe8; --leaves: #f6c28b; --leaves2: #f9d9b5; --arrives: #9fd8b4; --placed: #cdb4ee;
  --arrow: #2f6db3; --arrowp: #7a45c4; --bad: #b3261e; --chosen: #1f5fa8; --focus: #d98200; --near: #2c8a5f; }
@media (prefers-color-scheme: dark) { :root { --page: #14181e; --ink: #e4e8ee; --quiet: #a0abb9; --line: #343c47;
  --card: #1c2229; --track: #272e37; --stays: #345a85; --leaves: #8a5214; --leaves2: #6d4312; --arrives: #1f6b3f;
  --placed: #5f3d99; --arrow: #79b0ee; --arrowp: #bd97f5; --bad: #ff8a80; --chosen: #2f6db3; --near: #3aa372; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; background: var(--page); color: var(--ink); }
main { max-width: 76rem; margin: 0 auto; padding: 1.2rem 1rem 3rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: .95rem; margin: 0 0 .3rem; }
p { margin: .3rem 0; overflow-wrap: anywhere; } .quiet { color: var(--quiet); font-size: .88em; }
pre { overflow-x: auto; font-size: .85em; } summary { cursor: pointer; margin: .4rem 0; overflow-wrap: anywhere; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .8rem;
  margin: .6rem 0; }
.headline { font-weight: 600; } .names { max-height: 12rem; overflow-y: auto; }
.badge { border-radius: .3rem; padding: .1rem .5rem; color: #fff; background: #596575; font-size: .8em;
  print-color-adjust: exact; }
.badge.optimal { background: #1f7a4d; } .badge.feasible { background: #8a5f00; }
.badge.infeasible, .badge.unknown { background: #b3261e; }
.near { height: .6rem; border-radius: .3rem; background: var(--track); overflow: hidden; margin: .3rem 0 0; }
.near i { display: block; height: 100%; background: var(--near); }
.tiles { display: flex; flex-wrap: wrap; gap: .3rem 2rem; margin: .8rem 0; }
.tiles b { font-size: 1.7rem; font-weight: 650; margin-right: .2rem; }
.warning { border-left: 4px solid var(--focus); padding-left: .6rem; }
.t { position: relative; display: flex; height: 1.15rem; margin: .1rem 0; background: var(--track);
  border-radius: .15rem; overflow: hidden; font-size: .76rem; line-height: 1.15rem; }
.t i { height: 100%; flex: none; } .t b, .t u { position: absolute; font-weight: 400; text-decoration: none;
  white-space: nowrap; } .t b { left: .35rem; } .t u { right: .35rem; font-variant-numeric: tabular-nums; }
.t.none { background: none; } .t.over u { font-weight: 700; }
.t.over::after { content: ""; position: absolute; inset: 0; border: 2px solid var(--bad); border-radius: .15rem; }
i.s { background: var(--stays); } i.i { background: var(--arrives); } i.p { background: var(--placed); }
i.o { background: repeating-linear-gradient(135deg, var(--leaves) 0 4px, var(--leaves2) 4px 8px); }
.t, .near, .legend i, .arrows, .tabs label, .mark { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; color: var(--quiet); font-size: .88em; }
.legend i { display: inline-block; width: 1.1rem; height: .75rem; border-radius: .15rem; vertical-align: -1px; }
.walk { position: relative; --name: 13rem; --gut: 9rem; }
.pick { position: absolute; top: 0; left: 0; opacity: 0; pointer-events: none; }
.tabs { display: flex; flex-wrap: wrap; gap: .35rem; margin: .6rem 0; }
.tabs label, .turn label { border: 1px solid var(--line); border-radius: 1rem; padding: .15rem .7rem; cursor: pointer;
  font-size: .88em; }
.tabs span { color: var(--quiet); font-size: .88em; align-self: center; }
.pane { display: none; } .told { display: flex; flex-wrap: wrap; gap: .3rem .6rem; align-items: center;
  min-height: 2rem; }
.turn { display: flex; gap: .5rem; margin-left: auto; }
.n { display: grid; grid-template-columns: var(--name) minmax(0, 1fr) var(--gut) minmax(0, 1fr); align-items: center; }
.head { color: var(--quiet); font-size: .82em; border-bottom: 1px solid var(--line); }
.flow { position: relative; }
.flow .n { height: calc(var(--k) * 1.35rem + 1rem); border-bottom: 1px solid var(--line); }
.name { min-width: 0; padding-right: .6rem; line-height: 1.25; }
.name span, .other span { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.name span { font-weight: 600; font-size: .92em; } small { color: var(--quiet); font-size: .8em; }
.mark { font-style: normal; font-weight: 600; color: #fff; background: #1f7a4d; border-radius: .25rem;
  padding: 0 .35em; }
.who { font-size: .85em; max-height: 100%; overflow: hidden; overflow-wrap: anywhere; }
.a { position: relative; } .a.to::before { content: ""; position: absolute; right: 100%; top: 50%; margin-top: -5px;
  border: 5px solid transparent; border-left: 8px solid var(--arrow); border-right: 0; z-index: 1; }
.arrows { position: absolute; top: 0; height: 100%; width: calc(var(--gut) - 8px); fill: none; stroke: var(--arrow);
  left: calc(var(--name) + (100% - var(--name) - var(--gut)) / 2); stroke-opacity: .8; }
.arrows.many { stroke-opacity: .4; } .arrows path { vector-effect: non-scaling-stroke; }
.arrows path.p { stroke: var(--arrowp); } .arrows path:hover { stroke-opacity: 1; stroke: var(--focus); }
.payers { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: .8rem 2rem; }
.others { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .5rem 1.2rem; }
.other { min-width: 0; font-size: .88em; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; }
.list th, .list td { border-bottom: 1px solid var(--line); padding: .25rem .7rem .25rem 0; vertical-align: top; }
td { overflow-wrap: anywhere; } .list { font-size: .92em; }
.hist { font-size: .85em; } .hist caption { text-align: left; font-weight: 600; } .hist th { font-weight: 400; }
.hist td { width: 35%; padding: 0 .4rem 0 0; }
@media (max-width: 44rem) {
  .walk { --name: 0rem; --gut: 2.6rem; }
  .n { grid-template-columns: minmax(0, 1fr) var(--gut) minmax(0, 1fr); align-content: center; }
  .name { grid-column: 1 / -1; } .head div:first-child { display: none; } .arrows { margin-top: .65rem; }
  .name { display: flex; justify-content: space-between; gap: .5rem; align-items: baseline; padding: 0; }
  .name span, .name small { position: relative; z-index: 1; background: var(--page); } .name small { flex: none; }
  .flow .n { height: calc(var(--k) * 1.35rem + 2.6rem); }
  .list thead { display: none; } .list tr { display: block; border-bottom: 1px solid var(--line); padding: .3rem 0; }
  .list td { display: block; border: 0; padding: 0; }
  .list td::before { content: attr(data-h) ": "; color: var(--quiet); }
}
@media print { :root { color-scheme: light; } .tabs, .turn { display: none; }
  main { max-width: none; padding: 0; } .card, .flow .n, tr { break-inside: avoid; } }
"""
