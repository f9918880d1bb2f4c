// The C++ twin of katachi's fast TD learning: the same algorithm as src/katachi/learning/_shape_player.py, _td_fast.py
// and _fusing.py, game for game and bit for bit.
//
// It exists to be measured against: `katachi bench td` compiles it with -O3 -march=native, checks that it ends with the
// same weights after the same games, and prints both speeds. It is written as one would write it in C++. The tables that
// say which shapes there are and how they share weights come from Python; -ffp-contract=off keeps the last bits equal.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "playouts.cpp"  // the board

namespace {

using GoBoard = Board<Flat>;

constexpr int kCodes = 19683;
constexpr double kUnit = 1 << 20;
constexpr int kMaxWindows3 = (kMaxSize - 2) * (kMaxSize - 2);
constexpr int kMaxWindows = 2270;
constexpr int kMaxPlies = 4 * kMaxPoints;
constexpr int kMaxChanges = 2 * kMaxPlies;
constexpr int kWords = (kMaxPoints + 63) / 64;
constexpr int32_t kNoMove = std::numeric_limits<int32_t>::min();
constexpr uint16_t kPassMove = kMaxPoints;

// One level of fusing, as Python lays it out.
struct Level {
    const uint32_t* child;
    const double* child_share;
    const uint32_t* weight;
    const double* weight_share;
    double* table;
    int64_t classes, children, weights, codes;
};

}  // namespace

extern "C" {

// What Python hands over. Pointers are to arrays that live longer than the run.
struct TdTask {
    int64_t size, agents, windows3, windows, weight_count;
    uint64_t seed, explore;  // the state of the generator; epsilon · 2³²
    double komi, step_size;
    int64_t logistic;
    const int64_t* cells;         // [windows3, 9]
    const int64_t* classes;       // [windows3]
    const uint16_t* starts;       // [size² + 1]
    const uint16_t* contact;      // windows around a point
    const uint16_t* power;        // and its power of three there
    const uint8_t* sets;          // [windows]
    const uint32_t* base;         // [windows, 2]
    const double* step;           // [windows]
    const uint32_t* canonical;    // [weight_count]
    double* weights;              // [agents, weight_count]
    Level levels[3];
};
}

namespace {

uint16_t atari_point(uint64_t word) { return uint16_t((word >> 12 & 0xFFFFF) / (word & 0xFFF)); }

class ShapePlayer {
  public:
    ShapePlayer(const TdTask& task, const Flat& coding)
        : coding_(coding), points_(uint16_t(task.size * task.size)), windows_(uint16_t(task.windows3)) {
        random = task.seed;
        words_ = (points_ + 63) / 64;
        entries = task.levels[2].classes * kCodes;
        fused.resize(size_t(entries * task.agents));
        for (int w = 0; w < windows_; ++w) {
            class_base_[w] = uint32_t(task.classes[w] * kCodes);
            int32_t power = 1;
            for (int cell = 0; cell < 9; ++cell, power *= 3) {
                const int64_t p = task.cells[w * 9 + cell];
                around_[p][around_count_[p]] = uint16_t(w);
                power_[p][around_count_[p]++] = power;
            }
        }
        const int n = int(task.size);
        for (int p = 0; p < points_; ++p)
            for (int q = 0; q < points_; ++q)
                if (std::abs(p / n - q / n) <= 2 && std::abs(p % n - q % n) <= 2)
                    nearby_[p][q / 64] |= uint64_t(1) << q % 64;
    }

    void begin_game(uint32_t black_table, uint32_t white_table) {
        plies = changes = 0;
        const uint32_t table[2] = {black_table, white_table};
        for (int side = 0; side < 2; ++side) {
            for (int w = 0; w < windows_; ++w) {
                entry_[side][w] = table[side] + class_base_[w];
                value_[side][w] = fused[entry_[side][w]];
            }
            for (int p = 0; p < points_; ++p) dirty_[side][p / 64] |= uint64_t(1) << p % 64;
        }
    }

