// <mtp-stepper>: one round of verification, forward and back, with everything that decides it within reach.
import { button, choice, enliven, field, handle, html, innerWidth, number, onWidth, range, svg } from "./dom.js";
import { RULES, SCENARIOS, fullRows, lastRow, scenario, trace } from "./round-logic.js";
import { argmax, leftOver, normalised, passes } from "./rules.js";
import { CANDIDATES, STATE, candidates, cellWidth, outcome } from "./stepper-drawing.js";
import { address, fromAddress } from "./stepper-link.js";
import { why, words } from "./stepper-words.js";

// Random numbers of the first round, the same for every reader.
const UNIFORM = [0.42, 0.17, 0.73, 0.58, 0.64, 0.31];
const DRAW = 0.35;
const PAUSE = 1600;

class RoundStepper extends HTMLElement {
  connectedCallback() {
    if (this.model) return;
    this.spec = JSON.parse(this.dataset.spec);
    this.count = this.spec.tokens.length;
    this.model = fromAddress(this.count) ?? this.initial();
    this.build();
    this.show();
  }

  disconnectedCallback() {
    this.pause();
  }

  initial() {
    const { budget, ratio, p, q } = this.spec;
    return { rule: "threshold", budget: Math.min(budget, this.count), ratio, p: [...p], q: [...q], u: [...UNIFORM.slice(0, this.count), DRAW], step: 0 };
  }

  // The round as the rules see it: rows over the vocabulary, tokens as their places in it.
  round() {
    const { vocabulary, tokens, kv_length } = this.spec;
    const { rule, budget, ratio, p, q, u } = this.model;
    const places = tokens.map((token) => vocabulary.indexOf(token));
    const size = vocabulary.length;
    return {
      rule,
      budget,
      ratio,
      kv_length,
      tokens: places,
      p: [...fullRows(places, p, size, true), lastRow(size)],
      q: fullRows(places, q, size, false),
      tests: u.slice(0, -1),
      draw: u[u.length - 1],
      // For showing it: what was said of each candidate, and what tokens are called.
      entries: { p, q },
      labels: tokens,
      name: (place) => vocabulary[place],
    };
  }

  build() {
    this.controls = this.buildControls();
    this.figures = [
      svg("svg", { height: CANDIDATES.height, role: "group", "aria-label": words.label }),
      svg("svg", { height: STATE.height, "aria-hidden": "true" }),
    ];
    this.layers = this.figures.map((figure) => figure.appendChild(svg("g")));
    this.mark = this.figures[1].appendChild(svg("rect", { class: "live-mark", x: -1.5, y: 84, width: 3, height: 26, rx: 1.5 }));
    this.handles = ["q", "p"].map((key) => this.model[key].map((_, place) => handle(words[key](place), (value) => this.set(key, place, value))));
    this.figures[0].append(...this.handles.flat().map(({ element }) => element));
    this.sentence = html("p", { class: "live-why", role: "status" });
    this.rows = html("div", { class: "live-rows" });
    this.note = html("span", { class: "live-note", role: "status" });
    const sharing = html("div", { class: "live-bar" }, button(words.copy, () => this.copy()), this.note);
    const drawings = [this.figures[0], this.buildFields(), this.figures[1]];
    this.box = enliven(this, this.controls.element, ...drawings, this.sentence, this.buildSteps(), this.rows, sharing);
    onWidth(this.box, () => this.show());
  }

  buildControls() {
    const named = (names, labels) => names.map((name) => [name, labels[name]]);
    const change = (changes) => this.change({ ...changes, step: 0 });
    const rule = choice(words.rule, named(RULES, words.rules), (value) => change({ rule: value }));
    const play = (name) => {
      if (name === "page") change({ p: [...this.spec.p], q: [...this.spec.q], budget: this.spec.budget, ratio: this.spec.ratio });
      else if (name !== "own") change({ ...scenario(name, this.count), budget: this.count });
    };
    const scene = choice(words.scenario, named(["page", ...SCENARIOS, "own"], words.scenarios), play);
    const limits = { min: 1, max: this.count, step: 1 };
    const budget = range(words.budget, limits, (value) => this.change({ budget: value }), String);
    const ratio = range(words.ratio, { min: 0.05, max: 1, step: 0.05 }, (value) => this.change({ ratio: value }));
    const element = html("div", { class: "live-bar" }, rule.element, scene.element, budget.element, ratio.element);
    return { element, rule, scene, budget, ratio };
  }

