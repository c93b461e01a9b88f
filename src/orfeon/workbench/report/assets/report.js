/* The script of a report: draws the charts, and makes tables and charts answer.
 *
 * Sections: tools, numbers, looks, scales, frames, charts (boxes, lines, points, bars, matrix),
 * figures (draw, legend, hover, keyboard), tables and files, page.
 *
 * A chart is a function (data, width, shown) that returns { svg, tracks, keep, pick }. A track is a
 * row of places that hover and arrow keys can reach: { look, xs, ys, tell(i) }, where tell gives the
 * title and the pairs of the tooltip. Colours come from classes only, so that themes need no redraw.
 * Texts are always set as text, never as HTML.
 */
(function () {
  "use strict";

  // -- tools -------------------------------------------------------------------------------------

  const SPACE = "http://www.w3.org/2000/svg";
  const set = (element, attributes) => {
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    return element;
  };
  /** An HTML element with attributes and children (elements or texts). */
  const make = (tag, attributes, ...children) => {
    const element = set(document.createElement(tag), attributes);
    element.append(...children);
    return element;
  };
  /** An SVG element at the end of another one. */
  const draw = (parent, tag, attributes, text) => {
    const element = set(document.createElementNS(SPACE, tag), attributes);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  };
  const canvas = (width, height) => {
    const svg = draw(null, "svg", { viewBox: `0 0 ${width} ${Math.ceil(height)}` });
    return set(svg, { width, height: Math.ceil(height), "aria-hidden": "true", focusable: "false" });
  };
  const known = (value) => value !== null && value !== undefined;
  const range = (n) => Array.from({ length: n }, (_, i) => i);
  const least = (values) => values.reduce((a, b) => (b < a ? b : a), Infinity);
  const greatest = (values) => values.reduce((a, b) => (b > a ? b : a), -Infinity);
  const round = (value) => Math.round(value * 10) / 10;

  const pen = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(document.body).fontFamily;
  const widthOf = (text, size, weight) => {
    pen.font = `${weight || 400} ${size || 12}px ${family}`;
    return pen.measureText(text).width;
  };
  /** As much of a text as has room, with an ellipsis where some was left out. */
  const clip = (text, room, size, weight) => {
    let letters = Array.from(String(text).slice(0, 400).replace(/\s+/g, " "));
    if (text.length <= 400 && widthOf(letters.join(""), size, weight) <= room) return letters.join("");
    let low = 0,
      high = letters.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (widthOf(letters.slice(0, middle).join("") + "…", size, weight) <= room) low = middle;
      else high = middle - 1;
    }
    return letters.slice(0, low).join("") + "…";
  };
  const shorten = (text, most) => {
    const letters = Array.from(String(text).slice(0, 2 * most));
    return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : letters.join("");
  };

  // -- numbers -----------------------------------------------------------------------------------

  /** A number as the tables of the page show it: true minus, commas between thousands. */
  const show = (value, decimals, percent, isYear) => {
    if (!known(value)) return "–";
    const number = percent ? 100 * value : value;
    if (!known(decimals)) {
      decimals = Number.isInteger(number)
        ? 0
        : Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(number)))));
    }
    let [whole, rest] = Math.abs(number).toFixed(decimals).split(".");
    if (!isYear) whole = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    const text = rest ? `${whole}.${rest}` : whole;
    return (number < 0 && /[1-9]/.test(text) ? "\u2212" : "") + text + (percent ? "%" : "");
  };
  const onAxis = (axis) => (value) => show(value, axis.decimals, axis.percent, axis.is_year);
  const withEnds = (text, low, high, say) =>
    known(low) && known(high) ? `${text} (${say(low).replace("%", "")} to ${say(high)})` : text;

  const quantile = (sorted, share) => {
    const place = (sorted.length - 1) * share,
      below = Math.floor(place);
    const next = sorted[Math.min(below + 1, sorted.length - 1)];
    return sorted[below] + (place - below) * (next - sorted[below]);
  };

  // -- looks: colour, marker and dashes of a group, as in all pictures ----------------------------

  const N_LOOKS = 7;
  const DASHES = ["", "7.4 3.2", "12.8 3.2 2 3.2", "10 2 2 2 2 2", "2 2", "16 4", "6 6"];
  const SYMBOLS = [
    (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    (r) => `M${-0.88 * r} ${-0.88 * r}h${1.76 * r}v${1.76 * r}h${-1.76 * r}z`,
    (r) => `M0 ${-1.15 * r}L${1.1 * r} ${0.8 * r}H${-1.1 * r}z`,
    (r) => `M0 ${-1.25 * r}L${1.1 * r} 0L0 ${1.25 * r}L${-1.1 * r} 0z`,
    (r) => `M0 ${1.15 * r}L${1.1 * r} ${-0.8 * r}H${-1.1 * r}z`,
    (r) => {
      const a = 0.4 * r,
        b = 1.1 * r - a;
      return `M${-a} ${-a - b}h${2 * a}v${b}h${b}v${2 * a}h${-b}v${b}h${-2 * a}v${-b}h${-b}v${-2 * a}h${b}z`;
    },
    (r) => {
      const a = 0.5 * r,
        b = 1.05 * r;
      return `M0 ${-a}L${b - a} ${-b}L${b} ${a - b}L${a} 0L${b} ${b - a}L${b - a} ${b}L0 ${a}L${a - b} ${b}L${-b} ${b - a}L${-a} 0L${-b} ${a - b}L${a - b} ${-b}z`;
    },
  ];
  const lookOf = (group) => {
    const shifted = (group + Math.floor(group / N_LOOKS)) % N_LOOKS;
    return { name: `look-${group % N_LOOKS}`, symbol: SYMBOLS[shifted], dash: DASHES[shifted] };
  };
  const groupOf = (series, i, data) =>
    known(series.group) ? Math.abs(series.group) : data.kind === "boxes" ? 0 : i;

  // -- scales ------------------------------------------------------------------------------------

  const stepFor = (span, most) => {
    const rough = span / Math.max(1, most),
      power = 10 ** Math.floor(Math.log10(rough));
    return power * [1, 2, 2.5, 5, 10].find((step) => step * power >= rough * (1 - 1e-9));
  };
  const linearScale = (axis, values, most, zero) => {
    let low = known(axis.low) ? axis.low : least(values);
    let high = known(axis.high) ? axis.high : greatest(values);
    if (!(low <= high)) [low, high] = values.length ? [Math.min(low, high), Math.max(low, high)] : [0, 1];
    if (zero) {
      low = Math.min(0, low);
      high = Math.max(0, high);
    }
    if (high - low < 1e-12 * Math.max(1, Math.abs(high))) {
      const around = Math.abs(high) * 0.1 || 1;
      low -= around;
      high += around;
    }
    let step = stepFor(high - low, most);
    if (axis.is_year && step % 1) step = step < 1 ? 1 : 5;
    if (!known(axis.low)) low = Math.floor(low / step + 1e-9) * step;
    if (!known(axis.high)) high = Math.ceil(high / step - 1e-9) * step;
    const first = Math.ceil(low / step - 1e-9),
      last = Math.floor(high / step + 1e-9);
    const ticks = range(last - first + 1).map((i) => (first + i) * step);
    const shownStep = axis.percent ? 100 * step : step;
    const decimals = Math.max(
      0,
      Math.min(
        12,
        Math.ceil(-Math.log10(shownStep) - 1e-9) +
          (/^25/.test(((shownStep / 10 ** Math.floor(Math.log10(shownStep))) * 10).toFixed(0)) &&
          shownStep < 10
            ? 1
            : 0),
      ),
    );
    const say = (tick) => show(tick, decimals, axis.percent, axis.is_year);
    return { low, high, ticks, say, share: (value) => (value - low) / (high - low) };
  };
  const logScale = (axis, values, most) => {
    const positive = values.filter((value) => value > 0);
    if (!positive.length) return linearScale(axis, [], most);
    let low = axis.low > 0 ? axis.low : least(positive),
      high = axis.high > 0 ? axis.high : greatest(positive);
    if (!(low < high)) {
      low /= 2;
      high *= 2;
    }
    const inside = (tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9);
    const decades = range(Math.ceil(Math.log10(high)) - Math.floor(Math.log10(low)) + 1).map(
      (i) => 10 ** (Math.floor(Math.log10(low)) + i),
    );
    let ticks =
      [[1, 2, 5], [1, 3], [1]]
        .map((parts) => decades.flatMap((decade) => parts.map((part) => part * decade)).filter(inside))
        .find((found) => found.length <= most) || decades.filter(inside);
    while (ticks.length > most && ticks.length > 2) ticks = ticks.filter((_, i) => i % 2 === 0);
    if (ticks.length < 2) ticks = [low, high];
    const span = Math.log(high / low);
    return {
      low,
      high,
      ticks,
      say: (tick) => show(tick, null, axis.percent),
      share: (value) => Math.log(value / low) / span,
    };
  };
  /** A scale between two places of the picture; at() is null for what cannot be placed. */
  const scaleFor = (axis, values, start, end, gap, zero) => {
    const most = Math.max(2, Math.floor(Math.abs(end - start) / gap));
    const scale = (axis.scale === "log" ? logScale : linearScale)(axis, values.filter(known), most, zero);
    const at = (value) =>
      !known(value) || (axis.scale === "log" && value <= 0)
        ? null
        : start + scale.share(value) * (end - start);
    return { ...scale, at, start, end };
  };

  // -- frames ------------------------------------------------------------------------------------

  const ticksBelow = (svg, scale, top, bottom, label) => {
    let free = -Infinity;
    for (const tick of scale.ticks) {
      const x = round(scale.at(tick)),
        text = scale.say(tick),
        half = widthOf(text, 12) / 2;
      draw(svg, "path", { class: "grid", d: `M${x} ${top}V${bottom}` });
      if (x - half < free) continue;
      const middle = Math.min(x, svg.viewBox.baseVal.width - half);
      draw(svg, "text", { x: middle, y: bottom + 17, "text-anchor": "middle" }, text);
      free = middle + half + 8;
    }
    if (label) {
      const text = clip(label, scale.end - 4, 12);
      draw(svg, "text", { x: svg.viewBox.baseVal.width - 10, y: bottom + 36, "text-anchor": "end" }, text);
    }
  };
  /** Both axes of a picture: the name of y stands above, where it can be read. */
  const frame = (data, width, xs, ys) => {
    const height = Math.round(Math.min(420, Math.max(290, width * 0.5)));
    // Points keep away from the edges; curves may reach them.
    const inset = data.kind === "points" ? 14 : 0,
      top = 30,
      bottom = height - 46;
    const y = scaleFor(data.y, ys, bottom - inset, top + inset, 46);
    const left = Math.max(28, 12 + greatest(y.ticks.map((tick) => widthOf(y.say(tick), 12))));
    const x = scaleFor(data.x, xs, left + 4 + inset, width - 14 - inset, width < 520 ? 56 : 74);
    const svg = canvas(width, height);
    ticksBelow(svg, x, top, bottom, data.x.label);
    for (const tick of y.ticks) {
      const place = round(y.at(tick));
      draw(svg, "path", { class: "grid", d: `M${left}  ${place}H${width - 10}` });
      draw(svg, "text", { x: left - 8, y: place + 4, "text-anchor": "end" }, y.say(tick));
    }
    draw(svg, "path", { class: "axis", d: `M${left} ${bottom}H${width - 10}` });
    draw(svg, "text", { x: 0, y: 14 }, clip(data.y.label, width, 12));
    return { svg, x, y, left, right: width - 10, top, bottom, width, height };
  };
  /** Names on the left, or above their rows where it is narrow. */
  const rowFrame = (data, width, names, band, values, zero) => {
    const longest = greatest(names.map((name) => widthOf(shorten(name, 60), 13, 500)).concat(24));
    const stacked = width < 520 && longest > width * 0.28;
    const top = 6 + (data.references && data.references.length ? 18 : 0);
    const named = stacked ? 22 : 0,
      each = band + named;
    const left = stacked ? 2 : Math.min(Math.round(width * 0.38), 18 + longest);
    const bottom = top + Math.max(1, names.length) * each + 4;
    const svg = canvas(width, bottom + 44);
    const right = width - 18;
    const scale = scaleFor(data.axis, values, left + 6, right, stacked ? 58 : 82, zero);
    ticksBelow(svg, scale, top, bottom, data.axis.label);
    const middle = (i) => top + i * each + named + band / 2;
    const name = (i, strong) =>
      draw(
        svg,
        "text",
        {
          class: strong ? "name strong" : stacked ? "name halo" : "name",
          x: stacked ? 0 : left - 10,
          y: stacked ? top + i * each + 17 : middle(i) + 4.5,
          "text-anchor": stacked ? "start" : "end",
        },
        clip(names[i], stacked ? width - 4 : left - 14, 13, strong ? 650 : 400),
      );
    const rowAt = (y) => Math.floor((y - top) / each);
    return { svg, scale, left, right, top, bottom, each, band, middle, name, rowAt };
  };
  /** The corner at a level line, of the four at its ends, whose label hides the fewest points. */
  const quietCorner = (text, place, from, to, floor, points) => {
    const wide = widthOf(text, 12);
    const corners = [
      { x: to, y: place - 6, anchor: "end", left: to - wide },
      { x: to, y: place + 15, anchor: "end", left: to - wide },
      { x: from + 6, y: place - 6, anchor: "start", left: from + 6 },
      { x: from + 6, y: place + 15, anchor: "start", left: from + 6 },
    ].filter((corner) => corner.y <= floor - 2);
    const hidden = (corner) =>
      points.filter(
        ([x, y]) =>
          x >= corner.left - 6 && x <= corner.left + wide + 6 && y >= corner.y - 15 && y <= corner.y + 6,
      ).length;
    return corners.reduce((best, corner) => (hidden(corner) < hidden(best) ? corner : best));
  };
  const references = (svg, data, scale, from, to, upright, floor = Infinity, points = []) => {
    for (const reference of data.references || []) {
      const place = scale.at(reference.value);
      if (place === null || scale.share(reference.value) < -0.001 || scale.share(reference.value) > 1.001)
        continue;
      const text = clip(reference.label, Math.abs(to - from) - 12, 12);
      if (upright) {
        const half = widthOf(text, 12) / 2,
          room = scale.end - half;
        draw(svg, "path", { class: "reference", d: `M${place} ${from}V${to}` });
        draw(
          svg,
          "text",
          { x: Math.max(half, Math.min(room, place)), y: from - 6, "text-anchor": "middle" },
          text,
        );
      } else {
        draw(svg, "path", { class: "reference", d: `M${from} ${place}H${to}` });
        const corner = quietCorner(text, place, from, to, floor, points);
        draw(svg, "text", { class: "halo", x: corner.x, y: corner.y, "text-anchor": corner.anchor }, text);
      }
    }
  };
  /** What the report speaks of: a line up from the axis, a ring, and its name at the top. */
  const chosenMarks = (svg, data, at) => {
    // From left to right: a line ends below the names of those before it.
    const inOrder = [...(data.marks || [])].sort((one, other) => one.x - other.x);
    const marks = inOrder.map((mark, i) => ({
      label: mark.label,
      x: at.x.at(mark.x),
      y: at.y.at(mark.y),
      row: at.top + 12 + 16 * i,
    }));
    const placed = marks.filter((mark) => mark.x !== null && mark.y !== null);
    for (const { x, y, row } of placed) {
      draw(svg, "path", { class: "chosen", d: `M${round(x)} ${at.bottom}V${row - 10}` });
      draw(svg, "circle", { class: "chosen-point", cx: round(x), cy: round(y), r: 5 });
    }
    for (const { label, x, row } of placed) {
      const text = clip(label, Math.max(x - at.left, at.right - x) - 10, 12, 650);
      const fits = x + 8 + widthOf(text, 12, 650) <= at.right;
      const place = { x: round(fits ? x + 7 : x - 7), y: row, "text-anchor": fits ? "start" : "end" };
      draw(svg, "text", { class: "strong halo", ...place }, text);
    }
  };
  /** Few points are marks of their own; thousands are dots of some paths, so that drawing stays fast
   *  and places where many lie are darker. */
  const cloud = (svg, look, xs, ys, radius, soft, many) => {
    if (xs.length <= 400 && !many) {
      const d = look.symbol(radius);
      xs.forEach((x, i) =>
        draw(svg, "path", {
          class: `mark ${look.name}${soft ? " soft" : ""}`,
          d,
          transform: `translate(${round(x)} ${round(ys[i])})`,
        }),
      );
      return;
    }
    const layers = Math.min(12, Math.ceil(xs.length / 20));
    for (let layer = 0; layer < layers; layer++) {
      let d = "";
      for (let i = layer; i < xs.length; i += layers) d += `M${round(xs[i])} ${round(ys[i])}h0`;
      draw(svg, "path", { class: `mark cloud ${look.name}`, d, "stroke-width": 2 * radius });
    }
  };
  const nearest = (tracks, px, py, flat, reach) => {
    let best = null,
      distance = reach * reach;
    tracks.forEach((track, t) => {
      for (let i = 0; i < track.xs.length; i++) {
        const dx = track.xs[i] - px,
          dy = (track.ys[i] - py) * flat,
          d = dx * dx + dy * dy;
        if (d < distance) {
          distance = d;
          best = [t, i];
        }
      }
    });
    return best;
  };

  // -- chart: boxes ------------------------------------------------------------------------------

  const boxes = (data, width, shown) => {
    const rows = data.series.filter((_, i) => shown[i]),
      say = onAxis(data.axis);
    const values = rows.flatMap((row) => row.values);
    const levels = (data.references || []).map((reference) => reference.value);
    const at = rowFrame(
      data,
      width,
      rows.map((row) => row.name),
      34,
      values.concat(levels),
    );
    const many = values.length > 2000;
    references(at.svg, data, at.scale, at.top, at.bottom, true);
    const tracks = rows.map((row, r) => {
      const look = lookOf(groupOf(row, data.series.indexOf(row), data)),
        y = at.middle(r);
      if (row.highlight) {
        const stripe = {
          class: "stripe",
          x: 0,
          y: y + at.band / 2 - at.each + 1,
          width,
          height: at.each - 2,
          rx: 6,
        };
        at.svg.prepend(draw(null, "rect", stripe));
      }
      at.name(r, row.highlight);
      const order = range(row.values.length)
        .filter((i) => at.scale.at(row.values[i]) !== null)
        .sort((a, b) => row.values[a] - row.values[b]);
      const sorted = order.map((i) => row.values[i]),
        xs = sorted.map(at.scale.at);
      // A fixed jitter: the golden ratio spreads neighbours without chance.
      const ys = order.map((i) => y + ((((i + 1) * 0.618034) % 1) - 0.5) * at.band * 0.56);
      const stats = summary(sorted);
      const toned = row.tones.length > 0;
      if (sorted.length > 4 && !toned) drawBox(at.svg, look, stats, at.scale.at, y, at.band * 0.3);
      if (toned)
        drawTones(
          at.svg,
          xs,
          ys,
          order.map((i) => row.tones[i]),
        );
      else cloud(at.svg, { ...look, symbol: SYMBOLS[0] }, xs, ys, xs.length <= 10 ? 3.2 : 2.4, true, many);
      if (sorted.length && !toned)
        draw(at.svg, "path", {
          class: `mean ${look.name}`,
          d: SYMBOLS[3](4.2),
          transform: `translate(${round(at.scale.at(stats.mean))} ${y})`,
        });
      return {
        look,
        xs: sorted.length ? [at.scale.at(stats.median), ...xs] : [],
        ys: [y, ...ys],
        tell: (i) =>
          i === 0
            ? {
                title: row.name,
                pairs: [
                  ["Median", say(stats.median)],
                  ["Mean", say(stats.mean)],
                  ["Middle half", `${say(stats.low)} to ${say(stats.high)}`],
                  ["All", `${say(sorted[0])} to ${say(sorted[sorted.length - 1])}`],
                  ["Runs", show(sorted.length)],
                ],
              }
            : {
                title: row.name,
                pairs: [[row.labels[order[i - 1]] || `Run ${order[i - 1] + 1}`, say(sorted[i - 1])]],
              },
      };
    });
    const pick = (px, py) => {
      const dot = nearest(
        tracks.map((t) => ({ xs: t.xs.slice(1), ys: t.ys.slice(1) })),
        px,
        py,
        1,
        8,
      );
      if (dot) return [dot[0], dot[1] + 1];
      const row = at.rowAt(py);
      return row >= 0 && row < tracks.length && tracks[row].xs.length ? [row, 0] : null;
    };
    return { svg: at.svg, tracks, keep: "index", pick };
  };
  /** Points in colours from low to high; those without a tone are grey. */
  const drawTones = (svg, xs, ys, tones) => {
    const paths = new Map();
    xs.forEach((x, i) => {
      const tone = known(tones[i]) ? Math.round(8 * tones[i]) / 8 : null;
      paths.set(tone, (paths.get(tone) || "") + `M${round(x)} ${round(ys[i])}h0`);
    });
    for (const [tone, d] of paths)
      draw(svg, "path", {
        class: tone === null ? "mark toned unknown" : "mark toned",
        style: tone === null ? "" : `--tone:${100 * tone}%`,
        d,
        "stroke-width": 5,
      });
  };
  const summary = (sorted) => ({
    mean: sorted.reduce((a, b) => a + b, 0) / sorted.length,
    median: quantile(sorted, 0.5),
    low: quantile(sorted, 0.25),
    high: quantile(sorted, 0.75),
    first: sorted.find((v) => v >= quantile(sorted, 0.25) * 2.5 - quantile(sorted, 0.75) * 1.5),
    last: sorted
      .slice()
      .reverse()
      .find((v) => v <= quantile(sorted, 0.75) * 2.5 - quantile(sorted, 0.25) * 1.5),
  });
  const drawBox = (svg, look, stats, x, y, half) => {
    const [low, high, first, last, median] = [
      stats.low,
      stats.high,
      stats.first,
      stats.last,
      stats.median,
    ].map((v) => round(x(v)));
    draw(svg, "path", {
      class: `whiskers ${look.name}`,
      d: `M${first} ${y}H${low}M${high} ${y}H${last}M${first} ${y - 5}v10M${last} ${y - 5}v10`,
    });
    draw(svg, "rect", {
      class: `box ${look.name}`,
      x: low,
      y: y - half,
      width: Math.max(1, high - low),
      height: 2 * half,
      rx: 3,
    });
    draw(svg, "path", { class: `median ${look.name}`, d: `M${median} ${y - half}v${2 * half}` });
  };

  // -- chart: lines ------------------------------------------------------------------------------

  const lines = (data, width, shown) => {
    const series = data.series
      .map((line, i) => ({ ...line, look: lookOf(groupOf(line, i, data)) }))
      .filter((_, i) => shown[i]);
    const ys = series.flatMap((line) => [...line.y, ...line.low, ...line.high]);
    const extra = [
      ...data.marks.map((mark) => mark.y),
      ...data.references.map((reference) => reference.value),
      ...data.guides.flatMap((guide) => guide.y),
    ];
    const at = frame(
      data,
      width,
      series
        .flatMap((line) => line.x)
        .concat(
          data.marks.map((mark) => mark.x),
          data.guides.flatMap((guide) => guide.x),
        ),
      ys.concat(extra),
    );
    drawGuides(at, data);
    const drawn = series.flatMap((line) => line.x.map((x, i) => [at.x.at(x), at.y.at(line.y[i])]));
    references(at.svg, data, at.y, at.left, at.right, false, at.bottom, drawn);
    for (const line of series) drawBand(at, line);
    const tracks = series.map((line) => drawLine(at, line, data.steps));
    chosenMarks(at.svg, data, at);
    const sayX = onAxis(data.x),
      sayY = onAxis(data.y);
    tracks.forEach((track, t) => {
      track.tell = (i) => {
        const x = track.line.x[track.index[i]];
        const beside = tracks.length <= 8 ? tracks : [track];
        const pairs = beside.map((other) => {
          const j = other === track ? track.index[i] : placeOf(other.line, x, data.steps);
          if (j < 0 || !known(other.line.y[j])) return null;
          return [
            other.line.name,
            withEnds(sayY(other.line.y[j]), other.line.low[j], other.line.high[j], sayY),
            other.look,
            other !== track,
          ];
        });
        return {
          title: `${data.x.label}: ${sayX(x)}`,
          pairs: pairs.filter(Boolean),
          upright: [at.top, at.bottom],
        };
      };
    });
    return {
      svg: at.svg,
      tracks,
      keep: "x",
      pick: (px, py) => nearest(tracks, px, py, 0.25, Math.max(60, width)),
    };
  };
  /** Curves to compare with, each with its name at its end. */
  const drawGuides = (at, data) => {
    for (const guide of data.guides) {
      const places = range(guide.x.length)
        .map((i) => [at.x.at(guide.x[i]), at.y.at(guide.y[i])])
        .filter((place) => place.every(known));
      if (places.length < 2) continue;
      draw(at.svg, "path", {
        class: "guide",
        d: "M" + places.map((place) => place.map(round).join(" ")).join("L"),
      });
      const [first, last] = [places[0], places[places.length - 1]];
      const [x, y] = [0, 1].map((axis) => first[axis] + 0.62 * (last[axis] - first[axis]));
      const place = { x: round(x + 6), y: round(Math.min(y + 17, at.bottom - 4)) };
      draw(at.svg, "text", { class: "halo", ...place }, clip(guide.name, at.right - x - 8, 12));
    }
  };
  /** Where a line has an x; for steps, the last place at or before it. */
  const placeOf = (line, x, steps) => {
    if (!steps) return line.x.indexOf(x);
    let low = 0,
      high = line.x.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (line.x[middle] <= x) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
  const drawBand = (at, line) => {
    const places = range(line.low.length).filter((i) =>
      [at.x.at(line.x[i]), at.y.at(line.low[i]), at.y.at(line.high[i])].every(known),
    );
    if (places.length < 2) return;
    const point = (values) => (i) => `${round(at.x.at(line.x[i]))} ${round(at.y.at(values[i]))}`;
    const d = `M${places.map(point(line.high)).join("L")}L${places.slice().reverse().map(point(line.low)).join("L")}z`;
    draw(at.svg, "path", { class: `band ${line.look.name}`, d });
  };
  const drawLine = (at, line, steps) => {
    const xs = line.x.map(at.x.at),
      ys = line.y.map(at.y.at);
    const fine = (i) => i >= 0 && i < xs.length && xs[i] !== null && ys[i] !== null;
    const index = range(xs.length).filter(fine);
    const grows =
      steps &&
      index.every(
        (i, k) => line.y[i] >= 0 && line.y[i] <= 1 && (k === 0 || line.y[i] >= line.y[index[k - 1]]),
      );
    let d = "";
    for (const i of index) {
      const x = round(xs[i]),
        y = round(ys[i]);
      if (fine(i - 1)) d += steps ? `H${x}V${y}` : `L${x} ${y}`;
      else if (i === index[0] && grows && at.y.low <= 0) d += `M${at.left} ${round(at.y.at(0))}H${x}V${y}`;
      else d += `M${x} ${y}`;
    }
    if (steps && index.length) d += `H${at.right}`;
    draw(at.svg, "path", {
      class: `line ${line.look.name}`,
      d,
      "stroke-dasharray": line.look.dash || "none",
      "data-points": index.length,
    });
    const alone = index.filter((i) => !steps && (index.length <= 25 || (!fine(i - 1) && !fine(i + 1))));
    cloud(
      at.svg,
      line.look,
      alone.map((i) => xs[i]),
      alone.map((i) => ys[i]),
      3.4,
    );
    return { line, look: line.look, index, xs: index.map((i) => xs[i]), ys: index.map((i) => ys[i]) };
  };

  // -- chart: points -----------------------------------------------------------------------------

  const points = (data, width, shown) => {
    const series = data.series
      .map((part, i) => ({ ...part, look: lookOf(groupOf(part, i, data)) }))
      .filter((_, i) => shown[i]);
    const gather = (name) => series.flatMap((part) => part[name]);
    const at = frame(
      data,
      width,
      gather("x").concat(
        data.marks.map((m) => m.x),
        data.guides.flatMap((guide) => guide.x),
      ),
      gather("y").concat(
        data.marks.map((m) => m.y),
        data.guides.flatMap((guide) => guide.y),
      ),
    );
    const largest = data.size ? greatest(data.series.flatMap((part) => part.sizes).filter(known)) : 0;
    const total = series.reduce((n, part) => n + part.x.length, 0);
    const plain = total > 2000 ? 1.7 : total > 400 ? 2.2 : 4.2;
    const [sayX, sayY, sayZ] = [data.x, data.y, data.size || {}].map(onAxis);
    const tracks = series.map((part) => {
      const xs = part.x.map(at.x.at),
        ys = part.y.map(at.y.at);
      const order = range(xs.length)
        .filter((i) => xs[i] !== null && ys[i] !== null)
        .sort((a, b) => xs[a] - xs[b]);
      const radii = order.map((i) => radiusOf(part.sizes[i], largest, plain));
      const tell = (k) => {
        const i = order[k],
          pairs = [
            [data.x.label, sayX(part.x[i])],
            [data.y.label, sayY(part.y[i])],
          ];
        if (data.size && known(part.sizes[i])) pairs.push([data.size.label, sayZ(part.sizes[i])]);
        return {
          title: part.labels[i] ? `${part.labels[i]}` : part.name,
          more: part.labels[i] && data.series.length > 1 ? part.name : "",
          pairs,
        };
      };
      return {
        part,
        look: part.look,
        order,
        radii,
        xs: order.map((i) => xs[i]),
        ys: order.map((i) => ys[i]),
        tell,
      };
    });
    if (data.frontier) drawFrontier(at.svg, tracks);
    for (const track of tracks) {
      if (largest)
        track.xs.forEach((x, k) => cloud(at.svg, track.look, [x], [track.ys[k]], track.radii[k], true));
      else cloud(at.svg, track.look, track.xs, track.ys, plain, total > 60);
    }
    drawGuides(at, data);
    chosenMarks(at.svg, data, at);
    if (data.show_labels) drawLabels(at, tracks);
    return { svg: at.svg, tracks, keep: "x", pick: (px, py) => nearest(tracks, px, py, 1, 36) };
  };
  const radiusOf = (size, largest, plain) =>
    largest > 0 && known(size) ? 4 + 9 * Math.sqrt(Math.max(0, size) / largest) : plain;
  /** The points that no other beats on both axes, joined. */
  const drawFrontier = (svg, tracks) => {
    const all = tracks.flatMap((track) => track.xs.map((x, i) => [x, track.ys[i]]));
    all.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    let lowest = -Infinity;
    const kept = all.filter(([, y]) => y > lowest && ((lowest = y), true));
    if (kept.length > 1)
      draw(svg, "path", {
        class: "frontier",
        d: "M" + kept.map((place) => place.map(round).join(" ")).join("L"),
      });
  };
  const isNearest = (tracks, track, k, x, y) => {
    const found = nearest(tracks, x, y, 1, Infinity);
    return tracks[found[0]] === track && found[1] === k;
  };
  /** Names beside points where they hide nothing; the tooltip has the others. */
  const drawLabels = (at, tracks) => {
    const taken = tracks.flatMap((track) =>
      track.xs.map((x, i) => {
        const r = track.radii[i];
        return [x - r, track.ys[i] - r, x + r, track.ys[i] + r];
      }),
    );
    const apart = (a, b) => a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
    for (const track of tracks) {
      track.order.forEach((i, k) => {
        const text = clip(track.part.labels[i] || "", at.width < 520 ? 130 : 220, 12),
          w = widthOf(text, 12) + 2,
          h = 14;
        const x = track.xs[k],
          y = track.ys[k],
          r = track.radii[k] + 4;
        if (!text) return;
        const places = [
          [x + r, y - h / 2],
          [x - r - w, y - h / 2],
          [x - w / 2, y - r - h],
          [x - w / 2, y + r],
          [x + r * 0.7, y - r * 0.7 - h],
          [x + r * 0.7, y + r * 0.7],
          [x - r * 0.7 - w, y - r * 0.7 - h],
          [x - r * 0.7 - w, y + r * 0.7],
          [Math.min(x, at.width - w), y - r - h],
          [Math.min(x, at.width - w), y + r],
          [Math.min(x, at.width - w), y - r - 2 * h],
        ];
        const free = places
          .map(([a, b]) => [a, b, a + w, b + h])
          .find(
            (box, n) =>
              (n < 10 || isNearest(tracks, track, k, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2)) &&
              box[0] >= at.left &&
              box[2] <= at.width &&
              box[1] >= at.top - 8 &&
              box[3] <= at.bottom &&
              taken.every((other) => apart(box, other)),
          );
        if (!free) return;
        taken.push(free);
        draw(
          at.svg,
          "text",
          { class: "value halo label", x: round(free[0] + 1), y: round(free[1] + 11) },
          text,
        );
      });
    }
  };

  // -- chart: bars -------------------------------------------------------------------------------

  const bars = (data, width, shown) => {
    const series = data.series
      .map((part, i) => ({ ...part, look: lookOf(groupOf(part, i, data)) }))
      .filter((_, i) => shown[i]);
    const values = series.flatMap((part) => [...part.values, ...part.low, ...part.high]);
    const thick = series.length > 1 ? 13 : 16,
      band = Math.max(1, series.length) * thick + 12;
    const at = rowFrame(data, width, data.categories, band, values, data.axis.scale !== "log");
    const say = onAxis(data.axis),
      base = at.scale.at(0) === null ? at.scale.start : at.scale.at(0);
    draw(at.svg, "path", { class: "zero", d: `M${round(base)} ${at.top}V${at.bottom}` });
    const tracks = data.categories.map((category, c) => {
      at.name(c);
      const items = series
        .map((part, s) => ({ part, s, x: at.scale.at(part.values[c]) }))
        .filter((item) => item.x !== null);
      const ys = items.map(({ s }) => at.middle(c) + (s - (series.length - 1) / 2) * thick);
      items.forEach(({ part, x }, k) => {
        const from = Math.min(base, x),
          length = Math.max(1, Math.abs(x - base));
        draw(at.svg, "rect", {
          class: `barmark ${part.look.name}`,
          x: round(from),
          y: ys[k] - thick / 2 + 1,
          width: round(length),
          height: thick - 2,
          rx: 2,
        });
        const low = at.scale.at(part.low[c]),
          high = at.scale.at(part.high[c]);
        if (low !== null && high !== null)
          draw(at.svg, "path", {
            class: "interval",
            d: `M${round(low)} ${ys[k]}H${round(high)}M${round(low)} ${ys[k] - 3}v6M${round(high)} ${ys[k] - 3}v6`,
          });
      });
      return {
        look: lookOf(0),
        xs: items.map((item) => item.x),
        ys,
        tell: (i) => ({
          title: category,
          pairs: [
            [
              items[i].part.name,
              withEnds(say(items[i].part.values[c]), items[i].part.low[c], items[i].part.high[c], say),
              items[i].part.look,
            ],
          ],
        }),
      };
    });
    const pick = (px, py) => {
      const row = at.rowAt(py),
        track = tracks[row];
      if (row < 0 || !track || !track.xs.length) return null;
      return [
        row,
        range(track.ys.length).sort((a, b) => Math.abs(track.ys[a] - py) - Math.abs(track.ys[b] - py))[0],
      ];
    };
    return { svg: at.svg, tracks, keep: "index", pick };
  };

  // -- chart: matrix -----------------------------------------------------------------------------

  /** A name in one or two lines, or null where neither fits. */
  const inTwo = (name, room) => {
    if (name.length > 80) return null;
    const words = name.split(" ");
    const ways = range(words.length).map((i) =>
      [words.slice(0, i).join(" "), words.slice(i).join(" ")].filter(Boolean),
    );
    return ways.find((lines) => lines.every((line) => widthOf(line, 13) <= room)) || null;
  };
  const matrix = (data, width, shown, view) => {
    const n = data.columns.length,
      longest = (names) => greatest(names.map((name) => widthOf(shorten(name, 60), 13)).concat(16));
    const named = Math.max(longest(data.rows), widthOf(`${shorten(data.row_label, 60)} ↓`, 12)) + 16;
    const left = Math.min(named, width * (width < 520 ? 0.36 : 0.28)),
      side = Math.min(128, (width - left - 2) / n);
    const high = Math.max(6, Math.min(44, side * 0.8, 2400 / data.rows.length));
    const parted = data.columns.map((name) => inTwo(name, side - 8)),
      turned = parted.includes(null);
    const head =
      26 +
      (turned
        ? Math.min(96, longest(data.columns)) * 0.75 + 12
        : parted.some((parts) => parts.length > 1)
          ? 34
          : 20);
    const at = {
      svg: canvas(width, head + high * data.rows.length + 6),
      width,
      left,
      side,
      head,
      high,
      parted,
      turned,
    };
    matrixNames(data, at);
    const most = greatest(data.values.flat().filter(known).map(Math.abs).concat(1e-300));
    const totals = data.values.map((row) => row.reduce((sum, value) => sum + (value || 0), 0));
    const share = (i, j) => {
      const value = data.values[i][j] || 0;
      if (data.shares === "rows") return totals[i] > 0 ? Math.max(0, value / totals[i]) : 0;
      return Math.abs(value) / most;
    };
    const say = (value) => show(value, data.decimals);
    matrixCells(data, at, share, (i, j) =>
      view === "shares" ? show(share(i, j), 1, true) : say(data.values[i][j]),
    );
    const tracks = data.rows.map((name, i) => ({
      look: lookOf(0),
      cell: [side, high],
      xs: range(n).map((j) => left + (j + 0.5) * side),
      ys: range(n).map(() => head + (i + 0.5) * high),
      tell: (j) => ({
        title: `${shorten(data.row_label, 60)}: ${shorten(name, 60)}`,
        more: `${shorten(data.column_label, 60)}: ${shorten(data.columns[j], 60)}`,
        pairs:
          data.shares === "rows"
            ? [
                ["Count", say(data.values[i][j])],
                ["Share of the row", show(share(i, j), 1, true)],
              ]
            : [["Value", say(data.values[i][j])]],
      }),
    }));
    const pick = (px, py) => {
      const i = Math.floor((py - head) / high),
        j = Math.floor((px - left) / side);
      return tracks[i] && j >= 0 && j < n ? [i, j] : null;
    };
    return { svg: at.svg, tracks, keep: "index", pick };
  };
  const matrixNames = (data, { svg, width, left, side, head, high, parted, turned }) => {
    draw(svg, "text", { x: left, y: 13 }, clip(`${data.column_label} →`, width - left, 12));
    draw(
      svg,
      "text",
      { x: left - 12, y: head - 8, "text-anchor": "end" },
      clip(`${data.row_label} ↓`, left - 12, 12),
    );
    data.columns.forEach((name, j) => {
      const x = round(left + (j + 0.5) * side),
        y = head - 8;
      if (side < 12 && j % Math.ceil(12 / side)) return;
      if (turned) {
        const room = Math.min(96, (width - x) * 1.4 + 16);
        draw(
          svg,
          "text",
          { class: "name", transform: `translate(${x + 2} ${y}) rotate(-48)` },
          clip(name, room, 13),
        );
        return;
      }
      parted[j].forEach((part, k) => {
        const up = 15 * (parted[j].length - 1 - k);
        draw(svg, "text", { class: "name", x, y: y - up, "text-anchor": "middle" }, part);
      });
    });
    data.rows.forEach((name, i) => {
      if (high < 12 && i % Math.ceil(12 / high)) return;
      const place = {
        class: "name",
        x: left - 12,
        y: round(head + (i + 0.5) * high + 4.5),
        "text-anchor": "end",
      };
      draw(svg, "text", place, clip(name, left - 14, 13));
    });
  };
  /** Cells of one colour are one path each where there are thousands. */
  const matrixCells = (data, { svg, left, side, head, high }, share, text) => {
    const many = data.rows.length * data.columns.length > 2500,
      gap = side < 12 ? 0 : 2,
      paths = new Map();
    const box = {
      x: left,
      y: head,
      width: round(side * data.columns.length),
      height: round(high * data.rows.length),
      rx: 5,
    };
    draw(svg, "rect", { class: "ground", ...box });
    data.values.forEach((row, i) =>
      row.forEach((value, j) => {
        if (!known(value)) return;
        const look = data.diagonal && i !== j ? "look-1" : "look-0",
          strength = Math.sqrt(Math.min(1, share(i, j)));
        const [x, y, w, h] = [
          left + j * side + gap / 2,
          head + i * high + gap / 2,
          side - gap,
          high - gap,
        ].map(round);
        if (many) {
          const key = `${look} ${Math.round(strength * 24) / 24}`;
          paths.set(key, (paths.get(key) || "") + `M${x} ${y}h${w}v${h}h${-w}z`);
          return;
        }
        draw(svg, "rect", { class: "cell paper", x, y, width: w, height: h, rx: 5 });
        draw(svg, "rect", {
          class: `cell ${look}`,
          style: `--share:${strength.toFixed(4)}`,
          x,
          y,
          width: w,
          height: h,
          rx: 5,
        });
        const said = text(i, j),
          strong = data.diagonal && i === j ? " strong" : "";
        if (high < 16 || widthOf(said, 12, strong ? 650 : 400) > side - 6) return;
        draw(
          svg,
          "text",
          {
            class: `value${strong}`,
            x: round(x + w / 2),
            y: round(y + h / 2 + 4.5),
            "text-anchor": "middle",
          },
          said,
        );
      }),
    );
    for (const [key, d] of paths) {
      const [look, strength] = key.split(" ");
      draw(svg, "path", { class: `cell many ${look}`, style: `--share:${strength}`, d });
    }
  };

  // -- chart: thresholds -------------------------------------------------------------------------

  /** What one missed positive costs, in false alarms. */
  const RATIOS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
  const costAt = (data, i, ratio) =>
    (data.false_positives[i] + ratio * (data.n_positive - data.true_positives[i])) /
    (data.n_positive + data.n_negative);
  const cheapest = (data, ratio) =>
    range(data.thresholds.length).reduce((best, i) =>
      costAt(data, i, ratio) < costAt(data, best, ratio) - 1e-12 ? i : best,
    );
  const nearHalf = (data) =>
    range(data.thresholds.length).reduce(
      (best, i) => (Math.abs(data.thresholds[i] - 0.5) < Math.abs(data.thresholds[best] - 0.5) ? i : best),
      0,
    );
  const threshold = (data, width, shown, view, state) => {
    const i = state.place,
      hits = data.true_positives[i],
      alarms = data.false_positives[i];
    return matrix(
      {
        rows: [data.negative, data.positive],
        columns: [data.negative, data.positive],
        values: [
          [data.n_negative - alarms, alarms],
          [data.n_positive - hits, hits],
        ],
        row_label: "True class",
        column_label: "Predicted class",
        shares: "rows",
        diagonal: true,
        decimals: 0,
      },
      Math.min(width, 480),
      shown,
      "counts",
    );
  };
  const thresholdText = (data, { place, ratio }) => {
    const hits = data.true_positives[place],
      alarms = data.false_positives[place],
      all = data.n_positive + data.n_negative;
    const share = (part, whole) => (whole > 0 ? show(part / whole, 1, true) : "–");
    return [
      `Error ${share(alarms + data.n_positive - hits, all)}`,
      `recall ${share(hits, data.n_positive)}`,
      `precision ${share(hits, hits + alarms)}`,
      `false alarms ${share(alarms, data.n_negative)} of ${shorten(data.negative, 30)}`,
      `cost per row ${show(costAt(data, place, RATIOS[ratio]), 4)}`,
    ].join(" · ");
  };
  const slider = (figure, text, name, most) => {
    const input = make("input", { type: "range", min: 0, max: most, step: 1, value: figure.state[name] });
    const output = make("output", {});
    input.addEventListener("input", () => {
      figure.state[name] = Number(input.value);
      figure.refresh();
    });
    figure.legend.append(make("label", { class: "slider" }, make("span", { dir: "auto" }, text), input, output));
    return { input, output };
  };
  const thresholdControls = (figure) => {
    const { data, state } = figure;
    const place = slider(figure, "Threshold", "place", data.thresholds.length - 1);
    const missed = `Cost of a missed “${shorten(data.positive, 30)}”`;
    const ratio = slider(figure, missed, "ratio", RATIOS.length - 1);
    const button = make("button", { type: "button" }, "Lowest cost");
    button.addEventListener("click", () => {
      state.place = cheapest(data, RATIOS[state.ratio]);
      figure.refresh();
    });
    const text = make("p", { class: "reading measures", "aria-live": "polite" });
    figure.legend.append(button);
    figure.plot.after(text);
    figure.refresh = () => {
      place.input.value = state.place;
      place.output.textContent = show(data.thresholds[state.place], 3);
      place.input.setAttribute("aria-valuetext", place.output.textContent);
      ratio.output.textContent = `${show(RATIOS[state.ratio])} × a false alarm`;
      ratio.input.setAttribute("aria-valuetext", ratio.output.textContent);
      text.textContent = thresholdText(data, state);
      paint(figure);
    };
  };

  // -- figures: the tooltip ----------------------------------------------------------------------

  const tip = make("div", { class: "tip", role: "tooltip", id: "orfeon-tip", hidden: "" });
  const voice = make("div", { class: "unseen", "aria-live": "polite", id: "orfeon-voice" });
  document.body.append(tip, voice);
  let open = null;

  const pairOf = ([label, value, look, faint]) => {
    const name = make("span", { dir: "auto" }, shorten(label, 90));
    if (look) name.prepend(make("i", { class: look.name }));
    return make("div", { class: faint ? "pair faint" : "pair" }, name, make("span", {}, value));
  };
  const closeTip = () => {
    tip.hidden = true;
    if (open && open.pointer) open.pointer.remove();
    open = null;
  };
  const openTip = (figure, t, i, spoken) => {
    closeTip();
    const track = figure.drawing.tracks[t],
      x = track.xs[i],
      y = track.ys[i],
      told = track.tell(i);
    const pointer = draw(figure.drawing.svg, "g");
    if (told.upright)
      draw(pointer, "path", { class: "pointer-line", d: `M${x} ${told.upright[0]}V${told.upright[1]}` });
    if (track.cell)
      draw(pointer, "rect", {
        class: "pointer",
        x: x - track.cell[0] / 2 + 1,
        y: y - track.cell[1] / 2 + 1,
        width: track.cell[0] - 2,
        height: track.cell[1] - 2,
        rx: 5,
      });
    else
      draw(pointer, "circle", {
        class: "pointer",
        cx: x,
        cy: y,
        r: (track.radii ? track.radii[i] : 4) + 2.5,
      });
    open = { figure, pointer };
    figure.current = [t, i];
    tip.replaceChildren(make("strong", { dir: "auto" }, shorten(told.title, 120)));
    if (told.more) tip.append(make("div", { dir: "auto" }, shorten(told.more, 120)));
    tip.append(...told.pairs.map(pairOf));
    tip.hidden = false;
    placeTip(figure, x, y);
    if (spoken)
      voice.textContent = [
        shorten(told.title, 120),
        told.more,
        ...told.pairs.map(([label, value]) => `${shorten(label, 90)}: ${value}`),
      ]
        .filter(Boolean)
        .join(", ");
  };
  const placeTip = (figure, x, y) => {
    const box = figure.drawing.svg.getBoundingClientRect(),
      factor = box.width / figure.drawing.svg.viewBox.baseVal.width;
    const [px, py] = [box.left + x * factor, box.top + y * factor];
    const [w, h] = [tip.offsetWidth, tip.offsetHeight],
      page = document.documentElement.clientWidth;
    const left = px + 14 + w <= page - 4 ? px + 14 : px - 14 - w;
    const top = py - h - 12 >= 4 ? py - h - 12 : py + 16;
    tip.style.transform = `translate(${Math.round(Math.max(4, Math.min(left, page - w - 4)))}px, ${Math.round(top)}px)`;
  };

  // -- figures: hover and keyboard ---------------------------------------------------------------

  const hover = (figure) => (event) => {
    const box = figure.drawing && figure.drawing.svg && figure.drawing.svg.getBoundingClientRect();
    if (!box) return;
    const factor = figure.drawing.svg.viewBox.baseVal.width / box.width;
    const found = figure.drawing.pick(
      (event.clientX - box.left) * factor,
      (event.clientY - box.top) * factor,
    );
    if (!found) closeTip();
    else if (!open || open.figure !== figure || String(figure.current) !== String(found))
      openTip(figure, found[0], found[1], false);
  };
  const KEYS = {
    ArrowRight: [0, 1],
    ArrowLeft: [0, -1],
    ArrowDown: [1, 0],
    ArrowUp: [-1, 0],
    PageDown: [0, 10],
    PageUp: [0, -10],
  };
  const keyboard = (figure) => (event) => {
    if (event.key === "Escape") {
      closeTip();
      return;
    }
    const tracks = figure.drawing && figure.drawing.tracks.filter((track) => track.xs.length);
    if (!tracks || !tracks.length || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!KEYS[event.key] && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    unfold(figure);
    const all = figure.drawing.tracks;
    let [t, i] =
      figure.current && all[figure.current[0]] && figure.current[1] < all[figure.current[0]].xs.length
        ? figure.current
        : [all.indexOf(tracks[0]), -1];
    if (event.key === "Home") i = 0;
    else if (event.key === "End") i = all[t].xs.length - 1;
    else if (i < 0) i = 0;
    else [t, i] = move(figure.drawing, t, i, KEYS[event.key]);
    openTip(figure, t, i, true);
    scrollTo(figure, all[t].ys[i]);
  };
  /** Past the end of a track the next one begins. */
  const move = (drawing, t, i, [across, along]) => {
    const tracks = drawing.tracks,
      step = Math.sign(across || along);
    const inside = i + along >= 0 && i + along < tracks[t].xs.length;
    if (!across && (inside || Math.abs(along) > 1))
      return [t, Math.max(0, Math.min(tracks[t].xs.length - 1, i + along))];
    let next = t + step;
    while (tracks[next] && !tracks[next].xs.length) next += step;
    if (!tracks[next]) return [t, i];
    if (!across) return [next, step > 0 ? 0 : tracks[next].xs.length - 1];
    if (drawing.keep === "index") return [next, Math.min(i, tracks[next].xs.length - 1)];
    const away = tracks[next].xs.map((x) => Math.abs(x - tracks[t].xs[i]));
    return [next, away.indexOf(least(away))];
  };
  const scrollTo = (figure, y) => {
    const place = figure.plot.getBoundingClientRect().top + y;
    if (place < 60 || place > innerHeight - 60)
      scrollBy({ top: place - innerHeight / 2, behavior: "instant" });
  };

  // -- figures: drawing --------------------------------------------------------------------------

  const CHARTS = { boxes, lines, points, bars, matrix, threshold };
  /** Charts that are taller are folded, so that what follows is found. */
  const FOLD = 1100;
  const missingIn = (data) => {
    if (data.kind === "threshold") return 0;
    if (data.kind === "matrix") return data.values.flat().filter((value) => !known(value)).length;
    return data.series.reduce(
      (n, part) =>
        n +
        (part.values || part.y).filter((value, i) => !known(value) || (part.x && !known(part.x[i]))).length,
      0,
    );
  };
  const isEmpty = (data) =>
    data.kind === "threshold"
      ? !data.thresholds.length
      : data.kind === "matrix"
      ? !data.rows.length || !data.columns.length
      : data.series.every((part) => !(part.values || part.y).some(known));

  const paint = (figure) => {
    const { data, plot } = figure,
      width = Math.floor(plot.clientWidth);
    if (width < 40) return;
    if (open && open.figure === figure) closeTip();
    figure.width = width;
    const nothing = isEmpty(data)
      ? "Nothing to draw."
      : data.series && !figure.shown.some(Boolean)
        ? "All series are hidden."
        : "";
    figure.drawing = null;
    if (nothing) {
      plot.replaceChildren(make("p", { class: "empty" }, nothing));
      return;
    }
    figure.drawing = CHARTS[data.kind](data, width, figure.shown, figure.view, figure.state);
    plot.replaceChildren(figure.drawing.svg);
    fold(figure, figure.drawing.svg.height.baseVal.value);
  };
  const fold = (figure, height) => {
    const tall = height > FOLD && !figure.unfolded;
    figure.plot.classList.toggle("folded", tall);
    figure.root.classList.toggle("tall-chart", height > FOLD);
    if (tall && !figure.unfolding) {
      figure.unfolding = make("button", { type: "button", class: "unfold" }, "Show the whole chart");
      figure.unfolding.addEventListener("click", () => unfold(figure));
      figure.plot.after(figure.unfolding);
    }
    if (figure.unfolding) figure.unfolding.hidden = !tall;
  };
  const unfold = (figure) => {
    figure.unfolded = true;
    figure.plot.classList.remove("folded");
    if (figure.unfolding) figure.unfolding.hidden = true;
  };

  // -- figures: the legend -----------------------------------------------------------------------

  const swatch = (look, kind) => {
    const svg = draw(null, "svg", { width: 22, height: 12, viewBox: "0 0 22 12", "aria-hidden": "true" });
    if (kind === "lines")
      draw(svg, "path", {
        class: `line ${look.name}`,
        d: "M0 6H22",
        "stroke-dasharray": look.dash || "none",
      });
    else if (kind === "points")
      draw(svg, "path", { class: `mark ${look.name}`, d: look.symbol(4.5), transform: "translate(11 6)" });
    else draw(svg, "rect", { class: `barmark ${look.name}`, x: 4, y: 0, width: 14, height: 12, rx: 2 });
    return svg;
  };
  const legend = (figure) => {
    const { data } = figure;
    if (data.kind === "threshold") {
      if (!isEmpty(data)) thresholdControls(figure);
      return;
    }
    if (data.kind === "matrix") {
      if (data.shares === "rows" && !isEmpty(data)) viewSwitch(figure);
      return;
    }
    if (data.size && !isEmpty(data)) figure.legend.after(sizeKey(data));
    if (data.kind === "boxes" && data.series.some((row) => row.tones.length)) return;
    if (data.series.length < 2 && !data.series.some((part) => part.hidden)) return;
    figure.entries = data.series.map((part, i) => {
      const entry = make(
        "button",
        { type: "button", class: "entry", title: shorten(part.name, 300) },
        swatch(lookOf(groupOf(part, i, data)), data.kind),
        make("span", { dir: "auto" }, shorten(part.name, 80).trim() || "(no name)"),
      );
      entry.addEventListener("click", () => {
        figure.shown[i] = !figure.shown[i];
        changed(figure);
      });
      return entry;
    });
    const entries = figure.entries.slice();
    if (data.series.length > 6) {
      for (const [text, value] of [
        ["Show all", true],
        ["Hide all", false],
      ]) {
        const button = make("button", { type: "button", class: "all" }, text);
        button.addEventListener("click", () => {
          figure.shown.fill(value);
          changed(figure);
        });
        entries.splice(value ? 0 : 1, 0, button);
      }
    }
    if (data.kind === "boxes") {
      // The names stand beside the boxes already: the buttons are there for those who look for them.
      figure.count = make("summary", {}, "");
      figure.legend.append(make("details", {}, figure.count, make("div", { class: "entries" }, ...entries)));
    } else figure.legend.append(...entries);
    changed(figure, true);
  };
  const changed = (figure, silent) => {
    figure.entries.forEach((entry, i) => entry.setAttribute("aria-pressed", figure.shown[i]));
    if (figure.count)
      figure.count.textContent = `Shown: ${figure.shown.filter(Boolean).length} of ${figure.shown.length}`;
    if (!silent) {
      figure.current = null;
      paint(figure);
    }
  };
  const viewSwitch = (figure) => {
    const buttons = [
      ["counts", "Counts"],
      ["shares", "Shares of the row"],
    ].map(([view, text]) => {
      const button = make(
        "button",
        { type: "button", class: "entry", "aria-pressed": view === figure.view },
        text,
      );
      button.addEventListener("click", () => {
        figure.view = view;
        buttons.forEach((other) => other.setAttribute("aria-pressed", other === button));
        paint(figure);
      });
      return button;
    });
    figure.legend.classList.add("views");
    figure.legend.append(...buttons);
  };
  /** What the areas of points mean: the least and the greatest. */
  const sizeKey = (data) => {
    const sizes = data.series.flatMap((part) => part.sizes).filter(known),
      say = onAxis(data.size);
    const key = make("div", { class: "key" }, make("span", {}, `${shorten(data.size.label, 60)}:`));
    for (const size of sizes.length ? [least(sizes), greatest(sizes)] : []) {
      const r = radiusOf(size, greatest(sizes), 4);
      const svg = draw(null, "svg", { width: 2 * r + 2, height: 2 * r + 2, "aria-hidden": "true" });
      draw(svg, "circle", { cx: r + 1, cy: r + 1, r, class: "ring" });
      key.append(svg, make("span", {}, say(size)));
    }
    return key;
  };

  const begin = (root, data) => {
    const plot = root.querySelector(".plot"),
      title = root.querySelector("h3").textContent;
    const figure = {
      root,
      data,
      plot,
      legend: root.querySelector(".legend"),
      view: "counts",
      shown: (data.series || []).map((part) => !part.hidden),
      state: { place: data.kind === "threshold" ? nearHalf(data) : 0, ratio: RATIOS.indexOf(1) },
    };
    set(plot, {
      tabindex: 0,
      role: "application",
      "aria-roledescription": "chart",
      "aria-label": `${shorten(title, 200)}. Arrow keys move through the chart, Escape closes.`,
    });
    plot.addEventListener("pointermove", hover(figure));
    plot.addEventListener("pointerdown", hover(figure));
    plot.addEventListener("pointerleave", closeTip);
    plot.addEventListener("blur", closeTip);
    plot.addEventListener("keydown", keyboard(figure));
    legend(figure);
    if (figure.refresh) figure.refresh();
    const missing = isEmpty(data) ? 0 : missingIn(data);
    if (missing)
      plot.after(
        make(
          "p",
          { class: "reading" },
          missing === 1
            ? "1 value is missing and not drawn."
            : `${show(missing)} values are missing and not drawn.`,
        ),
      );
    new ResizeObserver(() => {
      if (Math.abs(Math.floor(plot.clientWidth) - (figure.width || 0)) > 1) paint(figure);
    }).observe(plot);
    paint(figure);
  };

  // -- tables and files --------------------------------------------------------------------------

  const keyOf = (cell) => {
    const value = cell.dataset.value;
    if (value === undefined) return cell.textContent.trim();
    const first = value.split(" ")[0];
    return first === "" ? null : Number(first);
  };
  const compare = (a, b) =>
    typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
  const sortBy = (table, j, head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    const body = table.tBodies[0],
      rows = Array.from(body.rows, (row) => [keyOf(row.cells[j]), row]);
    const empty = ([key]) => key === null || key === "";
    const full = rows.filter((row) => !empty(row)).sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
    body.append(...full.concat(rows.filter(empty)).map((row) => row[1]));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  const makeSortable = (table) => {
    Array.from(table.tHead.rows[0].cells).forEach((head, j) => {
      const button = make("button", { type: "button" }, ...head.childNodes);
      button.addEventListener("click", () => sortBy(table, j, head));
      head.append(button);
    });
  };
  const tableCsv = (table) => {
    const rows = Array.from(table.tBodies[0].rows, (row) => Array.from(row.cells));
    const parts = (cell) =>
      cell.dataset.value === undefined
        ? [cell.textContent.trim()]
        : cell.dataset.value.split(" ").map((part) => (part === "" ? null : Number(part)));
    const names = Array.from(table.tHead.rows[0].cells, (head) => head.textContent.trim());
    const counts = names.map((_, j) => greatest(rows.map((row) => parts(row[j]).length).concat(1)));
    const ends = { 1: [""], 2: [" low", " high"], 3: ["", " low", " high"] };
    const fill = (values, n) => values.concat(range(n - values.length).map(() => null));
    return [
      names.flatMap((name, j) => ends[counts[j]].map((end) => name + end)),
      ...rows.map((row) => row.flatMap((cell, j) => fill(parts(cell), counts[j]))),
    ];
  };
  const chartCsv = (data) => {
    if (data.kind === "matrix")
      return [[data.row_label, ...data.columns], ...data.rows.map((name, i) => [name, ...data.values[i]])];
    if (data.kind === "threshold")
      return [
        ["threshold", "true positives", "false negatives", "false positives", "true negatives"],
        ...data.thresholds.map((value, i) => [
          value,
          data.true_positives[i],
          data.n_positive - data.true_positives[i],
          data.false_positives[i],
          data.n_negative - data.false_positives[i],
        ]),
      ];
    const each = (row) =>
      data.series.flatMap((part) => (part.values || part.y).map((_, i) => [part.name, ...row(part, i)]));
    if (data.kind === "boxes")
      return [
        ["series", "run", data.axis.label],
        ...each((part, i) => [part.labels[i] || String(i + 1), part.values[i]]),
      ];
    if (data.kind === "bars")
      return [
        ["series", "name", data.axis.label, "low", "high"],
        ...each((part, i) => [data.categories[i], part.values[i], part.low[i], part.high[i]]),
      ];
    if (data.kind === "lines")
      return [
        ["series", data.x.label, data.y.label, "low", "high"],
        ...each((part, i) => [part.x[i], part.y[i], part.low[i], part.high[i]]),
      ];
    return [
      ["series", "label", data.x.label, data.y.label, data.size ? data.size.label : "size"],
      ...each((part, i) => [part.labels[i] || "", part.x[i], part.y[i], part.sizes[i]]),
    ];
  };
  const csvCell = (value) => {
    if (!known(value)) return "";
    if (typeof value === "number") return String(value);
    // A name that begins like a formula is text all the same: spreadsheets are told so.
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const save = (rows, name) => {
    const text = "\ufeff" + rows.map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    const link = make("a", { href: address, download: `${name}.csv` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };

  // -- page --------------------------------------------------------------------------------------

  const copy = async (button) => {
    const text = button.closest("figure").querySelector("code").textContent;
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      done = copyBySelection(text);
    }
    button.textContent = done ? "Copied" : "Select the text and copy it";
    voice.textContent = button.textContent;
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  };
  const copyBySelection = (text) => {
    const field = make("textarea", { class: "unseen" });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () =>
    document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : dark.matches;
  const nameTheme = () => {
    document.querySelector("[data-do=theme]").textContent = isDark() ? "Light" : "Dark";
  };

  const ACTIONS = {
    copy,
    csv: (button) => {
      const root = button.closest("figure"),
        chart = root.dataset.chart;
      save(chart === undefined ? tableCsv(root.querySelector("table")) : chartCsv(CONTENT[chart]), root.id);
    },
    numbers: (button) => {
      const region = document.getElementById(button.getAttribute("aria-controls"));
      region.hidden = !region.hidden;
      button.setAttribute("aria-expanded", !region.hidden);
      for (const box of region.querySelectorAll(".scroll")) reachable(box);
    },
    theme: () => {
      document.documentElement.dataset.theme = isDark() ? "light" : "dark";
      nameTheme();
    },
  };
  /** Only boxes that do scroll are stops of the keyboard. */
  const reachable = (box) => {
    if (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  const followContents = () => {
    const links = Array.from(document.querySelectorAll(".contents a"));
    const places = links.map((link) => document.getElementById(link.hash.slice(1)));
    let waiting = false;
    const follow = () => {
      waiting = false;
      let current = 0;
      places.forEach((place, i) => {
        if (place && place.getBoundingClientRect().top < innerHeight * 0.3) current = i;
      });
      links.forEach((link, i) =>
        i === current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current"),
      );
    };
    const ask = () => {
      if (!waiting) {
        waiting = true;
        requestAnimationFrame(follow);
      }
    };
    addEventListener("scroll", ask, { passive: true });
    follow();
  };

  const CONTENT = JSON.parse(document.getElementById("orfeon-charts").textContent);
  document.documentElement.classList.add("script");
  document.querySelectorAll("table").forEach(makeSortable);
  document.querySelectorAll("[data-do=numbers]").forEach(ACTIONS.numbers);
  for (const root of document.querySelectorAll("figure[data-chart]")) {
    try {
      begin(root, CONTENT[root.dataset.chart]);
    } catch (error) {
      // One chart that fails takes nothing with it: its numbers are shown.
      console.error(error);
      ACTIONS.numbers(root.querySelector("[data-do=numbers]"));
    }
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (button) ACTIONS[button.dataset.do](button);
  });
  addEventListener(
    "scroll",
    () => {
      if (open && !open.figure.plot.matches(":focus")) closeTip();
    },
    { passive: true },
  );
  addEventListener("beforeprint", closeTip);
  addEventListener("resize", () => document.querySelectorAll(".scroll").forEach(reachable));
  document.querySelectorAll(".scroll").forEach(reachable);
  dark.addEventListener("change", nameTheme);
  nameTheme();
  followContents();
})();