    uint16_t choose(const GoBoard& b, int8_t color, uint64_t explore) {
        const int s = side(color);
        refresh(b, color, s);
        int32_t best = kNoMove;
        for (int p = 0; p < points_; ++p) best = std::max(best, gain_[s][p]);
        random = next_random(random);
        explored[plies] = random >> 32 < explore;
        if (best == kNoMove) return kPassMove;
        return pick(s, explored[plies] ? kNoMove + 1 : best);
    }

    void play(GoBoard& b, uint16_t move, int8_t color) {
        if (move == kPassMove) {
            b.play_pass(color);
        } else {
            const int taken = list_taken(b, move, color);
            for (int i = 0; i < taken; ++i)
                for (int k = 0; k < 4; ++k) {
                    const uint16_t q = coding_.neighbor(taken_[i], k);
                    if (b.stone[q] == color) make_dirty_if_atari(b.liberties[b.head[q]]);
                }
            b.play_stone(coding_, move, color);
            const int mine = color == kBlack ? 1 : 2, theirs = 3 - mine;
            change_point(move, mine, theirs);
            for (int i = 0; i < taken; ++i) change_point(taken_[i], -theirs, -mine);
            make_dirty_if_atari(b.liberties[b.head[move]]);
            for (int k = 0; k < 4; ++k) {
                const uint16_t q = coding_.neighbor(move, k);
                if (b.stone[q] == -color) make_dirty_if_atari(b.liberties[b.head[q]]);
            }
        }
        ++plies;
    }

    uint64_t random;
    uint32_t plies = 0, changes = 0;
    uint16_t change_ply[kMaxChanges], change_point_[kMaxChanges];
    int8_t change_digit[kMaxChanges][2];
    uint8_t explored[kMaxPlies];
    int64_t entries;
    std::vector<int32_t> fused;

  private:
    void make_dirty_if_atari(uint64_t word) {
        if (!is_atari(word)) return;
        const uint16_t p = atari_point(word);
        for (auto& bits : dirty_) bits[p / 64] |= uint64_t(1) << p % 64;
    }

    void change_point(uint16_t p, int black, int white) {
        const uint32_t i = changes++;
        change_ply[i] = uint16_t(plies);
        change_point_[i] = p;
        change_digit[i][0] = int8_t(black);
        change_digit[i][1] = int8_t(white);
        for (int k = 0; k < around_count_[p]; ++k) {
            const uint16_t w = around_[p][k];
            entry_[0][w] += uint32_t(black * power_[p][k]);
            value_[0][w] = fused[entry_[0][w]];
            entry_[1][w] += uint32_t(white * power_[p][k]);
            value_[1][w] = fused[entry_[1][w]];
        }
        for (int i = 0; i < words_; ++i) {
            dirty_[0][i] |= nearby_[p][i];
            dirty_[1][i] |= nearby_[p][i];
        }
    }

    int list_taken(const GoBoard& b, uint16_t p, int8_t color) {
        int count = 0;
        for (int k = 0; k < 4; ++k) {
            const uint16_t q = coding_.neighbor(p, k);
            if (b.stone[q] != -color || !is_atari(b.liberties[b.head[q]])) continue;
            bool seen = false;
            for (int j = 0; j < k; ++j) {
                const uint16_t e = coding_.neighbor(p, j);
                seen |= b.stone[e] == -color && b.head[e] == b.head[q];
            }
            if (seen) continue;
            uint16_t stone = q;
            do {
                taken_[count++] = stone;
                stone = b.link[stone];
            } while (stone != q);
        }
        return count;
    }

    int shift_windows(uint16_t p, int32_t digit, int count) {
        for (int k = 0; k < around_count_[p]; ++k) {
            const uint16_t w = around_[p][k];
            if (shift_[w] == 0) shifted_[count++] = w;
            shift_[w] += digit * power_[p][k];
        }
        return count;
    }

