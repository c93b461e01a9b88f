"""The style sheet of the HTML rendering: every rule is confined to its own section."""

from __future__ import annotations

from orfeon.rendering.palette import EDGE, FAINT, INK, MUTED_INK, TRACK

_SHARED = f"""
.orfeon-tree{{font:14px/1.35 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
color:{INK};background:#fff;padding:16px 20px}}
.orfeon-tree *{{box-sizing:border-box}}
.orfeon-tree h2{{font-size:20px;margin:0;line-height:1.2}}
.orfeon-tree h3{{font-size:15px;margin:24px 0 4px}}
.orfeon-tree .summary{{margin:2px 0 8px;color:{MUTED_INK}}}
.orfeon-tree ul{{list-style:none;margin:0;padding:0}}
.orfeon-tree .legend{{display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 10px}}
.orfeon-tree .legend i{{display:inline-block;width:11px;height:11px;margin-right:6px;
border-radius:2px}}
.orfeon-tree input{{position:absolute;opacity:0}}
.orfeon-tree label{{display:inline-block;padding:2px 10px;border:1px solid {FAINT};
color:{MUTED_INK};cursor:pointer;background:#fff}}
.orfeon-tree label:first-of-type{{border-radius:6px 0 0 6px}}
.orfeon-tree label:last-of-type{{border-radius:0 6px 6px 0;margin-left:-1px}}
.orfeon-tree input:checked+label{{background:#EEF2F6;color:{INK};font-weight:600}}
.orfeon-tree input:focus-visible+label,.orfeon-tree summary:focus-visible .box,
.orfeon-tree a:focus-visible,.orfeon-tree .canvas:focus-visible{{outline:3px solid #0072B2;
outline-offset:2px}}
.orfeon-tree .canvas{{overflow-x:auto;padding:16px 4px 8px}}
.orfeon-tree summary{{list-style:none;cursor:pointer}}
.orfeon-tree summary::-webkit-details-marker{{display:none}}
.orfeon-tree .box{{display:inline-flex;border:1px solid {EDGE};border-radius:6px;
overflow-wrap:anywhere}}
.orfeon-tree .box.leaf{{border-width:2px}}
.orfeon-tree .box.cut{{border-style:dashed}}
.orfeon-tree .title{{font-weight:600}}
.orfeon-tree .detail{{font-size:12px;color:{MUTED_INK}}}
.orfeon-tree .on{{font-size:12px;color:#0B5394}}
.orfeon-tree .bar{{display:flex;height:6px;overflow:hidden}}
.orfeon-tree .bar i{{display:block;height:100%}}
.orfeon-tree .bar.scale{{position:relative;overflow:visible;
background:linear-gradient({TRACK},{TRACK}) center/100% 2px no-repeat}}
.orfeon-tree .bar.scale .mark{{position:absolute;width:6px;height:6px;margin-left:-3px;
border-radius:50%;background:{INK}}}
"""

# Each item hangs from a line across its siblings; the line's halves are drawn by the items, so the
# first and the last have one half only.
_PICTURE = f"""
.orfeon-tree .to-picture:checked~.canvas ul{{display:flex;justify-content:center;
width:max-content;min-width:100%}}
.orfeon-tree .to-picture:checked~.canvas li{{display:flex;flex-direction:column;
align-items:center;position:relative;padding:0 7px;flex:none}}
.orfeon-tree .to-picture:checked~.canvas details{{display:flex;flex-direction:column;
align-items:center}}
.orfeon-tree .to-picture:checked~.canvas summary{{display:flex;flex-direction:column;
align-items:center}}
.orfeon-tree .to-picture:checked~.canvas details[open]>summary::after{{content:"";display:block;
width:2px;height:14px;margin:0 auto;background:{EDGE}}}
.orfeon-tree .to-picture:checked~.canvas details:not([open])>summary::after{{content:"▾";
display:block;color:{MUTED_INK};line-height:1}}
.orfeon-tree .to-picture:checked~.canvas ul ul>li{{padding-top:12px}}
.orfeon-tree .to-picture:checked~.canvas ul ul>li::before{{content:"";position:absolute;top:0;
left:0;right:0;height:2px;background:{EDGE}}}
.orfeon-tree .to-picture:checked~.canvas ul ul>li:first-child::before{{left:calc(50% - 1px)}}
.orfeon-tree .to-picture:checked~.canvas ul ul>li:last-child::before{{right:calc(50% - 1px)}}
.orfeon-tree .to-picture:checked~.canvas ul ul>li::after{{content:"";position:absolute;top:0;
left:calc(50% - 1px);width:2px;height:12px;background:{EDGE}}}
.orfeon-tree .to-picture:checked~.canvas .branch{{max-width:240px;padding:0 4px 3px;
text-align:center;overflow-wrap:anywhere}}
.orfeon-tree .to-picture:checked~.canvas .box{{flex-direction:column;align-items:center;
gap:2px;min-width:84px;max-width:260px;padding:6px 12px 8px;text-align:center}}
.orfeon-tree .to-picture:checked~.canvas .bar{{align-self:stretch;margin-top:3px}}
"""

_OUTLINE = f"""
.orfeon-tree .to-outline:checked~.canvas ul ul{{margin-left:13px;padding-left:16px;
border-left:2px solid {FAINT}}}
.orfeon-tree .to-outline:checked~.canvas li{{margin:5px 0}}
.orfeon-tree .to-outline:checked~.canvas summary,
.orfeon-tree .to-outline:checked~.canvas li{{white-space:nowrap}}
.orfeon-tree .to-outline:checked~.canvas .branch{{display:inline-block;margin-right:8px;
min-width:52px}}
.orfeon-tree .to-outline:checked~.canvas summary .box::before{{content:"▸";margin-right:-2px;
color:{MUTED_INK}}}
.orfeon-tree .to-outline:checked~.canvas details[open]>summary .box::before{{content:"▾"}}
.orfeon-tree .to-outline:checked~.canvas .box{{gap:10px;align-items:center;padding:3px 10px}}
.orfeon-tree .to-outline:checked~.canvas .bar{{width:72px;flex:none}}
"""

STYLE = (_SHARED + _PICTURE + _OUTLINE).strip()
