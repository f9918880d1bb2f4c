// The C++ twin of katachi's playouts: the same algorithm as src/katachi/go/_kernels.py and _playouts.py, move for move.
//
// It exists to be measured against: `katachi bench playouts` compiles it with -O3 -march=native, checks that it plays
// the same games (same seed, same total score) and prints both speeds. It is written as one would write it in C++.
//
// Two codings of the points are compiled from one source:
//   Flat    point = row * size + col, neighbors from a table; what the Python kernels use;
//   Padded  a border of one point, width size + 1, neighbors by adding an offset.

#include <cstdint>
#include <cstring>

namespace {

constexpr int kMaxSize = 19;
constexpr int kMaxPoints = kMaxSize * kMaxSize;
constexpr int kPliesPerPoint = 3;
constexpr int8_t kEmpty = 0, kBlack = 1, kWhite = -1, kOffBoard = 2;

struct Flat {
    static constexpr int kSlots = kMaxPoints + 1;  // the last one is the point that lies outside
    static constexpr uint16_t kOff = kMaxPoints;
    uint16_t near[kMaxPoints][4];
    uint16_t diagonal[kMaxPoints][4];

    explicit Flat(int size) {
        static constexpr int kNear[4][2] = {{-1, 0}, {0, -1}, {0, 1}, {1, 0}};
        static constexpr int kDiagonal[4][2] = {{-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
        for (int row = 0; row < size; ++row)
            for (int col = 0; col < size; ++col)
                for (int k = 0; k < 4; ++k) {
                    near[row * size + col][k] = step(size, row + kNear[k][0], col + kNear[k][1]);
                    diagonal[row * size + col][k] = step(size, row + kDiagonal[k][0], col + kDiagonal[k][1]);
                }
    }
    static uint16_t step(int size, int row, int col) {
        return row < 0 || row >= size || col < 0 || col >= size ? kOff : uint16_t(row * size + col);
    }
    static uint16_t point(int size, int row, int col) { return uint16_t(row * size + col); }
    uint16_t neighbor(uint16_t p, int k) const { return near[p][k]; }
    uint16_t diagonal_neighbor(uint16_t p, int k) const { return diagonal[p][k]; }
};

struct Padded {
    static constexpr int kSlots = (kMaxSize + 1) * (kMaxSize + 2) + 1;
    static constexpr uint16_t kOff = 0;
    int16_t near[4];
    int16_t diagonal[4];

    explicit Padded(int size) {
        const int width = size + 1;
        const int near_steps[4] = {-width, -1, 1, width};
        const int diagonal_steps[4] = {-width - 1, -width + 1, width - 1, width + 1};
        for (int k = 0; k < 4; ++k) {
            near[k] = int16_t(near_steps[k]);
            diagonal[k] = int16_t(diagonal_steps[k]);
        }
    }
    static uint16_t point(int size, int row, int col) { return uint16_t((row + 1) * (size + 1) + col + 1); }
    uint16_t neighbor(uint16_t p, int k) const { return uint16_t(p + near[k]); }
    uint16_t diagonal_neighbor(uint16_t p, int k) const { return uint16_t(p + diagonal[k]); }
};

constexpr uint64_t next_random(uint64_t state) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^ state << 17;
}

struct Zobrist {
    uint64_t key[2][512];

    Zobrist() {
        uint64_t state = 0x6B617461;
        for (auto& side : key)
            for (auto& value : side) {
                state = next_random(state);
                value = state;
            }
    }
};
const Zobrist kZobrist;

constexpr uint64_t liberty_word(uint64_t p) { return 1 | p << 12 | (p * p) << 32; }

constexpr bool is_atari(uint64_t word) {
    const uint64_t count = word & 0xFFF, sum = word >> 12 & 0xFFFFF;
    return count * (word >> 32) == sum * sum;
}

constexpr int side(int8_t color) { return color == kBlack ? 0 : 1; }

struct Playout {
    uint64_t random;
    uint32_t plies;
    uint16_t moves[kPliesPerPoint * kMaxPoints];
};

template <typename Coding>
struct Board {
    uint64_t hash = 0;
    uint16_t size;
    uint16_t ko = Coding::kOff;
    uint16_t empty_count = 0;
    int8_t to_play = kBlack;
    int8_t stone[Coding::kSlots];
    uint32_t captured[2] = {0, 0};
    uint16_t head[Coding::kSlots] = {};
    uint16_t link[Coding::kSlots] = {};
    uint16_t stones[Coding::kSlots] = {};
    uint64_t liberties[Coding::kSlots] = {};
    uint16_t empties[kMaxPoints] = {};
    uint16_t empty_index[Coding::kSlots] = {};