    int32_t gain_of_capture(const GoBoard& b, uint16_t p, int8_t color, int s) {
        const int taken = list_taken(b, p, color);
        int count = shift_windows(p, 1, 0);
        for (int i = 0; i < taken; ++i) count = shift_windows(taken_[i], -2, count);
        int32_t gain = 0;
        for (int i = 0; i < count; ++i) {
            const uint16_t w = shifted_[i];
            if (shift_[w] == 0) continue;
            gain += fused[entry_[s][w] + uint32_t(shift_[w])] - value_[s][w];
            shift_[w] = 0;
        }
        return gain;
    }

    int32_t gain_of_stone(uint16_t p, int s) const {
        int32_t gain = 0;
        for (int k = 0; k < around_count_[p]; ++k) {
            const uint16_t w = around_[p][k];
            gain += fused[entry_[s][w] + uint32_t(power_[p][k])] - value_[s][w];
        }
        return gain;
    }

    bool refresh_point(const GoBoard& b, uint16_t p, int8_t color, int s) {
        gain_[s][p] = kNoMove;
        if (b.stone[p] != kEmpty) return false;
        bool is_open = false, is_safe = false, captures = false;
        for (int k = 0; k < 4; ++k) {
            const uint16_t q = coding_.neighbor(p, k);
            const int8_t stone = b.stone[q];
            if (stone == kEmpty)
                is_open = true;
            else if (stone == color)
                is_safe |= !is_atari(b.liberties[b.head[q]]);
            else if (stone == -color)
                captures |= is_atari(b.liberties[b.head[q]]);
        }
        if (captures) {
            if (p != b.ko) gain_[s][p] = gain_of_capture(b, p, color, s);
            return true;
        }
        if (is_open || (is_safe && !b.is_own_eye(coding_, p, color))) gain_[s][p] = gain_of_stone(p, s);
        return false;
    }

    void refresh(const GoBoard& b, int8_t color, int s) {
        for (int i = 0; i < words_; ++i) {
            uint64_t kept = 0;
            for (uint64_t bits = dirty_[s][i]; bits != 0; bits &= bits - 1) {
                const int bit = __builtin_ctzll(bits);
                if (refresh_point(b, uint16_t(i * 64 + bit), color, s)) kept |= uint64_t(1) << bit;
            }
            dirty_[s][i] = kept;
        }
    }

    uint16_t pick(int s, int32_t least) {
        uint32_t count = 0;
        for (int p = 0; p < points_; ++p) count += gain_[s][p] >= least;
        random = next_random(random);
        uint64_t left = (random >> 32) * count >> 32;
        for (uint16_t p = 0; p < points_; ++p)
            if (gain_[s][p] >= least && left-- == 0) return p;
        return kPassMove;
    }

    const Flat& coding_;
    uint16_t points_, windows_;
    int words_;
    uint16_t around_count_[kMaxPoints] = {}, around_[kMaxPoints][9];
    int32_t power_[kMaxPoints][9];
    uint32_t class_base_[kMaxWindows3];
    uint64_t nearby_[kMaxPoints][kWords] = {};
    uint32_t entry_[2][kMaxWindows3];
    int32_t value_[2][kMaxWindows3];
    uint64_t dirty_[2][kWords] = {};
    int32_t gain_[2][kMaxPoints];
    uint16_t taken_[kMaxPoints];
    int32_t shift_[kMaxWindows3] = {};
    uint16_t shifted_[kMaxWindows3];
};

class Learner {
  public:
    explicit Learner(const TdTask& task) : task_(task), coding_(int(task.size)), start_(int(task.size)) {
        player_ = std::make_unique<ShapePlayer>(task, coding_);
        for (auto& stands : stands_) stands = std::make_unique<Stand[]>(30 * kMaxChanges + kMaxWindows);
    }

