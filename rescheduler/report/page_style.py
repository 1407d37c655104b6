"""How the page looks: light and dark, wide and narrow, no font or image from elsewhere."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --line: #8884; --quiet: #777; --bar: #4c8dd6; --bar2: #3aa37a; --over: #d64c4c; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } h3 { font-size: 1rem; margin: 0 0 .3rem; }
pre { overflow-x: auto; font-size: .85em; }
.headline { margin: .3rem 0; } .quiet { color: var(--quiet); font-size: .9em; margin: .2rem 0; }
.badge { border-radius: .3rem; padding: .1rem .5rem; color: #fff; background: #777; font-size: .8em; }
.badge.optimal { background: #2c8a5f; } .badge.feasible { background: #b07d12; }
.badge.infeasible, .badge.unknown { background: #b83c3c; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem .3rem 0; vertical-align: top; }
td { overflow-wrap: anywhere; }
.node { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; margin: .6rem 0; }
.row { display: grid; grid-template-columns: 11rem 1fr 11rem; gap: .6rem; align-items: center; font-size: .9em; }
.track { background: var(--line); border-radius: .2rem; height: .7rem; overflow: hidden; }
.fill { display: block; height: 100%; background: var(--bar); } .fill.after { background: var(--bar2); }
.fill.over { background: var(--over); } .amount { text-align: right; font-variant-numeric: tabular-nums; }
.label { overflow-wrap: anywhere; } summary { cursor: pointer; margin: .4rem 0; }
@media (max-width: 40rem) { .row { grid-template-columns: 1fr; gap: 0; } .amount { text-align: left; } }
"""
