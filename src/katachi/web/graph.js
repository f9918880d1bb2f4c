// The chances of a game, turn by turn: Black's share as an area, the score as a thin line, mistakes as dots.
// It is as wide as its place; a click or a drag goes to a turn.
const H = 84;

export default {
  template: `
  <svg class="kg" :viewBox="'0 -6 ' + width + ' 96'" role="slider" tabindex="0" :aria-label="label" aria-valuemin="0"
       :aria-valuemax="turns - 1" :aria-valuenow="here ?? 0" :aria-valuetext="notes[here ?? 0] || ''" data-testid="graph"
       @pointerdown="onDown" @pointermove="onMove" @pointerleave="hover = null" @keydown="onKey">
    <rect x="0" y="0" :width="width" :height="${H}" rx="6" class="kg-ground"/>
    <path :d="area" class="kg-area"/>
    <path :d="'M0 ${H / 2}H' + width" class="kg-middle"/>
    <path :d="line(leadHeights)" class="kg-lead"/>
    <path :d="line(winHeights)" class="kg-wins"/>
    <circle v-for="m in mistakes" :key="m" :cx="x(m)" :cy="winHeights[m]" r="4.5" class="kg-mistake"/>
    <path v-if="here !== null" :d="'M' + x(here) + ' -6V90'" class="kg-here"/>
    <path v-if="hover !== null" :d="'M' + x(hover) + ' 0V${H}'" class="kg-hover"/>
    <text v-if="hover !== null" :x="hover > turns / 2 ? x(hover) - 8 : x(hover) + 8" y="13" class="kg-text"
          :text-anchor="hover > turns / 2 ? 'end' : 'start'">{{ notes[hover] }}</text>
    <text v-else x="6" y="13" class="kg-legend"><tspan class="kg-legend-wins">{{ legend[0] }}</tspan>
      <tspan dx="8" class="kg-legend-lead">{{ legend[1] }}</tspan></text>
  </svg>`,
  props: { wins: Array, leads: Array, mistakes: Array, here: Number, turns: Number, notes: Array, label: String, legend: Array },
  data: () => ({ hover: null, width: 600, sent: null }),
  computed: {
    winHeights() { return this.wins.map((w) => (w === null ? null : H * (1 - w))); },
    leadHeights() {
      const most = Math.max(5, ...this.leads.map((l) => Math.abs(l ?? 0)));
      return this.leads.map((l) => (l === null ? null : (H / 2) * (1 - l / most)));
    },
    area() {
      const line = this.line(this.winHeights);
      return line ? `${line}L${this.x(this.wins.length - 1)} ${H}L0 ${H}Z` : "";
    },
  },
  watch: { here() { this.sent = null; } },
  mounted() {
    this.observer = new ResizeObserver(([entry]) => { this.width = entry.contentRect.width || this.width; });
    this.observer.observe(this.$el);
  },
  unmounted() { this.observer.disconnect(); },
  methods: {
    x(turn) { return 3 + (turn * (this.width - 6)) / Math.max(1, this.turns - 1); },
    line(heights) {
      let path = "", pen = "M";
      heights.forEach((h, turn) => {
        if (h !== null) path += `${pen}${this.x(turn).toFixed(1)} ${h.toFixed(1)}`;
        pen = h === null ? "M" : "L";
      });
      return path;
    },
    turnAt(event) {
      const area = this.$el.getBoundingClientRect();
      const turn = Math.round(((event.clientX - area.left) / area.width) * (this.turns - 1));
      return Math.min(this.wins.length - 1, Math.max(0, turn));
    },
    go(turn) {
      if (turn === this.sent || turn < 0 || turn >= this.wins.length) return;
      this.sent = turn;
      this.$emit("turn", turn);
    },
    onDown(event) {
      this.$el.setPointerCapture(event.pointerId);
      this.go(this.turnAt(event));
    },
    onMove(event) {
      this.hover = this.wins.length ? this.turnAt(event) : null;
      if (event.buttons) this.go(this.hover);
    },
    onKey(event) {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      this.go((this.here ?? 0) + step);
      event.preventDefault();
      event.stopPropagation();
    },
  },
};