  buildFields() {
    const limits = { min: 0, max: 1, step: 0.01 };
    const below = { ...limits, max: 0.9999 };
    const places = this.spec.tokens.map((_, place) => place);
    this.fields = {
      q: places.map((place) => field(words.q(place), limits, (value) => this.set("q", place, value), "q")),
      p: places.map((place) => field(words.p(place), limits, (value) => this.set("p", place, value), "p")),
      u: places.map((place) => field(words.u(place), below, (value) => this.set("u", place, value), "u")),
    };
    this.draw = field(words.draw, below, (value) => this.set("u", this.count, value));
    const anew = () => Math.floor(Math.random() * 1000) / 1000;
    const again = button(words.again, () => this.change({ u: this.model.u.map(anew) }));
    const columns = places.map((place) => html("div", {}, ["q", "p", "u"].map((key) => this.fields[key][place].element)));
    this.chance = html("div", { class: "live-bar" }, again, this.draw.element);
    return [html("div", { class: "live-columns" }, columns), this.chance];
  }

  buildSteps() {
    const go = (step) => () => {
      this.pause();
      this.change({ step });
    };
    const move = (by) => () => go(this.model.step + by)();
    const { first, back, forward, play, reset } = words.steps;
    this.buttons = {
      first: button(`|◀ ${first}`, go(0)),
      back: button(`◀ ${back}`, move(-1)),
      forward: button(`${forward} ▶`, move(1), { class: "primary" }),
    };
    this.playing = button(play, () => (this.timer ? this.pause() : this.play()));
    this.counter = html("span", { class: "live-count" });
    const again = button(reset, () => {
      this.pause();
      this.change(this.initial());
    });
    return html("div", { class: "live-bar live-steps" }, Object.values(this.buttons), this.playing, again, this.counter);
  }

  set(key, place, value) {
    this.change({ [key]: this.model[key].map((old, other) => (other === place ? value : old)) });
  }

  change(changes) {
    Object.assign(this.model, changes);
    this.note.textContent = "";
    this.show();
  }

  play() {
    if (this.model.step >= this.states.length - 1) this.change({ step: 0 });
    this.playing.textContent = words.steps.pause;
    this.timer = setTimeout(() => {
      this.change({ step: this.model.step + 1 });
      if (this.model.step < this.states.length - 1) this.play();
      else this.pause();
    }, PAUSE);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.playing.textContent = words.steps.play;
  }

  async copy() {
    const url = address(this.model, this.closest("section[id]")?.id ?? "");
    history.replaceState(null, "", url);
    try {
      await navigator.clipboard.writeText(url.href);
      this.note.textContent = words.copied;
    } catch {
      this.note.textContent = words.address;
    }
  }

  show() {
    const round = this.round();
    let undrawable = null;
    try {
      this.states = trace(round);
    } catch {
      // Speculative sampling refuses a candidate that q cannot have given.
      undrawable = round.tokens.findIndex((token, place) => place < round.budget && round.q[place][token] === 0);
      this.states = trace({ ...round, rule: "threshold" }).slice(0, 1);
    }
    this.model.step = Math.min(this.model.step, this.states.length - 1);
    const state = this.states[this.model.step];
    this.showDrawings(round, state);
    this.showControls(round);
    this.showRows(round, undrawable === null ? state : null);
    this.sentence.textContent = undrawable === null ? why(named(state, round), round.rule, likelyLater(round, state)) : words.why.undrawable(undrawable);
    this.sentence.classList.toggle("warn", undrawable !== null);
  }

  showDrawings(round, state) {
    const width = innerWidth(this.box);
    for (const figure of this.figures) figure.setAttribute("width", width);
    this.layers[0].replaceChildren(...candidates(width, state, round));
    this.layers[1].replaceChildren(...outcome(width, state, round));
    this.mark.style.transform = `translateX(${state.kv_length * cellWidth(width, round)}px)`;
    const column = width / this.count;
    this.handles.forEach((handles, side) =>
      handles.forEach(({ show }, place) => {
        const value = [round.entries.q, round.entries.p][side][place];
        show(value, (place + side / 2) * column + 1, CANDIDATES.top, column / 2 - 2, CANDIDATES.bars);
      }),
    );
  }

