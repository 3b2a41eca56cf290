"""How a report page looks; colours come from the palettes of drawing.py."""

PAGE_STYLE = """
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font-size:15px;line-height:1.5;
 font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif}
main{max-width:1080px;margin:0 auto;padding:24px 16px 48px}
h1{font-size:1.55rem;line-height:1.25;margin:.1em 0 .35em;overflow-wrap:anywhere}
h2{font-size:1.08rem;margin:0 0 .5em} h3{font-size:.95rem;margin:0 0 .15em;overflow-wrap:anywhere}
p{margin:0 0 .7em;max-width:72ch} ul{margin:0;padding-left:1.2em}
code{font:.88em/1.45 ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;overflow-wrap:anywhere}
pre{background:var(--page);border:1px solid var(--grid);border-radius:6px;padding:10px 12px;margin:0 0 .8em;white-space:pre-wrap}
a{color:var(--accent)} summary{cursor:pointer;color:var(--accent)}
.brand{color:var(--accent);font-weight:700} .quiet,.kicker{color:var(--muted)} .kicker{font-size:.88rem}
p.verdict{font-size:1.08rem;max-width:80ch} .good{color:var(--accent);font-weight:600} .bad{color:var(--warn);font-weight:600}
div.verdict{border-left:8px solid;border-radius:10px;padding:12px 18px;margin:12px 0} div.verdict p{margin:.25em 0 0;max-width:none;color:var(--ink)}
div.verdict b{font-size:1.35rem;line-height:1.3} .verdict.green{color:var(--fine);background:var(--fine-soft)}
.verdict.amber{color:var(--care);background:var(--care-soft)} .verdict.red{color:var(--warn);background:var(--warn-soft)}
p.above{color:var(--warn);font-weight:600;max-width:none;margin:.2em 0}
dl.facts{padding:4px 18px} .facts>div{display:grid;grid-template-columns:12.5em 1fr;padding:9px 0;border-bottom:1px solid var(--grid)}
.facts>div:last-child{border-bottom:0} .facts dt{color:var(--muted)} .facts .alarm dt{color:var(--warn);font-weight:600} .facts dd{margin:0}
.facts ul{margin-bottom:.3em} .facts code,li code{font-weight:600}
.card,.tile,figure{background:var(--card);border:1px solid var(--grid);border-radius:10px}
.card{padding:16px 18px;margin:16px 0} .card>p:last-child{margin:0} .card.alarm{border-color:var(--warn);background:var(--warn-soft)}
.banner{background:var(--warn);color:var(--card);font-weight:700;text-align:center;padding:10px 16px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(158px,1fr));gap:12px;margin:18px 0}
.tile{padding:12px 14px} .tile b{display:block;font-size:1.35rem;line-height:1.25;font-weight:650} .tile.alarm b{color:var(--warn)}
.tile span,.tile small{display:block;color:var(--muted);font-size:.84rem;overflow-wrap:anywhere}
.pictures{columns:400px 2;column-gap:16px} .pictures figure{break-inside:avoid;margin-bottom:16px}
figure{margin:0;padding:14px 16px} figcaption{margin-bottom:10px} figcaption p{color:var(--muted);font-size:.9rem;margin:0}
figure svg{max-width:520px} figure.wide p{max-width:none} figure.wide svg{max-width:none;min-width:600px} .scroll{overflow-x:auto}
figure.lattice svg{min-width:960px} p.keys{max-width:none;margin:.7em 0 0;display:flex;flex-wrap:wrap;gap:4px 20px;color:var(--ink);font-size:.9rem}
.key.optimum{color:var(--care)} .key.kept{color:var(--fine)} .key.lacking{color:var(--warn)} td .key{font-weight:700}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th{text-align:left;white-space:nowrap;color:var(--muted);font-weight:500;font-size:.85rem}
th,td{padding:6px 14px 6px 0;border-bottom:1px solid var(--grid);vertical-align:top} tr:last-child td{border-bottom:0}
table.roles td:first-child{width:1%;white-space:nowrap;color:var(--muted)}
th:last-child,td:last-child{padding-right:0} .n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.n+td:not(.n),.n+th:not(.n){padding-left:16px} .slim table{width:auto}
td.words{min-width:13em;overflow-wrap:anywhere}
.names code{background:var(--page);border-radius:4px;padding:1px 5px;margin:0 2px 2px 0;display:inline-block}
ol.steps{margin:0;padding-left:1.3em} ol.steps li{margin-bottom:.8em} details{margin:0 0 16px} details>.pictures{margin-top:12px}
.groups{columns:430px 2;column-gap:32px} .groups.wide{columns:auto} .group{break-inside:avoid;border-top:1px solid var(--grid);padding:12px 0 4px}
.group p{margin:.4em 0} .group h3 span{color:var(--muted);font-weight:400}
table.cells{width:auto} .cells th[scope=row]{padding-right:18px} .cells th{white-space:nowrap} .cells td{min-width:3.2em}
.cells td,.cells th{padding-right:12px}
.cells .released td{font-weight:600} th.bad{color:var(--warn);font-weight:600}
@media (max-width:560px){main{padding:14px 10px 32px} .card,figure{padding:12px} dl.facts{padding:2px 12px}
 .tiles{grid-template-columns:1fr 1fr} .tile b{font-size:1.25rem} .facts>div{display:block} td.words{min-width:0}
 .pictures,.groups{columns:auto} .cells td{max-width:11em} div.verdict{padding:10px 12px} div.verdict b{font-size:1.15rem}
 .stack,.stack tbody,.stack tr,.stack td{display:block} .stack thead{display:none} .stack tr{border-bottom:1px solid var(--grid);padding:8px 0}
 .stack tr:last-child{border-bottom:0} .stack td{border:0;padding:1px 0;text-align:left;white-space:normal;overflow-wrap:anywhere}
 .stack td:not(.words){display:inline-block;margin-right:1.1em} .stack td:empty{display:none}
 .stack td::before{content:attr(data-label) ": ";color:var(--muted)}
 .stack td:first-child::before{content:none} .stack td:first-child{font-weight:600} .n+td:not(.n){padding-left:0}}
@media print{main{max-width:none;padding:0} .card,figure,.tile,tr{break-inside:avoid}
 *{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""
