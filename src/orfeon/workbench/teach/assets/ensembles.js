"use strict";
/* Ensembles of small trees on problems of two features: pure functions, without the page.

   The rules are orfeon's, and the tests compare: trees by Gini, cuts half way between two values,
   class-switching of a fixed share, AdaBoost with its steps, margin distance with whole numbers. */
const Ensembles = (() => {
  /** Numbers in [0, 1) from a seed (Mulberry32). */
  function numbers(seed) {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
  }

  /** A generator of its own for each purpose, so that one setting does not change another's draw. */
  function branch(seed, purpose, number = 0) {
    const random = numbers(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(purpose + 1, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35));
    for (let i = 0; i < 4; i++) random();
    return random;
  }

  const gaussian = (random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

  /** The first n of a random order of 0 ... size - 1. */
  function someOf(size, n, random) {
    const all = Int32Array.from({ length: size }, (_, i) => i);
    for (let i = 0; i < n; i++) {
      const j = i + Math.floor(random() * (size - i));
      [all[i], all[j]] = [all[j], all[i]];
    }
    return all.subarray(0, n);
  }

  // -- problems ---------------------------------------------------------------------------------

  const MOON_SPREAD = 0.25, RADIUS = 1 / Math.sqrt(2 * Math.PI), CENTRE = Math.SQRT2;
  const moon = (label, angle) => (label ? [1 - Math.cos(angle), 0.5 - Math.sin(angle)] : [Math.cos(angle), Math.sin(angle)]);
  const density = (x, y, [a, b], spread) => Math.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * spread * spread));

  function moonDensity(x, y, label) {
    let sum = 0;
    for (let k = 0; k <= 24; k++) sum += (k % 24 ? 1 : 0.5) * density(x, y, moon(label, (Math.PI * k) / 24), MOON_SPREAD);
    return sum;
  }

  /** Each problem: the part of the plane that is drawn, a point of a class, and the better class at a point. */
  const PROBLEMS = {
    moons: {
      box: [-1.75, 2.75, -1.4, 1.9],
      draw: (random) => {
        const label = random() < 0.5 ? 1 : 0;
        const [x, y] = moon(label, Math.PI * random());
        return [x + MOON_SPREAD * gaussian(random), y + MOON_SPREAD * gaussian(random), label];
      },
      best: (x, y) => (moonDensity(x, y, 1) > moonDensity(x, y, 0) ? 1 : 0),
    },
    circle: region([0, 1, 0, 1], (x, y) => (Math.hypot(x - 0.5, y - 0.5) <= RADIUS ? 1 : 0)),
    xor: region([0, 1, 0, 1], (x, y) => (x > 0.5 !== y > 0.5 ? 1 : 0)),
    threenorm: {
      box: [-4, 4, -4, 4],
      draw: (random) => {
        const label = random() < 0.5 ? 1 : 0;
        const sign = label || random() < 0.5 ? 1 : -1;
        const second = label ? -CENTRE : sign * CENTRE;
        return [sign * CENTRE + gaussian(random), second + gaussian(random), label];
      },
      best: (x, y) => {
        const straight = density(x, y, [CENTRE, CENTRE], 1) + density(x, y, [-CENTRE, -CENTRE], 1);
        return density(x, y, [CENTRE, -CENTRE], 1) > straight / 2 ? 1 : 0;
      },
    },
  };

  function region(box, best) {
    return {
      box,
      best,
      draw: (random) => {
        const x = box[0] + random() * (box[1] - box[0]), y = box[2] + random() * (box[3] - box[2]);
        return [x, y, best(x, y)];
      },
    };
  }

  /** Samples of a problem; a share of the labels, rounded to whole samples, is wrong. */
  function sample(problem, n, noise, seed, purpose) {
    const random = branch(seed, purpose), { draw } = PROBLEMS[problem];
    const X = [new Float64Array(n), new Float64Array(n)], y = new Uint8Array(n);
    for (let i = 0; i < n; i++) [X[0][i], X[1][i], y[i]] = draw(random);
    const wrong = new Uint8Array(n);
    for (const i of someOf(n, Math.round(noise * n), branch(seed, purpose + 1))) {
      y[i] = 1 - y[i];
      wrong[i] = 1;
    }
    return { X, y, n, wrong, sorted: X.map((column) => Int32Array.from(column.keys()).sort((i, j) => column[i] - column[j] || i - j)) };
  }

  // -- trees ------------------------------------------------------------------------------------

  const BOTH = [0, 1];

  /** A CART tree: arrays of nodes, of which leaves have feature -1. */
  function growTree(data, labels, weights, maxDepth, chooseFeatures = null) {
    const { X } = data, tree = { feature: [], threshold: [], left: [], right: [], label: [] };
    const orders = data.sorted.map((order) => order.filter((i) => weights[i] > 0));
    const size = orders[0].length, toLeft = new Uint8Array(data.n), spare = new Int32Array(size);

    /** The cut with the highest sum over both sides of squared class weights by weight: least Gini. */
    function bestCut(start, end, below, above, features) {
      let feature = -1, threshold = 0, middle = 0, highest = -Infinity;
      for (const f of features) {
        const order = orders[f], column = X[f];
        let a = 0, b = 0;
        for (let k = start, next = column[order[start]]; k < end - 1; k++) {
          const i = order[k], here = next;
          if (labels[i]) b += weights[i];
          else a += weights[i];
          next = column[order[k + 1]];
          if (next === here) continue;
          const c = below - a, d = above - b, value = (a * a + b * b) / (a + b) + (c * c + d * d) / (c + d);
          if (value > highest) [highest, feature, threshold, middle] = [value, f, halfWay(here, next), k + 1];
        }
      }
      return { feature, threshold, middle };
    }

    function grow(start, end, depth) {
      const node = tree.feature.length;
      let below = 0, above = 0;
      for (let k = start; k < end; k++) {
        const i = orders[0][k];
        if (labels[i]) above += weights[i];
        else below += weights[i];
      }
      tree.feature.push(-1), tree.threshold.push(0), tree.left.push(-1), tree.right.push(-1);
      tree.label.push(above > below ? 1 : 0);
      if (depth >= maxDepth || below === 0 || above === 0) return node;
      let cut = bestCut(start, end, below, above, chooseFeatures ? chooseFeatures() : BOTH);
      if (chooseFeatures && cut.feature < 0) cut = bestCut(start, end, below, above, BOTH);
      if (cut.feature < 0) return node;
      for (let k = start; k < end; k++) toLeft[orders[cut.feature][k]] = k < cut.middle ? 1 : 0;
      part(orders[1 - cut.feature], start, end);
      tree.feature[node] = cut.feature;
      tree.threshold[node] = cut.threshold;
      tree.left[node] = grow(start, cut.middle, depth + 1);
      tree.right[node] = grow(cut.middle, end, depth + 1);
      return node;
    }

    function part(order, start, end) {
      let at = start, n = 0;
      for (let k = start; k < end; k++) {
        if (toLeft[order[k]]) order[at++] = order[k];
        else spare[n++] = order[k];
      }
      order.set(spare.subarray(0, n), at);
    }

    grow(0, size, 0);
    return tree;
  }

  /** Between two values, and below the higher one even when they are neighbours. */
  function halfWay(low, high) {
    const middle = low + (high - low) / 2;
    return middle < high ? middle : low;
  }

  function predictTree({ feature, threshold, left, right, label }, X, n) {
    const votes = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      let node = 0;
      while (feature[node] >= 0) node = X[feature[node]][i] <= threshold[node] ? left[node] : right[node];
      votes[i] = label[node];
    }
    return votes;
  }

  /** The tree's classes on a grid, by cutting rectangles: first row at the bottom. */
  function mapTree(tree, grid) {
    const { columns, rows, xs, ys } = grid, votes = new Uint8Array(columns * rows);
    const firstAbove = (values, cut, low, high) => {
      while (low < high) {
        const middle = (low + high) >> 1;
        if (values[middle] <= cut) low = middle + 1;
        else high = middle;
      }
      return low;
    };
    (function paint(node, x0, x1, y0, y1) {
      if (x0 >= x1 || y0 >= y1) return;
      if (tree.feature[node] < 0) {
        if (tree.label[node]) for (let r = y0; r < y1; r++) votes.fill(1, r * columns + x0, r * columns + x1);
      } else if (tree.feature[node] === 0) {
        const cut = firstAbove(xs, tree.threshold[node], x0, x1);
        paint(tree.left[node], x0, cut, y0, y1), paint(tree.right[node], cut, x1, y0, y1);
      } else {
        const cut = firstAbove(ys, tree.threshold[node], y0, y1);
        paint(tree.left[node], x0, x1, y0, cut), paint(tree.right[node], x0, x1, cut, y1);
      }
    })(0, 0, columns, 0, rows);
    return votes;
  }

  function gridOf(problem, columns) {
    const [x0, x1, y0, y1] = PROBLEMS[problem].box, rows = Math.round((columns * (y1 - y0)) / (x1 - x0));
    const middles = (from, to, n) => Float64Array.from({ length: n }, (_, k) => from + ((k + 0.5) * (to - from)) / n);
    return { columns, rows, xs: middles(x0, x1, columns), ys: middles(y0, y1, rows) };
  }

  // -- ensembles --------------------------------------------------------------------------------

  const ones = (n) => new Float64Array(n).fill(1);

  /** How often each sample is drawn, of as many draws as a share of the samples. */
  function bootstrap(n, share, random) {
    const weights = new Float64Array(n), draws = Math.max(1, Math.round(share * n));
    for (let k = 0; k < draws; k++) weights[Math.floor(random() * n)] += 1;
    return weights;
  }

  /** Each method: what its rate is, and what a member is trained on. AdaBoost is a loop of its own. */
  const METHODS = {
    bagging: ({ y, n }, rate, random) => ({ labels: y, weights: bootstrap(n, rate, random) }),
    forest: ({ y, n }, rate, random) => ({
      labels: y, weights: bootstrap(n, rate, random), chooseFeatures: () => [random() < 0.5 ? 0 : 1],
    }),
    switching: ({ y, n }, rate, random) => {
      const labels = y.slice();
      for (const i of someOf(n, Math.round(rate * n), random)) labels[i] = 1 - labels[i];
      return { labels, weights: ones(n) };
    },
    adaboost: null,
  };

  function trainIndependent(data, { method, members, rate, depth, seed }) {
    const trees = [], made = [];
    for (let t = 0; t < members; t++) {
      const perturbed = METHODS[method](data, rate, branch(seed, 10, t));
      trees.push(growTree(data, perturbed.labels, perturbed.weights, depth, perturbed.chooseFeatures));
      made.push(perturbed);
    }
    return { trees, made, memberWeights: ones(members), ended: "" };
  }

  const HALF = 0.5 - 1e-10, PERFECT = 0.5 * Math.log(1e10);

  /** AdaBoost: a member without error outvotes all others and ends it; one no better than chance is dropped. */
  function trainAdaBoost(data, { members, rate, depth }) {
    const { y, n } = data, trees = [], votesOf = [], errors = [], made = [];
    let weights = new Float64Array(n).fill(1 / n), total = 0, ended = "";
    while (trees.length < members && !ended) {
      const tree = growTree(data, y, weights, depth), votes = predictTree(tree, data.X, n);
      let error = 0;
      for (let i = 0; i < n; i++) if (votes[i] !== y[i]) error += weights[i];
      if (error >= HALF) ended = "chance";
      if (error === 0) ended = "perfect";
      if (ended === "chance" && trees.length) break;
      const odds = (1 - error) / error, vote = rate * 0.5 * Math.log(odds);
      trees.push(tree), errors.push(error), made.push({ labels: y, weights });
      votesOf.push(ended === "chance" ? 1 : ended ? Math.max(rate * PERFECT, 2 * total) : vote);
      if (ended) break;
      total += vote;
      const factor = odds ** rate;
      weights = weights.map((w, i) => (votes[i] !== y[i] ? w * factor : w));
      const sum = weights.reduce((a, b) => a + b);
      weights = weights.map((w) => w / sum);
    }
    return { trees, made, memberWeights: Float64Array.from(votesOf), errors, ended };
  }

  const train = (data, settings) => (settings.method === "adaboost" ? trainAdaBoost : trainIndependent)(data, settings);

  // -- votes ------------------------------------------------------------------------------------

  const P_TENTHS_OF_PERCENT = 75;

  /** Members by margin distance (p = 0.075): each brings the margins nearest to p everywhere. */
  function marginDistance(votes, y) {
    const n = y.length, T = votes.length, words = Math.ceil(n / 32);
    const bits = votes.map((row) => {
      const packed = new Int32Array(words);
      for (let i = 0; i < n; i++) if (row[i] === y[i]) packed[i >> 5] |= 1 << (i & 31);
      return packed;
    });
    const ones32 = (v) => {
      v -= (v >>> 1) & 0x55555555;
      v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
      return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    };
    const product = (a, b) => {
      let differing = 0;
      for (let w = 0; w < words; w++) differing += ones32(a[w] ^ b[w]);
      return n - 2 * differing;
    };
    const right = bits.map((row) => row.reduce((sum, word) => sum + ones32(word), 0));
    const sums = new Float64Array(T), used = new Uint8Array(T), order = [];
    while (order.length < T) {
      let best = -1, least = Infinity;
      for (let k = 0; k < T; k++) {
        if (used[k]) continue;
        // Whole numbers, so that equal distances are ties, and the earlier member wins them.
        const value = 1000 * (2 * sums[k] + n) - 2 * T * P_TENTHS_OF_PERCENT * (2 * right[k] - n);
        if (value < least) [best, least] = [k, value];
      }
      used[best] = 1;
      order.push(best);
      for (let k = 0; k < T; k++) if (!used[k]) sums[k] += product(bits[k], bits[best]);
    }
    return order;
  }

  /** The share of wrong samples with the first 1, 2, ... members; the lower class wins ties. */
  function errorCurve(votes, y, order, memberWeights) {
    const sums = new Float64Array(y.length);
    return order.map((t) => {
      const row = votes[t], weight = memberWeights[t];
      let wrong = 0;
      for (let i = 0; i < sums.length; i++) {
        sums[i] += row[i] ? weight : -weight;
        if ((sums[i] > 0 ? 1 : 0) !== y[i]) wrong++;
      }
      return wrong / y.length;
    });
  }

  /** For each sample, the share of the votes for its class minus that of the votes against it. */
  function margins(votes, y, order, memberWeights) {
    const sums = new Float64Array(y.length);
    let total = 0;
    for (const t of order) {
      const row = votes[t], weight = memberWeights[t];
      total += weight;
      for (let i = 0; i < sums.length; i++) sums[i] += row[i] === y[i] ? weight : -weight;
    }
    return sums.map((sum) => sum / total);
  }

  /** The share of the votes for class 1 in each cell of the maps. */
  function shares(maps, order, memberWeights) {
    const sums = new Float64Array(maps[0].length);
    let total = 0;
    for (const t of order) {
      const map = maps[t], weight = memberWeights[t];
      total += weight;
      for (let i = 0; i < sums.length; i++) if (map[i]) sums[i] += weight;
    }
    return sums.map((sum) => sum / total);
  }

  const N_TEST = 1000, N_COLUMNS = 90;

  /** Everything that the page shows, from its settings. */
  function run(settings) {
    const { problem, samples, noise, seed } = settings;
    const data = sample(problem, samples, noise, seed, 0), test = sample(problem, N_TEST, 0, seed, 2);
    const model = train(data, settings), { trees, memberWeights } = model;
    const votes = trees.map((tree) => predictTree(tree, data.X, data.n));
    const testVotes = trees.map((tree) => predictTree(tree, test.X, test.n));
    const trained = trees.map((_, t) => t), ordered = marginDistance(votes, data.y);
    const curve = (these, y, order) => errorCurve(these, y, order, memberWeights);
    const grid = gridOf(problem, N_COLUMNS);
    return {
      ...model, data, test, votes, testVotes, grid,
      orders: { trained, ordered },
      curves: {
        trained: { train: curve(votes, data.y, trained), test: curve(testVotes, test.y, trained) },
        ordered: { train: curve(votes, data.y, ordered), test: curve(testVotes, test.y, ordered) },
      },
      maps: trees.map((tree) => mapTree(tree, grid)),
    };
  }

  return {
    PROBLEMS, METHODS, N_TEST, branch, sample, growTree, predictTree, mapTree, gridOf, bootstrap, train,
    marginDistance, errorCurve, margins, shares, run,
  };
})();
if (typeof module !== "undefined") module.exports = Ensembles;
