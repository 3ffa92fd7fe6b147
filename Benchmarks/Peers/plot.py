"""The rows as bars, each a share of its goal: an SVG that can be read in light and in dark."""
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, TOP, STEP = 900, 24, 230, 78, 46
# Where the plot ends, in shares of the goal.
MOST = 1.6
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .page { fill: #ffffff; }
  .head { font-size: 16px; font-weight: 600; }
  .faint { fill: #59636e; font-size: 12px; }
  .goal { stroke: #59636e; stroke-width: 1.5; stroke-dasharray: 4 3; }
  .mark { stroke: #1f2328; stroke-width: 2.5; }
  .track { fill: #eaeef2; }
  .stretch { fill: #1a7f64; }
  .pass { fill: #2f7dc4; }
  .fail { fill: #c9661a; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .page { fill: #0d1117; }
    .faint { fill: #9198a1; }
    .goal { stroke: #9198a1; }
    .mark { stroke: #e6edf3; }
    .track { fill: #262c36; }
    .stretch { fill: #2ea88a; }
    .pass { fill: #4a9ce8; }
    .fail { fill: #e58a3c; }
  }
"""


def svg(rows, results, runs, subtitle):
    shown = [row for row in rows if row.goal is not None]
    height = TOP + STEP * len(shown) + 40
    scale = (WIDTH - LEFT - RIGHT) / MOST

    def x(share):
        return LEFT + min(share, MOST) * scale

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        ' role="img" aria-labelledby="title">',
        '<title id="title">What was measured, as a share of each goal; shorter is better</title>',
        f"<style>{STYLE}</style>",
        # Its own background: a page may be light where the system is dark.
        f'<rect class="page" width="{WIDTH}" height="{height}" rx="6"/>',
        f'<text class="head" x="{LEFT}" y="28">Measured, as a share of each goal: shorter is better</text>',
        f'<text class="faint" x="{LEFT}" y="48">{escape(subtitle)}</text>',
        f'<text class="faint" x="{x(1):.1f}" y="68" text-anchor="middle">goal</text>',
    ]
    for number, row in enumerate(shown):
        y = TOP + STEP * number
        value, verdict = row.value(results, runs), row.verdict(results, runs)
        parts.append(f'<text x="{LEFT}" y="{y + 13}">{escape(row.title)}</text>')
        parts.append(f'<rect class="track" x="{LEFT}" y="{y + 19}" width="{x(MOST) - LEFT:.1f}" height="14" rx="2"/>')
        label, detail = "–", verdict
        if value is not None:
            share = row.share(value)
            kind = "fail" if verdict == "FAIL" else "stretch" if "stretch" in verdict else "pass"
            parts.append(f'<rect class="{kind}" x="{LEFT}" y="{y + 19}" width="{x(share) - LEFT:.1f}" height="14"'
                         ' rx="2"/>')
            label = row.text(value) + (" →" if share > MOST else "")
            detail = f"goal {row.mark(row.goal)}"
        if row.stretch is not None:
            detail += f", stretch {row.mark(row.stretch)}" if value is not None else ""
            mark = x(row.share(row.stretch))
            parts.append(f'<line class="mark" x1="{mark:.1f}" y1="{y + 16}" x2="{mark:.1f}" y2="{y + 36}"/>')
        parts.append(f'<text x="{x(MOST) + 12:.1f}" y="{y + 24}">{escape(label)}</text>')
        parts.append(f'<text class="faint" x="{x(MOST) + 12:.1f}" y="{y + 39}">{escape(detail)}</text>')
    end = TOP + STEP * len(shown)
    parts.append(f'<line class="goal" x1="{x(1):.1f}" y1="{TOP - 6}" x2="{x(1):.1f}" y2="{end}"/>')
    parts.append(f'<text class="faint" x="{LEFT}" y="{end + 22}">Dashes: the goal. Upright marks: the stretch.'
                 " Green reaches the stretch, blue the goal, orange neither.</text>")
    return "\n".join(parts) + "\n</svg>\n"
