// The board as an SVG. It draws what it is given, shows where a stone would go, and reports what was clicked.
// A stone that comes while one looks is set down, and clicks, if that is wanted.
// Nothing that it is given is ever read as markup: Vue sets attributes and text alone.

const CELL = 40;
const LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";
const SMALL = 26; // pixels: where points are nearer to each other, a finger has to tap twice
const KEYS = {
  ArrowLeft: "back", ArrowRight: "forward", ArrowUp: "previous", ArrowDown: "next",
  Home: "first", End: "last", PageUp: "back10", PageDown: "forward10",
  p: "pass", u: "undo", r: "redo", n: "numbers", e: "edit", h: "hint", t: "estimate", m: "mistake", b: "mistake-back",
};
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// A short knock of wood, made here: no file is loaded.
let audio = null;
function click() {
  audio ??= new AudioContext();
  const length = 0.06 * audio.sampleRate;
  const knock = audio.createBuffer(1, length, audio.sampleRate);
  const samples = knock.getChannelData(0);
  for (let i = 0; i < length; i++) samples[i] = (Math.random() * 2 - 1) * Math.exp((-28 * i) / length);
  const source = audio.createBufferSource(), filter = audio.createBiquadFilter();
  source.buffer = knock;
  filter.type = "bandpass";
  filter.frequency.value = 1500;
  source.connect(filter).connect(audio.destination);
  source.start();
}