    explicit Board(int n) : size(uint16_t(n)) {
        std::memset(stone, kOffBoard, sizeof stone);
        for (int row = 0; row < n; ++row)
            for (int col = 0; col < n; ++col) add_empty(Coding::point(n, row, col));
    }

    void add_empty(uint16_t p) {
        stone[p] = kEmpty;
        empty_index[p] = empty_count;
        empties[empty_count++] = p;
    }

    void remove_chain(const Coding& coding, uint16_t first) {
        const int8_t color = stone[first];
        captured[side(color)] += stones[first];
        uint16_t p = first;
        do {
            add_empty(p);
            hash ^= kZobrist.key[side(color)][p];
            const uint64_t word = liberty_word(p);
            for (int k = 0; k < 4; ++k) {
                const uint16_t q = coding.neighbor(p, k);
                if (stone[q] == -color) liberties[head[q]] += word;
            }
            p = link[p];
        } while (p != first);
    }

    void join(uint16_t first, uint16_t second) {
        if (stones[first] < stones[second]) {
            const uint16_t kept = first;
            first = second;
            second = kept;
        }
        uint16_t p = second;
        do {
            head[p] = first;
            p = link[p];
        } while (p != second);
        const uint16_t next = link[first];
        link[first] = link[second];
        link[second] = next;
        stones[first] = uint16_t(stones[first] + stones[second]);
        liberties[first] += liberties[second];
    }

    void play_stone(const Coding& coding, uint16_t p, int8_t color) {
        const uint16_t i = empty_index[p], last = empties[--empty_count];
        empties[i] = last;
        empty_index[last] = i;

        stone[p] = color;
        hash ^= kZobrist.key[side(color)][p];
        head[p] = p;
        link[p] = p;
        stones[p] = 1;
        const uint64_t word = liberty_word(p);
        uint64_t own = 0;
        for (int k = 0; k < 4; ++k) {
            const uint16_t q = coding.neighbor(p, k);
            const int8_t s = stone[q];
            if (s == kEmpty)
                own += liberty_word(q);
            else if (s != kOffBoard)
                liberties[head[q]] -= word;
        }
        liberties[p] = own;

        const uint16_t before = empty_count;
        uint16_t taken = Coding::kOff;
        for (int k = 0; k < 4; ++k) {
            const uint16_t q = coding.neighbor(p, k);
            const int8_t s = stone[q];
            if (s == color) {
                if (head[q] != head[p]) join(head[p], head[q]);
            } else if (s == -color && liberties[head[q]] == 0) {
                remove_chain(coding, head[q]);
                taken = q;
            }
        }
        ko = Coding::kOff;
        to_play = int8_t(-color);
        const uint16_t own_head = head[p];
        if (liberties[own_head] == 0)
            remove_chain(coding, own_head);
        else if (empty_count == before + 1 && stones[own_head] == 1 && liberties[own_head] == liberty_word(taken))
            ko = taken;
    }

    void play_pass(int8_t color) {
        ko = Coding::kOff;
        to_play = int8_t(-color);
    }

    bool is_legal(const Coding& coding, uint16_t p, int8_t color) const {
        if (stone[p] != kEmpty) return false;
        for (int k = 0; k < 4; ++k)
            if (stone[coding.neighbor(p, k)] == kEmpty) return true;
        if (p == ko && color == to_play) return false;
        for (int k = 0; k < 4; ++k) {
            const uint16_t q = coding.neighbor(p, k);
            const int8_t s = stone[q];
            if (s == color) {
                if (!is_atari(liberties[head[q]])) return true;
            } else if (s == -color && is_atari(liberties[head[q]])) {
                return true;
            }
        }
        return false;
    }

