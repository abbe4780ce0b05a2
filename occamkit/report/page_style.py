"""The style and the script of the page; both are inside it, since it asks nothing of the network."""

from __future__ import annotations

STYLE = """
:root { --ink: #1d2433; --faint: #6b7489; --line: #dde1ea; --paper: #fff; --card: #f7f8fb; --train: #8b97b0;
  --valid: #0b7a75; --test: #c2571a; --mark: #3949ab; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaf2; --faint: #98a1b8; --line: #333a4b; --paper: #141820;
  --card: #1c212c; --train: #7a86a1; --valid: #3fc1b9; --test: #f0935a; --mark: #93a1ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.2rem 4rem; color: var(--ink); background: var(--paper);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; }
h3 { font-size: .95rem; margin: .2rem 0; color: var(--faint); font-weight: 600; }
.sub { color: var(--faint); margin: .4rem 0 1.2rem; } table + h3 { margin-top: 1.2rem; }
.formula { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 1.1rem; overflow-x: auto; }
.formula math { font-size: 1.5rem; } .formula code { display: block; margin-top: .8rem; color: var(--faint); }
.grid { stroke: var(--line); fill: none; stroke-width: .6; } .axis { stroke: var(--faint); fill: none; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: 1rem; }
.wide { overflow-x: auto; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .6rem; }
svg { width: 100%; height: auto; display: block; font: 11px system-ui, sans-serif; }
svg text { fill: var(--ink); } .tick { text-anchor: middle; fill: var(--faint) !important; } .side { text-anchor: end; }
.name { text-anchor: middle; } .label { text-anchor: middle; }
circle.train { fill: var(--train); fill-opacity: .55; } circle.valid { fill: var(--valid); fill-opacity: .7; }
circle.test { fill: var(--test); fill-opacity: .7; } circle.fit { fill: var(--mark); fill-opacity: .8; }
circle.front { fill: var(--mark); cursor: pointer; } circle.front.chosen { stroke: var(--test); stroke-width: 3; }
polyline { fill: none; stroke-width: 1.6; stroke: var(--mark); } polyline.second { stroke: var(--test); }
polyline.ideal { stroke: var(--faint); stroke-dasharray: 4 4; }
.edge { fill: none; stroke: var(--mark); } .node { fill: var(--paper); stroke: var(--faint); }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .25rem .6rem .25rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; } th { color: var(--faint); font-weight: 600; }
.key span { display: inline-block; width: .7em; height: .7em; border-radius: 50%; margin: 0 .3em 0 1em; }
#detail, .detail { min-height: 4.5rem; margin-top: .6rem; overflow-x: auto; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .8rem; overflow-x: auto; }
"""

SCRIPT = """
for (const point of document.querySelectorAll("circle.front")) {
  const panel = document.getElementById(point.dataset.panel);
  const show = () => {
    for (const other of point.parentNode.querySelectorAll("circle.front")) other.classList.remove("chosen");
    point.classList.add("chosen");
    panel.replaceChildren(document.getElementById(point.dataset.shows).content.cloneNode(true));
  };
  point.addEventListener("mouseenter", show);
  point.addEventListener("focus", show);
  if (point.dataset.best === "yes") show();
}
"""