export default {
  template: `
  <div class="kb-frame">
    <svg class="kb" :viewBox="box" role="img" :aria-label="spoken" data-testid="board"
         @pointermove="onMove" @pointerleave="onLeave" @click="onClick">
      <defs>
        <linearGradient id="kb-wood" x1="0" y1="0" x2="1" y2="1">
          <stop offset="0" stop-color="#ecc98a"/><stop offset="0.55" stop-color="#e3ba74"/>
          <stop offset="1" stop-color="#d9ac62"/>
        </linearGradient>
      </defs>
      <rect :x="-edge" :y="-edge" :width="full" :height="full" rx="10" fill="url(#kb-wood)"/>
      <path :d="grid" class="kb-line"/>
      <path :d="border" class="kb-border"/>
      <circle v-for="p in stars" :key="'s' + p" :cx="x(p)" :cy="y(p)" r="3.6" class="kb-star"/>
      <g v-if="coordinates" class="kb-coordinates" :font-size="fontSize">
        <template v-for="i in size" :key="i">
          <text v-for="at in sides" :key="'c' + at" :x="(i - 1) * 40" :y="at + fontSize * 0.36">{{ letters[i - 1] }}</text>
          <text v-for="at in sides" :key="'r' + at" :x="at" :y="(i - 1) * 40 + fontSize * 0.36">{{ size - i + 1 }}</text>
        </template>
      </g>
      <g v-for="h in under" :key="'u' + h.point">
        <rect :x="x(h.point) - 20" :y="y(h.point) - 20" width="40" height="40" :fill="h.color"
              :opacity="h.opacity" :data-heat="h.point"/>
      </g>
      <g v-for="s in shown" :key="'p' + s.point" :opacity="s.dead ? 0.42 : 1" :data-stone="s.point" :data-color="s.color"
         :class="motion && fresh.includes(s.point) ? 'kb-fresh' : ''" :style="{ transformOrigin: x(s.point) + 'px ' + y(s.point) + 'px' }">
        <circle :cx="x(s.point) + 1.6" :cy="y(s.point) + 2.6" r="18.6" fill="#2a1c06" opacity="0.28"/>
        <circle :cx="x(s.point)" :cy="y(s.point)" r="18.8" :fill="'url(#kb-' + s.color + ')'"/>
      </g>
      <g v-for="h in over" :key="'o' + h.point" :data-heat="h.point">
        <circle v-if="h.round" :cx="x(h.point)" :cy="y(h.point)" :r="h.radius" :fill="h.color" :opacity="h.opacity"/>
        <rect v-else-if="h.color" :x="x(h.point) - h.half" :y="y(h.point) - h.half" :width="2 * h.half"
              :height="2 * h.half" rx="1.5" :fill="h.color" :opacity="h.opacity"/>
        <text v-if="h.text" :x="x(h.point)" :y="y(h.point) + 4.5" class="kb-number" :fill="h.ink">{{ h.text }}</text>
      </g>
      <g v-for="(color, point) in ghosts" :key="'g' + point" :data-ghost="point">
        <circle :cx="x(+point)" :cy="y(+point)" r="18.2" :fill="'url(#kb-' + color + ')'" opacity="0.55"/>
        <circle :cx="x(+point)" :cy="y(+point)" r="18.2" class="kb-better"/>
      </g>
      <g v-for="m in marked" :key="'m' + m.point" :stroke="m.ink" class="kb-mark" :data-mark="m.kind">
        <rect v-if="m.kind === 'black' || m.kind === 'white'" :x="x(m.point) - 6.5" :y="y(m.point) - 6.5" width="13"
              height="13" rx="2" :fill="m.kind === 'black' ? '#16161a' : '#fbfaf5'" stroke="none" opacity="0.9"/>
        <path v-else :d="m.path" fill="none"/>
      </g>
      <text v-for="(text, point) in labels" :key="'l' + point" :x="x(+point)" :y="y(+point) + (text.length > 2 ? 5 : 6)"
            :class="['kb-label', text.length > 2 ? 'kb-long' : '', stone(+point) ? '' : 'kb-onboard']"
            :fill="ink(+point)" :data-label="point">{{ text }}</text>
      <circle v-if="last !== null && last >= 0 && !labels[last]" :cx="x(last)" :cy="y(last)" r="8.5" fill="none"
              :stroke="ink(last)" stroke-width="2.6" data-testid="last-move"/>
      <circle v-if="ghostPoint !== null && ghost" :cx="x(ghostPoint)" :cy="y(ghostPoint)" r="18.8"
              :fill="'url(#kb-' + ghost + ')'" :opacity="pending === null ? 0.5 : 0.92" data-testid="ghost"/>
      <circle v-if="cursor !== null" :cx="x(cursor)" :cy="y(cursor)" r="20" class="kb-cursor"/>
    </svg>
    <div v-if="note" class="kb-note" :style="noteStyle" data-testid="hover-note">{{ note }}</div>
    <span class="kb-spoken" aria-live="polite">{{ spoken }}</span>
  </div>`,
  props: {
    size: Number, stones: String, last: Number, ghost: String, labels: Object, marks: Object, under: Array,
    over: Array, ghosts: Object, dead: Array, stars: Array, notes: Object, coordinates: Boolean, sound: Boolean,
    motion: Boolean, description: String, keys: Boolean,
  },
  data: () => ({ hover: null, pending: null, cursor: null, fresh: [], letters: LETTERS }),
  computed: {
    fontSize() { return 5 + 0.5 * this.size; }, // so that it looks the same on all boards
    edge() { return this.coordinates ? 26 + 2 * this.fontSize : 30; },
    sides() { return [-20 - this.fontSize, (this.size - 1) * CELL + 20 + this.fontSize]; },
    full() { return (this.size - 1) * CELL + 2 * this.edge; },
    box() { return `${-this.edge} ${-this.edge} ${this.full} ${this.full}`; },
    grid() {
      const span = (this.size - 1) * CELL;
      let path = "";
      for (let i = 0; i < this.size; i++) path += `M0 ${i * CELL}h${span}M${i * CELL} 0v${span}`;
      return path;
    },
    border() {
      const span = (this.size - 1) * CELL;
      return `M0 0h${span}v${span}h${-span}z`;
    },
    shown() {
      const dead = new Set(this.dead);
      return [...this.stones].map((s, point) => ({ point, color: { X: "black", O: "white" }[s], dead: dead.has(point) }))
        .filter((s) => s.color);
    },
    marked() {
      return Object.entries(this.marks).map(([p, kind]) => {
        const point = +p, x = this.x(point), y = this.y(point);
        const path = {
          triangle: `M${x} ${y - 10}l9 15h-18z`, square: `M${x - 8} ${y - 8}h16v16h-16z`,
          circle: `M${x - 9} ${y}a9 9 0 1 0 18 0a9 9 0 1 0 -18 0`, cross: `M${x - 8} ${y - 8}l16 16m0 -16l-16 16`,
        }[kind];
        return { point, kind, path, ink: this.ink(point) };
      });
    },
    ghostPoint() {
      const point = this.pending ?? this.hover;
      return point === null || this.stone(point) ? null : point;
    },
    note() {
      const point = this.hover ?? this.cursor;
      return point === null ? "" : this.notes[point] || "";
    },
    noteStyle() {
      const point = this.hover ?? this.cursor ?? 0;
      const share = (c) => (100 * (c + this.edge)) / this.full;
      const above = point >= 2 * this.size;
      const left = Math.min(84, Math.max(16, share(this.x(point))));
      return {
        left: `${left}%`, top: `${share(this.y(point) + (above ? -26 : 26))}%`,
        transform: `translate(-50%, ${above ? "-100%" : "0"})`,
      };
    },
    spoken() {
      if (this.cursor === null) return this.description;
      const stone = { X: "black", O: "white" }[this.stones[this.cursor]] || "empty";
      return `${this.vertex(this.cursor)}: ${stone}`;
    },
  },
  watch: {
    stones(now, before) {
      this.pending = null;
      const added = [...now].flatMap((s, point) => (s !== "." && before[point] === "." ? [point] : []));
      this.fresh = now.length === before.length && added.length <= 2 ? added : [];
      if (this.sound && this.fresh.length) click();
    },
    size() { this.cursor = this.hover = this.pending = null; },
  },
  mounted() { window.addEventListener("keydown", this.onKey); },
  unmounted() { window.removeEventListener("keydown", this.onKey); },
  methods: {
    x(point) { return (point % this.size) * CELL; },
    y(point) { return Math.floor(point / this.size) * CELL; },
    stone(point) { return this.stones[point] !== "."; },
    ink(point) { return this.stones[point] === "X" ? "#fafafa" : "#16161a"; },
    vertex(point) { return `${LETTERS[point % this.size]}${this.size - Math.floor(point / this.size)}`; },
    pointAt(event) {
      const area = this.$el.querySelector("svg").getBoundingClientRect();
      const unit = this.full / area.width;
      const column = Math.round(((event.clientX - area.left) * unit - this.edge) / CELL);
      const row = Math.round(((event.clientY - area.top) * unit - this.edge) / CELL);
      const inside = column >= 0 && row >= 0 && column < this.size && row < this.size;
      return inside ? row * this.size + column : null;
    },
    onMove(event) {
      if (event.pointerType !== "touch") this.hover = this.pointAt(event);
    },
    onLeave(event) {
      if (event.pointerType !== "touch") this.hover = null; // a finger leaves after every tap
    },
    onClick(event) {
      const point = this.pointAt(event);
      if (point === null) return;
      const width = this.$el.querySelector("svg").getBoundingClientRect().width;
      const isSmall = (width * CELL) / this.full < SMALL;
      if (event.pointerType === "touch" && isSmall && this.hover !== point) {
        this.hover = point; // the second tap plays there
        return;
      }
      this.choose(point);
    },
    choose(point) {
      if (this.ghost && !this.stone(point)) {
        this.pending = point;
        setTimeout(() => { this.pending = null; }, 800);
      }
      this.$emit("point", point);
      if (matchMedia("(hover: none)").matches) this.hover = null;
    },
    onKey(event) {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const isCursor = event.shiftKey || event.key === "Enter" || event.key === "Escape";
      if (!this.keys && !isCursor) return; // where there is no record, the arrows scroll the page
      if (event.target.closest("input, textarea, [role=listbox], [role=dialog], [role=slider], [contenteditable]")) return;
      if (event.shiftKey && STEPS[event.key]) {
        const [dx, dy] = STEPS[event.key], n = this.size, from = this.cursor ?? Math.floor((n * n) / 2);
        const column = Math.min(n - 1, Math.max(0, (from % n) + dx));
        const row = Math.min(n - 1, Math.max(0, Math.floor(from / n) + dy));
        this.cursor = row * n + column;
      } else if (event.key === "Enter" && this.cursor !== null && !event.target.closest("button, a")) {
        this.choose(this.cursor);
      } else if (event.key === "Escape") {
        this.cursor = null;
        this.$emit("command", "leave");
      } else if (!event.shiftKey && KEYS[event.key]) {
        this.$emit("command", KEYS[event.key]);
      } else {
        return;
      }
      event.preventDefault();
    },
  },
};
