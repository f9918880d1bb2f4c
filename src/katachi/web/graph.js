// The chances of a game, turn by turn: Black's share as an area, the score as a thin line, mistakes as dots.
const W = 600, H = 150;

export default {
  template: `
  <svg class="kg" :viewBox="'0 -6 600 162'" role="img" :aria-label="label" data-testid="graph" @click="onClick"
       @pointermove="hover = turnAt($event)" @pointerleave="hover = null">
    <rect x="0" y="0" width="600" height="150" class="kg-ground"/>
    <path :d="area" class="kg-area"/>
    <path d="M0 75H600" class="kg-middle"/>
    <path :d="line(leadHeights)" class="kg-lead"/>
    <path :d="line(winHeights)" class="kg-wins"/>
    <circle v-for="m in mistakes" :key="m" :cx="x(m)" :cy="winHeights[m]" r="4.5" class="kg-mistake"/>
    <path v-if="here !== null" :d="'M' + x(here) + ' -6V156'" class="kg-here"/>
    <path v-if="hover !== null" :d="'M' + x(hover) + ' 0V150'" class="kg-hover"/>
    <text v-if="hover !== null" :x="hover > wins.length / 2 ? x(hover) - 8 : x(hover) + 8" y="14" class="kg-text"
          :text-anchor="hover > wins.length / 2 ? 'end' : 'start'">{{ notes[hover] }}</text>
  </svg>`,
  props: { wins: Array, leads: Array, mistakes: Array, here: Number, turns: Number, notes: Array, label: String },
  data: () => ({ hover: null }),
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
  methods: {
    x(turn) { return (turn * W) / Math.max(1, this.turns - 1); },
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
      return turn >= 0 && turn < this.wins.length ? turn : null;
    },
    onClick(event) {
      const turn = this.turnAt(event);
      if (turn !== null) this.$emit("turn", turn);
    },
  },
};
