/* The page: reads the controls, trains with Ensembles, draws. */
(() => {
  const texts = JSON.parse(document.getElementById("texts").textContent);
  const at = (id) => document.getElementById(id);
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)}%`;
  const UNLIMITED = 12;
  /** How the slider of the rate is divided for each method, and what a method begins with. */
  const RATES = { bagging: [5, 100, 5], forest: [5, 100, 5], switching: [0, 48, 2], adaboost: [5, 100, 5] };
  const BEGINNING = { bagging: [100, UNLIMITED], forest: [100, UNLIMITED], switching: [30, UNLIMITED], adaboost: [100, 2] };
  const SLIDERS = ["samples", "noise", "members", "rate", "depth", "first"];

  let seed = 1, model = null, borders = {}, votesAllMembers = true;
  let cross = [0.32, 0.4]; // shares of the width and height of the map, from below
  const start = Object.fromEntries(["problem", "method", "order", ...SLIDERS].map((id) => [id, at(id).value]));
  const chosen = Object.fromEntries(Object.entries(BEGINNING).map(([method, values]) => [method, [...values]]));

  // -- controls ---------------------------------------------------------------------------------

  function settings() {
    const depth = Number(at("depth").value);
    return {
      problem: at("problem").value, method: at("method").value, samples: Number(at("samples").value),
      noise: at("noise").value / 100, members: Number(at("members").value), rate: at("rate").value / 100,
      depth: depth === UNLIMITED ? Infinity : depth, seed,
    };
  }

  /** Rate and depth are kept for each method. */
  function showMethod() {
    const method = at("method").value, [low, high, step] = RATES[method];
    Object.assign(at("rate"), { min: low, max: high, step });
    [at("rate").value, at("depth").value] = chosen[method];
    at("rate-label").textContent = texts.rates[method];
  }

  function showValues() {
    const shown = {
      samples: at("samples").value, noise: `${at("noise").value}%`, members: at("members").value, rate: `${at("rate").value}%`,
      depth: Number(at("depth").value) === UNLIMITED ? texts.no_limit : at("depth").value, first: at("first").value,
    };
    for (const [id, text] of Object.entries(shown)) {
      at(`${id}-value`).textContent = text;
      at(id).setAttribute("aria-valuetext", text);
    }
  }

  let pending = "";
  /** Draws with the next frame; many changes at once are one. */
  function change(what) {
    if (!pending) requestAnimationFrame(() => {
      const mustTrain = pending === "train", before = performance.now();
      pending = "";
      if (mustTrain) train();
      draw();
      if (mustTrain) at("time").textContent = filled(texts.trained_in, { ms: Math.max(1, Math.round(performance.now() - before)) });
    });
    if (pending !== "train") pending = what;
  }

  function train() {
    model = Ensembles.run(settings());
    const T = model.trees.length, slider = at("first");
    slider.max = T;
    slider.value = votesAllMembers ? T : Math.min(slider.value, T);
    at("ended").hidden = !model.ended;
    at("ended").textContent = model.ended ? filled(texts.ended[model.ended], { T }) : "";
  }

  // -- drawing ----------------------------------------------------------------------------------

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

  function draw() {
    showValues();
    const order = model.orders[at("order").value], k = Number(at("first").value), first = order.slice(0, k);
    drawMap(first);
    drawCurves(k);
    drawMargins(first);
    drawVotes(order, k);
    drawNumbers();
    const { trained, ordered } = model.curves, T = order.length;
    const best = ordered.test.indexOf(Math.min(...ordered.test)), curve = model.curves[at("order").value];
    at("summary").textContent = filled(texts.summary, {
      k, T, test: percent(curve.test[k - 1]), train: percent(curve.train[k - 1]), one: percent(trained.test[0]),
      all: percent(trained.test[T - 1]), best: best + 1, bestError: percent(ordered.test[best]),
    });
  }

  function drawMap(first) {
    const canvas = at("plane"), { grid, data } = model, { columns, rows } = grid;
    const shown = canvas.clientWidth || 440, sharpness = window.devicePixelRatio || 1, dot = shown < 400 ? 3 : 3.75;
    const width = shown, height = Math.round((shown * rows) / columns), pen = canvas.getContext("2d");
    Object.assign(canvas, { width: width * sharpness, height: height * sharpness });
    pen.scale(sharpness, sharpness);
    const paper = channels(colour("paper")), ends = [channels(colour("blue")), channels(colour("orange"))];
    const shares = Ensembles.shares(model.maps, first, model.memberWeights), cells = new ImageData(columns, rows);
    for (let cell = 0; cell < shares.length; cell++) {
      // The side that wins has its colour, paler where the vote is closer.
      const share = shares[cell], end = ends[share > 0.5 ? 1 : 0], part = 0.12 + 0.5 * Math.abs(2 * share - 1);
      const place = 4 * ((rows - 1 - Math.floor(cell / columns)) * columns + (cell % columns));
      for (let i = 0; i < 3; i++) cells.data[place + i] = paper[i] + (end[i] - paper[i]) * part;
      cells.data[place + 3] = 255;
    }
    const small = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
    small.getContext("2d").putImageData(cells, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(small, 0, 0, width, height);
    drawBorder(pen, width, height);
    const [x0, x1, y0, y1] = Ensembles.PROBLEMS[at("problem").value].box;
    const place = (i) => [((data.X[0][i] - x0) / (x1 - x0)) * width, ((y1 - data.X[1][i]) / (y1 - y0)) * height];
    const tones = [colour("blue"), colour("orange")], ink = colour("ink"), ground = colour("paper");
    pen.lineWidth = 1;
    for (let i = 0; i < data.n; i++) {
      const [x, y] = place(i), r = dot;
      pen.fillStyle = tones[data.y[i]], pen.strokeStyle = ground;
      pen.beginPath();
      if (data.y[i]) pen.arc(x, y, r, 0, 2 * Math.PI);
      else pen.rect(x - r + 0.5, y - r + 0.5, 2 * r - 1, 2 * r - 1);
      pen.fill(), pen.stroke();
      if (!data.wrong[i]) continue;
      pen.strokeStyle = ink, pen.beginPath(), pen.arc(x, y, r + 3, 0, 2 * Math.PI), pen.stroke();
    }
    const [cx, cy] = [cross[0] * width, (1 - cross[1]) * height];
    for (const [style, thick] of [[ground, 5], [ink, 2]]) {
      pen.strokeStyle = style, pen.lineWidth = thick;
      pen.beginPath(), pen.moveTo(cx - 10, cy), pen.lineTo(cx + 10, cy), pen.moveTo(cx, cy - 10), pen.lineTo(cx, cy + 10), pen.stroke();
    }
  }

  /** The best possible border: between cells where the better class changes. */
  function drawBorder(pen, width, height) {
    const problem = at("problem").value, n = 180, grid = Ensembles.gridOf(problem, n), { rows } = grid;
    if (!borders[problem]) {
      const best = [...grid.ys].map((y) => [...grid.xs].map((x) => Ensembles.PROBLEMS[problem].best(x, y)));
      const path = new Path2D();
      for (let r = 0; r < rows; r++) for (let c = 0; c < n; c++) {
        const x = c / n, y = 1 - r / rows;
        if (c && best[r][c] !== best[r][c - 1]) path.moveTo(x, y), path.lineTo(x, y - 1 / rows);
        if (r && best[r][c] !== best[r - 1][c]) path.moveTo(x, y), path.lineTo(x + 1 / n, y);
      }
      borders[problem] = path;
    }
    const scaled = new Path2D();
    scaled.addPath(borders[problem], new DOMMatrix([width, 0, 0, height, 0, 0]));
    pen.strokeStyle = colour("ink"), pen.lineWidth = 1.5;
    pen.stroke(scaled);
  }

  const LEFT = 56, RIGHT = 12, TOP = 12, BOTTOM = 46;
  const widthOf = (id) => at(id).clientWidth || 440;

  /** A plot: its scales, and the SVG of its grid and axes. */
  function plot(id, [x0, x1], [y0, y1], xTicks, yTicks, [xName, yName]) {
    const WIDTH = widthOf(id), HEIGHT = Math.round(0.64 * WIDTH);
    const x = (v) => LEFT + ((v - x0) / (x1 - x0 || 1)) * (WIDTH - LEFT - RIGHT);
    const y = (v) => HEIGHT - BOTTOM - ((v - y0) / (y1 - y0)) * (HEIGHT - BOTTOM - TOP);
    const line = (x1, y1, x2, y2, look) => `<path class="${look}" d="M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}"/>`;
    const text = (x, y, words, anchor) => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${words}</text>`;
    let svg = "";
    for (const v of yTicks) svg += line(LEFT, y(v), WIDTH - RIGHT, y(v), "grid") + text(LEFT - 6, y(v) + 4, percent(v, 0), "end");
    for (const v of xTicks) svg += text(x(v), HEIGHT - BOTTOM + 18, v, "middle");
    svg += line(LEFT, y(y0), WIDTH - RIGHT, y(y0), "axis");
    svg += text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, xName, "middle") + `<text transform="translate(12 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${yName}</text>`;
    const curve = (points, look) => `<path class="curve ${look}" d="M${points.map(([a, b]) => `${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("L")}"/>`;
    const upright = (v) => line(x(v), TOP, x(v), HEIGHT - BOTTOM, "here");
    const show = (marks) => {
      at(id).setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
      at(id).innerHTML = svg + marks;
    };
    return { upright, curve, show };
  }

  const legend = (id, entries) => {
    at(id).innerHTML = entries.map(([look, words]) => `<span><svg viewBox="0 0 28 12" aria-hidden="true"><path class="curve ${look}" d="M0 6H28"/></svg>${words}</span>`).join("");
  };

  /** About so many round numbers from 0 to the highest. */
  function ticks(highest, wanted, smallest) {
    const step = [0.01, 0.02, 0.05, 0.1, 0.2, 1, 2, 5, 10, 20, 50].find((s) => s >= smallest && highest / s <= wanted) ?? highest;
    return Array.from({ length: Math.floor(highest / step + 1e-9) + 1 }, (_, i) => i * step);
  }

  const CURVES = [["trained", "train"], ["trained", "test"], ["ordered", "train"], ["ordered", "test"]];

  function drawCurves(k) {
    const T = model.trees.length;
    const highest = Math.max(0.05, ...CURVES.flatMap(([order, samples]) => model.curves[order][samples]));
    const xTicks = [...new Set([1, ...ticks(T, 5, 1).slice(1)])].filter((v) => v === 1 || T < 8 || v > T / 20);
    const made = plot("curves-plot", [1, Math.max(T, 2)], [0, highest], xTicks, ticks(highest, 6, 0.01), [texts.axis_members, texts.error]);
    let svg = made.upright(k);
    for (const [order, samples] of CURVES) svg += made.curve(model.curves[order][samples].map((error, i) => [i + 1, error]), `${order} ${samples}`);
    made.show(svg);
  }

  function drawMargins(first) {
    const made = plot("margins-plot", [-1, 1], [0, 1], [-1, -0.5, 0, 0.5, 1], [0, 0.25, 0.5, 0.75, 1], [texts.axis_margin, texts.axis_share]);
    let svg = made.upright(0);
    for (const [votes, samples, look] of [[model.votes, model.data, "strong train"], [model.testVotes, model.test, "strong"]]) {
      const sorted = Ensembles.margins(votes, samples.y, first, model.memberWeights).sort(), n = sorted.length, points = [[-1, 0]];
      sorted.forEach((margin, i) => {
        if (i + 1 < n && sorted[i + 1] === margin) return;
        points.push([margin, points.at(-1)[1]], [margin, (i + 1) / n]);
      });
      svg += made.curve([...points, [1, 1]], look);
    }
    made.show(svg);
  }

  function drawVotes(order, k) {
    const { grid, maps, memberWeights } = model, { columns, rows } = grid;
    const cell = Math.min(rows - 1, Math.floor(cross[1] * rows)) * columns + Math.min(columns - 1, Math.floor(cross[0] * columns));
    const WIDTH = widthOf("votes-plot"), perRow = WIDTH < 400 ? 40 : 50, step = WIDTH / perRow, lines = Math.ceil(order.length / perRow);
    let svg = "", n = 0, weight = 0, total = 0;
    order.forEach((t, place) => {
      const vote = maps[t][cell], x = (place % perRow) * step, y = Math.floor(place / perRow) * 36 + 6, tall = vote ? 24 : 12;
      if (place < k) n += vote, weight += vote * memberWeights[t], total += memberWeights[t];
      svg += `<rect class="vote-${vote}${place < k ? "" : " silent"}" x="${(x + 1.5).toFixed(1)}" y="${y + 24 - tall}" width="${(step - 3).toFixed(1)}" height="${tall}"/>`;
    });
    at("votes-plot").setAttribute("viewBox", `0 0 ${WIDTH} ${lines * 36}`);
    at("votes-plot").innerHTML = svg;
    const [x, y] = [grid.xs[cell % columns], grid.ys[Math.floor(cell / columns)]].map((v) => v.toFixed(2));
    const share = weight / total, weighted = at("method").value === "adaboost" ? ` ${filled(texts.weighted, { share: percent(share) })}` : "";
    at("votes-text").textContent = filled(texts.votes_text, { x, y, n, k, label: texts.labels[share > 0.5 ? 1 : 0] }) + weighted;
  }

  function drawNumbers() {
    if (!document.querySelector("details").open) return;
    const heads = [texts.axis_members, ...CURVES.map(([order, samples]) => `${texts.orders[order]}: ${texts[samples]}`)];
    const row = (i) => `<tr><th scope="row">${i + 1}</th>${CURVES.map(([order, samples]) => `<td>${percent(model.curves[order][samples][i])}</td>`).join("")}</tr>`;
    at("table").innerHTML = `<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead><tbody>${model.trees.map((_, i) => row(i)).join("")}</tbody>`;
  }

  // -- events -----------------------------------------------------------------------------------

  const remember = () => (chosen[at("method").value] = [Number(at("rate").value), Number(at("depth").value)]);

  document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  document.querySelector("form").addEventListener("input", ({ target }) => {
    if (target.id === "method") showMethod();
    if (target.id === "first") votesAllMembers = target.value === target.max;
    remember();
    change(["first", "order"].includes(target.id) ? "draw" : "train");
  });
  at("redraw").addEventListener("click", () => {
    seed += 1;
    change("train");
  });

  function set(values) {
    for (const [id, value] of Object.entries({ ...start, ...values })) if (!["rate", "depth", "first"].includes(id)) at(id).value = value;
    for (const method of Object.keys(chosen)) chosen[method] = [...BEGINNING[method]];
    const method = at("method").value;
    chosen[method] = [values.rate ?? BEGINNING[method][0], values.depth ?? BEGINNING[method][1]];
    votesAllMembers = true;
    seed = 1;
    showMethod();
    change("train");
  }
  at("reset").addEventListener("click", () => set({}));
  for (const button of document.querySelectorAll("[data-story]")) button.addEventListener("click", () => {
    const [, , values] = texts.stories[button.dataset.story], shares = { noise: 100, rate: 100 };
    set(Object.fromEntries(Object.entries(values).map(([id, value]) => [id, id in shares ? Math.round(100 * value) : value])));
    at("summary").scrollIntoView({ block: "nearest" });
  });

  at("plane").addEventListener("click", (event) => {
    const box = at("plane").getBoundingClientRect();
    moveCross((event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height);
  });
  at("plane").addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }, move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    moveCross(cross[0] + move[0] / model.grid.columns, cross[1] + move[1] / model.grid.rows);
  });
  function moveCross(x, y) {
    cross = [x, y].map((share) => Math.min(0.999, Math.max(0, share)));
    change("draw");
  }

  at("curves-plot").addEventListener("click", (event) => {
    const box = at("curves-plot").getBoundingClientRect(), slider = at("first");
    const x = event.clientX - box.left, T = Number(slider.max);
    slider.value = Math.round(1 + ((x - LEFT) / (box.width - LEFT - RIGHT)) * (T - 1));
    votesAllMembers = slider.value === slider.max;
    change("draw");
  });
  document.querySelector("details").addEventListener("toggle", () => change("draw"));

  addEventListener("resize", () => change("draw"));

  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (darkness.matches ? "dark" : "light")) === "dark";
  function nameTheme() {
    at("theme").textContent = isDark() ? texts.light : texts.dark;
    change("draw");
  }
  at("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  darkness.addEventListener("change", nameTheme);

  legend("curves-legend", CURVES.map(([order, samples]) => [`${order} ${samples}`, `${texts.orders[order]}: ${texts[samples]}`]));
  legend("margins-legend", [["strong train", texts.train], ["strong", texts.test]]);
  showMethod();
  nameTheme();
  change("train");
})();
