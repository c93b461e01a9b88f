"use strict";
// The form of the service's page. All texts of the model go through textContent, never as markup.
const model = JSON.parse(document.getElementById("model").textContent);
const form = document.getElementById("row");
const fields = document.getElementById("fields");
const result = document.getElementById("result");
const many = 60;

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties || {});
  made.append(...children);
  return made;
}

function textOf(cell) {
  return cell === null || cell === undefined ? "" : String(cell);
}

function makeInput(column, id) {
  if (column.kind === "category" && column.categories.length <= many) {
    const choice = element("select", { id });
    choice.append(element("option", { value: "", textContent: "(missing)" }));
    column.categories.forEach((category, place) => {
      choice.append(element("option", { value: String(place), textContent: textOf(category) }));
    });
    choice.value = String(column.categories.indexOf(column.example));
    return choice;
  }
  const input = element("input", { id, type: "text", autocomplete: "off" });
  input.value = textOf(column.example);
  if (column.kind === "number") input.inputMode = "decimal";
  if (column.kind === "date") input.placeholder = column.written;
  else input.placeholder = "missing";
  return input;
}

function cellOf(column, input) {
  const text = input.value.trim();
  if (text === "") return null;
  if (input.tagName === "SELECT") return column.categories[Number(text)];
  if (column.kind === "number") {
    const number = Number(text.replace(",", "."));
    if (!Number.isFinite(number)) {
      throw { column: column.name, message: column.name + ": " + text + " is no number." };
    }
    return number;
  }
  if (column.kind === "category") {
    const found = column.categories.find((category) => String(category) === text);
    return found === undefined ? text : found;
  }
  if (column.kind === "any" && Number.isFinite(Number(text))) return Number(text);
  return text;
}

const inputs = model.columns.map((column, place) => {
  const id = "column-" + place;
  const input = makeInput(column, id);
  fields.append(element("div", {}, element("label", { htmlFor: id, textContent: column.name }), input));
  return input;
});

function showError(message, name) {
  result.replaceChildren(element("p", { className: "error", textContent: message }));
  const place = model.columns.findIndex((column) => column.name === name);
  if (place >= 0) {
    inputs[place].setAttribute("aria-invalid", "true");
    inputs[place].focus();
  }
}

function shareLine(label, share) {
  const percent = (100 * share).toFixed(1) + "%";
  return element("div", { className: "share" },
    element("span", { textContent: textOf(label) }),
    element("span", { className: "number", textContent: percent }),
    element("progress", { max: 1, value: share, ariaLabel: textOf(label) }));
}

function showAnswer(answer) {
  const prediction = answer.predictions[0];
  const shown = typeof prediction === "number" && !Number.isInteger(prediction)
    ? String(Number(prediction.toPrecision(6))) : textOf(prediction);
  const parts = [
    element("div", { className: "muted", textContent: model.target || "Prediction" }),
    element("div", { className: "answer", textContent: shown }),
  ];
  if (answer.probabilities) {
    const shares = answer.probabilities[0].map((share, place) => [share, answer.classes[place]]);
    shares.sort((one, other) => other[0] - one[0]);
    shares.slice(0, 12).forEach(([share, label]) => parts.push(shareLine(label, share)));
    if (shares.length > 12) {
      parts.push(element("p", { className: "muted", textContent: (shares.length - 12) + " more." }));
    }
  }
  if (answer.n_asked) {
    parts.push(element("p", { className: "muted",
      textContent: answer.n_asked[0] + " of " + model.n_members + " members were asked." }));
  }
  result.replaceChildren(...parts);
}

async function ask(event) {
  if (event) event.preventDefault();
  const button = document.getElementById("ask");
  inputs.forEach((input) => input.removeAttribute("aria-invalid"));
  let row;
  try {
    row = Object.fromEntries(model.columns.map((column, place) => [column.name, cellOf(column, inputs[place])]));
  } catch (problem) {
    showError(problem.message, problem.column);
    return;
  }
  button.disabled = true;
  try {
    const query = model.has_probabilities && model.early_decision === null ? "?probabilities=true" : "";
    const response = await fetch("predict" + query, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ rows: [row] }),
    });
    const answer = await response.json();
    if (response.ok) showAnswer(answer);
    else showError(answer.error.message, answer.error.where && answer.error.where.column);
  } catch (problem) {
    showError("The service does not answer: " + problem.message);
  } finally {
    button.disabled = false;
  }
}

form.addEventListener("submit", ask);
document.getElementById("clear").addEventListener("click", () => {
  inputs.forEach((input) => { input.value = ""; });
  inputs[0].focus();
});