    void train(int64_t games) {
        for (int64_t i = 0; i < games; ++i, ++games_, --batch_left_) {
            if (batch_left_ == 0) {
                batch_left_ = std::min<int64_t>(std::max<int64_t>(games_ / 16, 1), 100);
                for (int64_t agent = 0; agent < task_.agents; ++agent) fuse(agent);
            }
            const int64_t black = task_.agents == 2 ? games_ & 1 : 0, white = task_.agents - 1 - black;
            player_->begin_game(uint32_t(black * player_->entries), uint32_t(white * player_->entries));
            const double black_wins = play_game();
            double* weights[2] = {task_.weights + black * task_.weight_count, task_.weights + white * task_.weight_count};
            for (int side = 0; side < 2; ++side) follow_game(side, weights[side]);
            for (int side = 0; side < 2; ++side) sum_errors(side, side == 0 ? black_wins : 1 - black_wins);
            for (int side = 0; side < 2; ++side) update_weights(side, weights[side]);
        }
    }

  private:
    struct Stand {
        uint32_t weight[2];
        uint16_t window, from, to;
    };
    struct Window {
        uint32_t code, weight[2];
        double value;
        uint16_t since;
    };

    double play_game() {
        GoBoard board = start_;
        int8_t color = kBlack;
        int passes = 0;
        while (passes < 2 && player_->plies < uint32_t(4 * task_.size * task_.size)) {
            const uint16_t move = player_->choose(board, color, task_.explore);
            player_->play(board, move, color);
            passes = move == kPassMove ? passes + 1 : 0;
            color = int8_t(-color);
        }
        const int score = passes == 2 ? board.count_area(coding_, ownership_) : count_regions(board);
        return score > task_.komi ? 1.0 : score == task_.komi ? 0.5 : 0.0;
    }

    // The area of a game that was cut off: an empty region is whose stones alone touch it.
    int count_regions(const GoBoard& board) const {
        const int points = int(task_.size * task_.size);
        std::vector<char> seen(size_t(points), 0);
        std::vector<uint16_t> region;
        int score = 0;
        for (int p = 0; p < points; ++p) {
            if (board.stone[p] != kEmpty) {
                score += board.stone[p];
                continue;
            }
            if (seen[size_t(p)]) continue;
            region.assign(1, uint16_t(p));
            seen[size_t(p)] = 1;
            bool touches[2] = {false, false};
            for (size_t i = 0; i < region.size(); ++i)
                for (int k = 0; k < 4; ++k) {
                    const uint16_t q = coding_.neighbor(region[i], k);
                    if (board.stone[q] == kOffBoard) continue;
                    if (board.stone[q] != kEmpty) {
                        touches[side(board.stone[q])] = true;
                    } else if (!seen[q]) {
                        seen[q] = 1;
                        region.push_back(q);
                    }
                }
            score += (int(touches[0]) - int(touches[1])) * int(region.size());
        }
        return score;
    }

    int own_moves(int side) const { return (int(player_->plies) + 1 - side) / 2; }

    // A side's own moves are counted from 1.
    void follow_game(int side, const double* weights) {
        Stand* stand = stands_[side].get();
        double logit = 0;
        for (int64_t w = 0; w < task_.windows; ++w) {
            Window& window = windows_[w];
            window.code = 0;
            window.since = 0;
            double value = 0;
            for (int j = 0; j < task_.sets[w]; ++j) {
                window.weight[j] = task_.canonical[task_.base[2 * w + j]];
                value += weights[window.weight[j]];
            }
            window.value = value;
            logit += value;
        }
        const auto write = [&](uint16_t w, uint16_t t) {
            Window& window = windows_[w];
            *stand++ = {{window.weight[0], window.weight[1]}, w, window.since, t};
            window.since = t;
        };
        uint32_t change = 0;
        for (int t = 1; t <= own_moves(side); ++t) {
            int touched = 0;
            for (; change < player_->changes && player_->change_ply[change] <= 2 * t - 2 + side; ++change) {
                const uint16_t p = player_->change_point_[change];
                const int32_t digit = player_->change_digit[change][side];
                for (int c = task_.starts[p]; c < task_.starts[p + 1]; ++c) {
                    const uint16_t w = task_.contact[c];
                    if (windows_[w].since != t) {
                        write(w, uint16_t(t));
                        touched_[touched++] = w;
                    }
                    windows_[w].code += uint32_t(digit * int32_t(task_.power[c]));
                }
            }
            for (int k = 0; k < touched; ++k) {
                const uint16_t w = touched_[k];
                Window& window = windows_[w];
                double value = 0;
                for (int j = 0; j < task_.sets[w]; ++j) {
                    window.weight[j] = task_.canonical[task_.base[2 * w + j] + window.code];
                    value += weights[window.weight[j]];
                }
                logit += value - window.value;
                window.value = value;
            }
            win_[side][t] = 1 / (1 + std::exp(-logit));
        }
        for (int64_t w = 0; w < task_.windows; ++w) write(uint16_t(w), uint16_t(own_moves(side) + 1));
        stand_count_[side] = stand - stands_[side].get();
    }