  showControls({ rule, entries, tests, draw, budget, ratio }) {
    const { controls, fields, buttons, model } = this;
    controls.rule.select.value = rule;
    controls.scene.select.value = this.scene();
    controls.budget.show(budget);
    controls.ratio.show(ratio);
    controls.ratio.element.hidden = rule !== "threshold";
    this.chance.hidden = rule !== "sampling";
    fields.q.forEach(({ show }, place) => show(entries.q[place]));
    fields.p.forEach(({ show }, place) => show(entries.p[place]));
    fields.u.forEach(({ show, element }, place) => {
      show(tests[place]);
      element.hidden = rule !== "sampling";
    });
    this.draw.show(draw);
    const last = this.states.length - 1;
    buttons.first.disabled = buttons.back.disabled = model.step === 0;
    buttons.forward.disabled = model.step === last;
    this.playing.disabled = last === 0;
    this.counter.textContent = words.count(model.step + 1, last + 1);
  }

  scene() {
    const equal = (wanted) => ["p", "q"].every((key) => wanted[key].every((value, place) => value === this.model[key][place]));
    if (equal(this.spec) && this.model.budget === this.spec.budget) return "page";
    return SCENARIOS.find((name) => equal(scenario(name, this.count))) ?? "own";
  }

  // Whole rows where a rule needs them: the place that is tested, or what the last token comes from.
  showRows(round, state) {
    this.rows.hidden = round.rule === "threshold";
    if (this.rows.hidden || !state) return this.rows.replaceChildren();
    const place = state.position ?? (state.kind === "proposal" ? 0 : (state.rejected_at ?? state.tokens.length));
    const bonus = place === state.tokens.length;
    const lines = [[words.rows.p, round.p[place]]];
    if (round.rule === "sampling") {
      const nothing = round.p[0].map(() => null);
      lines.push([words.rows.q, bonus ? nothing : round.q[place]]);
      lines.push([words.rows.rest, bonus ? nothing : residual(round.q[place], round.p[place])]);
    }
    const chosen = state.next_token ?? (round.rule === "greedy" ? argmax(round.p[place]) : round.tokens[place]);
    const cell = (value, token) => html("td", { class: token === chosen ? "chosen" : null }, value === null ? "–" : number(value));
    const tokens = round.p[0].map((_, token) => html("th", { scope: "col" }, round.name(token)));
    this.rows.replaceChildren(
      html(
        "table",
        {},
        html("caption", {}, bonus ? words.rows.bonus : words.rows.test(place)),
        html("thead", {}, html("tr", {}, html("th", { scope: "col" }, words.rows.token), tokens)),
        html("tbody", {}, lines.map(([name, row]) => html("tr", {}, html("th", { scope: "row" }, name), row.map(cell)))),
      ),
    );
  }
}

// The residual, or nulls where nothing is left: no rejection can happen there.
function residual(q, p) {
  const rest = leftOver(q, p);
  return rest === p ? p.map(() => null) : normalised(rest);
}

// A state whose tokens are named as the reader knows them.
function named(state, round) {
  const names = { ...state };
  for (const key of Object.keys(state)) if (key.endsWith("tokens") || key === "rejected_suffix") names[key] = state[key].map(round.name);
  for (const key of ["token", "best", "next_token"]) if (key in state) names[key] = round.name(state[key]);
  return names;
}

// The first candidate behind the rejection that would pass on its own, or null.
function likelyLater(round, state) {
  if (state.kind !== "test" || state.accepted) return null;
  const found = round.tokens.findIndex((token, place) => {
    if (place <= state.position || place >= round.budget) return false;
    const [q, p] = [round.q[place][token], round.p[place][token]];
    if (round.rule === "threshold") return passes(q, p, round.ratio);
    return round.rule === "greedy" ? argmax(round.p[place]) === token : round.tests[place] < p / q;
  });
  return found < 0 ? null : found;
}

customElements.define("mtp-stepper", RoundStepper);
