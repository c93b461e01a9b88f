// Runs the page's functions under Node: requests as JSON on standard input, answers on standard output.
const Ensembles = require(process.argv[2]);
const plain = (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
const answers = {
  run: (settings) => {
    const depth = settings.depth ?? Infinity, found = Ensembles.run({ ...settings, depth });
    const all = found.orders.trained, { memberWeights } = found;
    found.margins = Ensembles.margins(found.votes, found.data.y, all, memberWeights);
    found.shares = Ensembles.shares(found.maps, all, memberWeights);
    return found;
  },
  order: ({ votes, y }) => Ensembles.marginDistance(votes, y),
  curve: ({ votes, y, order, weights }) => Ensembles.errorCurve(votes, y, order, weights),
  sample: ({ problem, n, noise, seed }) => Ensembles.sample(problem, n, noise, seed, 0),
  best: ({ problem, points }) => points.map(([x, y]) => Ensembles.PROBLEMS[problem].best(x, y)),
};
const asked = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(asked.map(([name, what]) => answers[name](what)), plain));
