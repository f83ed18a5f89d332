// <mtp-explorer>: the cost model of a round, with its numbers within reach and what was measured laid over it.
import { button, enliven, field, handle, html, innerWidth, number, onWidth, range, svg } from "./dom.js";
import { BARS, PLOT, amounts, gains, survivalBars } from "./explorer-drawing.js";
import { words } from "./explorer-words.js";
import { bestK, curves, iidSurvival, withValue } from "./speedup-logic.js";

// From this width on the two plots stand side by side.
const WIDE = 560;

class SpeedupExplorer extends HTMLElement {
  connectedCallback() {
    if (this.model) return;
    this.spec = JSON.parse(this.dataset.spec);
    this.model = this.initial();
    this.build();
    this.show();
  }

  initial() {
    const { survival, draft, verify } = this.spec;
    return { survival: [...survival], draft, verify, k: bestK(survival, draft, verify) };
  }

  build() {
    const places = this.spec.survival.map((_, place) => place);
    const set = (place) => (value) => this.change({ survival: withValue(this.model.survival, place, value) });
    this.bars = svg("svg", { height: BARS.height, role: "group", "aria-label": words.label });
    this.layer = this.bars.appendChild(svg("g"));
    this.handles = places.map((place) => handle(words.survival(place), set(place)));
    this.bars.append(...this.handles.map(({ element }) => element));
    this.fields = places.map((place) => field(words.survival(place), { min: 0, max: 1, step: 0.01 }, set(place), ""));
    this.plots = [0, 1].map(() => svg("svg", { height: PLOT.height, role: "img" }));
    this.sentence = html("p", { class: "live-why plain", role: "status" });
    this.points = this.spec.measured.map(() => html("li"));
    const columns = html("div", { class: "live-columns tight" }, this.fields.map(({ element }) => html("div", {}, element)));
    const measured = this.points.length ? html("ul", {}, this.points) : null;
    this.box = enliven(this, this.buildControls(), this.bars, columns, html("div", { class: "live-plots" }, this.plots), this.sentence, measured);
    onWidth(this.box, () => this.show());
  }

  buildControls() {
    const costs = (key, max) => range(words[key], { min: 0, max, step: 0.01 }, (value) => this.change({ [key]: value }));
    this.costs = { draft: costs("draft", 1), verify: costs("verify", 0.5) };
    const fill = (value) => this.change({ survival: iidSurvival(value, this.model.survival.length) });
    this.rate = range(words.rate, { min: 0, max: 1, step: 0.01 }, fill);
    this.k = range(words.k, { min: 0, max: this.model.survival.length, step: 1 }, (value) => this.change({ k: value }), String);
    const reset = button(words.reset, () => this.change(this.initial()));
    return html("div", { class: "live-bar" }, this.k.element, this.costs.draft.element, this.costs.verify.element, this.rate.element, reset);
  }

  change(changes) {
    Object.assign(this.model, changes);
    this.show();
  }

  show() {
    const { survival, draft, verify, k } = this.model;
    const points = curves(survival, draft, verify);
    const best = bestK(survival, draft, verify);
    this.showBars(survival);
    this.showPlots(points, best);
    for (const key of ["draft", "verify"]) this.costs[key].show(this.model[key]);
    this.rate.show(survival[0]);
    this.k.show(k);
    const slow = points.filter(({ speedup }) => speedup < 1).map((point) => point.k);
    const verdict = best ? words.best(points[best]) + (slow.length ? words.slow(slow) : "") : words.none;
    this.sentence.textContent = words.at(points[k]) + verdict;
    this.spec.measured.forEach((point, place) => {
      const predicted = points[point.k];
      this.points[place].textContent = words.points(point, predicted ? number(predicted.speedup) : "–");
    });
  }

  showBars(survival) {
    const width = innerWidth(this.box);
    const column = width / survival.length;
    this.bars.setAttribute("width", width);
    this.layer.replaceChildren(...survivalBars(width, survival));
    survival.forEach((value, place) => {
      this.handles[place].show(value, place * column + 1, BARS.top, column - 2, BARS.bars);
      this.fields[place].show(value);
    });
  }

  showPlots(points, best) {
    const all = innerWidth(this.box);
    const width = all < WIDE ? all : Math.floor((all - 22) / 2);
    for (const plot of this.plots) plot.setAttribute("width", width);
    this.plots[0].replaceChildren(...amounts(width, points, this.model.k));
    this.plots[1].replaceChildren(...gains(width, points, this.model.k, best, this.spec.measured));
    this.plots[0].setAttribute("aria-label", Object.values(words.amounts).join(" / "));
    this.plots[1].setAttribute("aria-label", `${words.speedup} — ${words.read(points)}`);
  }
}

customElements.define("mtp-explorer", SpeedupExplorer);
