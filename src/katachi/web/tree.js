// The moves of a record as a tree: the game along the top, variations below it. A click goes to a move.
const STEP = 26;

export default {
  template: `
  <div class="kt" data-testid="tree"><svg :width="width" :height="height" :viewBox="'-13 -13 ' + width + ' ' + height"
       role="group" :aria-label="label">
    <path v-for="(n, i) in nodes" :key="'l' + i" :d="edge(n)" class="kt-line"/>
    <g v-for="(n, i) in nodes" :key="i" :class="['kt-node', i === here ? 'kt-here' : '']" role="button" tabindex="-1"
       :aria-label="n.name" @click="$emit('node', i)" :data-node="i">
      <title>{{ n.name }}</title>
      <circle :cx="n.x * 26" :cy="n.y * 26" :r="n.color ? 10.5 : 4" :class="'kt-' + (n.color || 'none')"/>
      <text v-if="n.color" :x="n.x * 26" :y="n.y * 26 + 3.5" :class="'kt-text-' + n.color">{{ n.number }}</text>
    </g>
  </svg></div>`,
  props: { nodes: Array, here: Number, label: String },
  computed: {
    width() { return STEP * (1 + Math.max(0, ...this.nodes.map((n) => n.x))); },
    height() { return STEP * (1 + Math.max(0, ...this.nodes.map((n) => n.y))); },
  },
  watch: { here: { handler: "reveal", flush: "post" } },
  mounted() { this.reveal(); },
  methods: {
    edge(n) {
      if (n.parent === null) return "";
      const p = this.nodes[n.parent], x = n.x * STEP, y = n.y * STEP;
      return p.y === n.y ? `M${p.x * STEP} ${y}H${x}` : `M${p.x * STEP} ${p.y * STEP}V${y - STEP / 2}L${x} ${y}`;
    },
    reveal() {
      const n = this.nodes[this.here];
      if (n) this.$el.scrollTo({ left: n.x * STEP - this.$el.clientWidth / 2, top: n.y * STEP - this.$el.clientHeight / 2 });
    },
  },
};