    void sum_errors(int side, double reward) {
        double* sums = sums_[side];
        const int moves = own_moves(side);
        double target = reward;
        for (int t = moves; t > 0; --t) {
            const double value = win_[side][t];
            const double slope = task_.logistic ? 1.0 : value * (1 - value);
            sums[t + 1] = task_.step_size * (target - value) * slope;
            target = value;
        }
        sums[0] = sums[1] = 0;
        for (int t = 1; t <= moves; ++t) sums[t + 1] += sums[t];
    }

    void update_weights(int side, double* weights) const {
        for (int64_t i = 0; i < stand_count_[side]; ++i) {
            const Stand& stand = stands_[side][i];
            const double errors = sums_[side][stand.to] - sums_[side][stand.from];
            if (errors == 0) continue;
            const double change = task_.step[stand.window] * errors;
            for (int j = 0; j < task_.sets[stand.window]; ++j) weights[stand.weight[j]] += change;
        }
    }

    void fuse(int64_t agent) {
        const double* weights = task_.weights + agent * task_.weight_count;
        const double* below = nullptr;
        for (const Level& level : task_.levels) {
            for (int64_t c = 0; c < level.classes; ++c) {
                double* row = level.table + c * level.codes;
                std::fill(row, row + level.codes, 0.0);
                for (int64_t i = c * level.children; i < (c + 1) * level.children; ++i)
                    for (int64_t code = 0; code < level.codes; ++code)
                        row[code] += level.child_share[i] * below[level.child[i * level.codes + code]];
                for (int64_t i = c * level.weights; i < (c + 1) * level.weights; ++i)
                    for (int64_t code = 0; code < level.codes; ++code)
                        row[code] += level.weight_share[i] * weights[level.weight[i * level.codes + code]];
            }
            below = level.table;
        }
        int32_t* fused = player_->fused.data() + agent * player_->entries;
        for (int64_t i = 0; i < player_->entries; ++i)
            fused[i] = int32_t(std::rint(std::min(std::max(below[i] * kUnit, -60 * kUnit), 60 * kUnit)));
    }

    const TdTask task_;
    int64_t games_ = 0, batch_left_ = 0;
    Flat coding_;
    GoBoard start_;
    std::unique_ptr<ShapePlayer> player_;
    int32_t ownership_[Flat::kSlots] = {};
    Window windows_[kMaxWindows];
    uint16_t touched_[kMaxWindows];
    std::unique_ptr<Stand[]> stands_[2];
    int64_t stand_count_[2] = {0, 0};
    double win_[2][kMaxPlies / 2 + 3];
    double sums_[2][kMaxPlies / 2 + 3];
};

}  // namespace

extern "C" {

// A learner that goes on from task->weights and changes them; katachi_td_free takes it away again.
void* katachi_td_new(const TdTask* task) { return new Learner(*task); }
void katachi_td_train(void* learner, int64_t games) { static_cast<Learner*>(learner)->train(games); }
void katachi_td_free(void* learner) { delete static_cast<Learner*>(learner); }
}
