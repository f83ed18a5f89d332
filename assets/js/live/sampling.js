// <mtp-sampling>: thousands of rounds, and whether what they emit comes to the target's distribution.
import { button, choice, enliven, field, handle, html, innerWidth, number, onWidth, range, svg } from "./dom.js";
import { BARS, CURVE, MOST, bars, curve, zone } from "./sampling-drawing.js";
import { RULES, distance, drawTokens, exactFirstToken, ruleOf, withEntry } from "./sampling-logic.js";
import { words } from "./sampling-words.js";

const still = matchMedia("(prefers-reduced-motion: reduce)");
const LOSSLESS = ["sampling", "match"];

class SamplingDemo extends HTMLElement {
  connectedCallback() {
    if (this.model) return;
    const { p, q, ratio } = JSON.parse(this.dataset.spec);
    this.model = { rule: "sampling", ratio, p, q, speed: 1000 };
    this.build();
    this.clear();
  }

  disconnectedCallback() {
    this.pause();
  }

  build() {
    this.controls = this.buildControls();
    this.figures = [svg("svg", { height: BARS.height, role: "group", "aria-label": words.label }), svg("svg", { height: CURVE.height, "aria-hidden": "true" })];
    this.layers = this.figures.map((figure) => figure.appendChild(svg("g")));
    const tokens = this.model.p.map((_, token) => token);
    this.handles = ["q", "p"].map((key) => tokens.map((token) => handle(words[key](token), (value) => this.set(key, token, value))));
    this.figures[0].append(...this.handles.flat().map(({ element }) => element));
    const limits = { min: 0, max: 1, step: 0.01 };
    const typed = (key) => (token) => field(words[key](token), limits, (value) => this.set(key, token, value), key);
    this.fields = ["q", "p"].map((key) => tokens.map(typed(key)));
    const columns = tokens.map((token) => html("div", {}, this.fields.map((fields) => fields[token].element)));
    this.readings = Object.fromEntries(Object.keys(words.readings).map((key) => [key, html("dd")]));
    const list = html("dl", {}, Object.entries(words.readings).map(([key, label]) => html("div", {}, html("dt", {}, label), this.readings[key])));
    this.sentence = html("p", { class: "live-why plain" });
    this.state = html("p", { class: "live-hidden", role: "status" });
    const figures = [this.figures[0], html("div", { class: "live-columns" }, columns), list, this.figures[1]];
    this.box = enliven(this, this.controls.element, ...figures, this.sentence, this.state);
    onWidth(this.box, () => this.show());
  }

  buildControls() {
    const named = (names, labels) => names.map((name) => [name, labels[name]]);
    const rule = choice(words.rule, named(RULES, words.rules), (value) => this.change({ rule: value }));
    const ratio = range(words.ratio, { min: 0.05, max: 1, step: 0.05 }, (value) => this.change({ ratio: value }));
    const speed = choice(words.speed, named(Object.keys(words.speeds), words.speeds), (value) => (this.model.speed = Number(value)));
    speed.select.value = this.model.speed;
    this.running = button(words.run, () => (this.timer ? this.pause() : this.run()), { class: "primary" });
    const element = html("div", { class: "live-bar" }, rule.element, ratio.element, speed.element, this.running, button(words.reset, () => this.clear()));
    return { element, rule, ratio };
  }

  set(key, token, value) {
    this.change({ [key]: withEntry(this.model[key], token, value) });
  }

  change(changes) {
    Object.assign(this.model, changes);
    this.clear();
  }

  clear() {
    this.counts = this.model.p.map(() => 0);
    this.rounds = 0;
    this.points = [];
    this.show();
  }

  run() {
    if (this.rounds >= MOST) this.clear();
    this.running.textContent = words.pause;
    // Few and large steps where motion is not wanted.
    const pause = still.matches ? 1000 : 50;
    let owed = 0;
    this.timer = setInterval(() => {
      owed += (this.model.speed * pause) / 1000;
      this.draw(Math.floor(owed));
      owed %= 1;
      if (this.rounds >= MOST) this.pause();
    }, pause);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.running.textContent = words.run;
    if (this.rounds) this.state.textContent = words.state(this.rounds, number(this.now()));
  }

  draw(rounds) {
    const { rule, ratio, p, q } = this.model;
    const until = Math.min(this.rounds + rounds, MOST);
    while (this.rounds < until) {
      const some = Math.min(Math.ceil((this.rounds + 1) / 50), until - this.rounds);
      drawTokens(ruleOf(rule, ratio), q, p, some).forEach((count, token) => (this.counts[token] += count));
      this.rounds += some;
      // As many points as a logarithmic axis can show.
      if (this.rounds >= (this.points[this.points.length - 1]?.[0] ?? 0) * 1.02) this.points.push([this.rounds, this.now()]);
    }
    this.show();
  }

  now() {
    return distance(this.shares(), this.model.p);
  }

  shares() {
    return this.counts.map((count) => count / this.rounds);
  }

  show() {
    const { rule, ratio, p, q } = this.model;
    const width = innerWidth(this.box);
    const limit = exactFirstToken(rule, ratio, q, p);
    const away = distance(limit, p);
    for (const figure of this.figures) figure.setAttribute("width", width);
    this.layers[0].replaceChildren(...bars(width, { q, p, limit, shares: this.rounds ? this.shares() : null }));
    this.layers[1].replaceChildren(...curve(width, this.points, away));
    [q, p].forEach((row, side) =>
      row.forEach((value, token) => {
        const [x, wide] = zone(["q", "p"][side], token, p.length, width);
        this.handles[side][token].show(value, x, BARS.top, wide, BARS.bars);
        this.fields[side][token].show(value);
      }),
    );
    this.controls.ratio.show(ratio);
    this.controls.ratio.element.hidden = rule !== "threshold";
    this.readings.rounds.textContent = this.rounds;
    this.readings.now.textContent = this.rounds ? number(this.now()) : "–";
    this.readings.limit.textContent = number(away);
    const name = words.rules[rule];
    this.sentence.textContent = LOSSLESS.includes(rule) ? words.exact(name) : away < 5e-4 ? words.lucky(name) : words.lossy(name, number(away));
  }
}

customElements.define("mtp-sampling", SamplingDemo);