    bool is_own_eye(const Coding& coding, uint16_t p, int8_t color) const {
        for (int k = 0; k < 4; ++k) {
            const int8_t s = stone[coding.neighbor(p, k)];
            if (s != color && s != kOffBoard) return false;
        }
        int enemies = 0, off = 0;
        for (int k = 0; k < 4; ++k) {
            const int8_t s = stone[coding.diagonal_neighbor(p, k)];
            if (s == -color)
                ++enemies;
            else if (s == kOffBoard)
                off = 1;
        }
        return enemies + off < 2;
    }

    // Play uniformly random moves, own eyes excepted, until both sides pass.
    void play_out(const Coding& coding, Playout& playout) {
        uint64_t state = playout.random;
        int8_t color = to_play;
        int passes = 0;
        uint32_t ply = 0;
        const uint32_t cap = uint32_t(size) * size * kPliesPerPoint;
        while (passes < 2 && ply < cap) {
            uint16_t move = Coding::kOff;
            uint16_t left = empty_count;
            while (left > 0) {
                state = next_random(state);
                const uint16_t i = uint16_t((state >> 32) * left >> 32);
                const uint16_t p = empties[i];
                if (is_legal(coding, p, color) && !is_own_eye(coding, p, color)) {
                    move = p;
                    break;
                }
                const uint16_t last = empties[--left];
                empties[i] = last;
                empty_index[last] = i;
                empties[left] = p;
                empty_index[p] = left;
            }
            if (move == Coding::kOff) {
                play_pass(color);
                ++passes;
            } else {
                play_stone(coding, move, color);
                passes = 0;
            }
            playout.moves[ply++] = move;
            color = int8_t(-color);
        }
        playout.random = state;
        playout.plies = ply;
    }

    // Black's area minus White's at the end of a playout, where an empty point is an eye.
    int32_t count_area(const Coding& coding, int32_t* ownership) const {
        int32_t total = 0;
        for (int row = 0; row < size; ++row)
            for (int col = 0; col < size; ++col) {
                const uint16_t p = Coding::point(size, row, col);
                int8_t owner = stone[p];
                if (owner == kEmpty) {
                    bool black = false, white = false;
                    for (int k = 0; k < 4; ++k) {
                        const int8_t s = stone[coding.neighbor(p, k)];
                        black |= s == kBlack;
                        white |= s == kWhite;
                    }
                    owner = int8_t(black - white);
                }
                ownership[p] += owner;
                total += owner;
            }
        return total;
    }
};

uint64_t random_state(uint64_t seed) {
    uint64_t z = seed + 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return (z ^ z >> 31) | 1;
}

template <typename Coding>
struct Statistics {
    int64_t playouts = 0;
    double black_wins = 0;
    int64_t score = 0;
    int32_t ownership[Coding::kSlots] = {};
};

template <typename Coding>
int64_t run(int size, int64_t count, uint64_t seed) {
    const Coding coding(size);
    const Board<Coding> start(size);
    const double komi = 7.5;
    Playout playout;
    playout.random = random_state(seed);
    Statistics<Coding> total;
    for (int64_t n = 0; n < count; ++n) {
        Board<Coding> board = start;
        board.play_out(coding, playout);
        const int32_t score = board.count_area(coding, total.ownership);
        total.playouts += 1;
        total.score += score;
        total.black_wins += score > komi ? 1.0 : score == komi ? 0.5 : 0.0;
    }
    return total.score;
}

}  // namespace

extern "C" {

// The sum over `count` playouts from the empty board of Black's area minus White's.
int64_t katachi_playouts(int size, int64_t count, uint64_t seed) { return run<Flat>(size, count, seed); }
int64_t katachi_playouts_padded(int size, int64_t count, uint64_t seed) { return run<Padded>(size, count, seed); }
}
