// The maximal sufficient rule of a row: among the boxes over the columns of S that hold x and nothing bad, the one that
// covers most training rows (or has the largest volume). Exact, by best-first branch and bound (docs/method.md, 5.2).
//
// Bad is a training row at which the SDP is below pi; or, where the rule must hold everywhere, any region of the box in
// which it is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "forest.hpp"
#include "parallel.hpp"
#include "projected_tree.hpp"
#include "search.hpp"

namespace suffice {

// Values of one column as codes: lo <= code <= hi, and missing values if `missing`. lo > hi: no values.
struct CodeInterval {
    std::uint32_t lo = 0;
    std::uint32_t hi = 0;
    bool missing = false;

    bool has_values() const { return lo <= hi; }
    bool is_empty() const { return !has_values() && !missing; }
    bool meets(const CodeInterval& other) const {
        return (missing && other.missing) || (std::max(lo, other.lo) <= std::min(hi, other.hi));
    }
    auto operator<=>(const CodeInterval&) const = default;
};
using CodeBox = std::vector<CodeInterval>;

inline constexpr CodeInterval kOnlyMissing{1, 0, true};
inline constexpr std::uint32_t kNoRank = 0xffffffff;  // of a missing value

inline bool meets(const CodeBox& a, const CodeInterval* b) {
    for (std::size_t c = 0; c < a.size(); ++c)
        if (!a[c].meets(b[c])) return false;
    return true;
}

// Many boxes over the same columns, one after the other in memory, each with a number of training rows.
class CodeBoxes {
  public:
    void clear(std::size_t n_columns) {
        n_columns_ = n_columns;
        size_ = 0;
        intervals_.clear();
        n_rows_.clear();
    }
    void append(const CodeInterval* box, std::uint32_t n_rows = 0) {
        intervals_.insert(intervals_.end(), box, box + n_columns_);
        n_rows_.push_back(n_rows);
        ++size_;
    }
    std::uint32_t n_rows(std::size_t i) const { return n_rows_[i]; }
    std::size_t size() const { return size_; }
    const CodeInterval* operator[](std::size_t i) const { return intervals_.data() + n_columns_ * i; }
    bool any_in(const CodeBox& box) const {
        for (std::size_t i = 0; i < size_; ++i)
            if (meets(box, (*this)[i])) return true;
        return false;
    }
    std::size_t count_in(const CodeBox& box) const {
        std::size_t n = 0;
        for (std::size_t i = 0; i < size_; ++i) n += meets(box, (*this)[i]) ? n_rows_[i] : 0;
        return n;
    }
    void keep_in(const CodeBox& box) {
        std::size_t n = 0;
        for (std::size_t i = 0; i < size_; ++i) {
            if (!meets(box, (*this)[i])) continue;
            std::copy_n((*this)[i], n_columns_, intervals_.data() + n_columns_ * n);
            n_rows_[n++] = n_rows_[i];
        }
        size_ = n;
        intervals_.resize(n_columns_ * n);
        n_rows_.resize(n);
    }

  private:
    std::size_t n_columns_ = 0, size_ = 0;  // a box over no columns is still a box
    std::vector<CodeInterval> intervals_;
    std::vector<std::uint32_t> n_rows_;
};

// One column of the table, cut at all thresholds that the forest has on it: the same for every set.
struct ColumnCodes {
    std::vector<float> thresholds;       // ascending
    std::vector<std::uint64_t> weight;   // by threshold: the rows that the forest splits there
    std::vector<std::uint32_t> code_of;  // by row; kNoRank if it is missing
    float smallest = std::numeric_limits<float>::infinity();
    float largest = -std::numeric_limits<float>::infinity();
    bool has_missing = false;

    std::uint32_t code(float value) const {
        if (std::isnan(value)) return kNoRank;
        return static_cast<std::uint32_t>(std::lower_bound(thresholds.begin(), thresholds.end(), value) -
                                          thresholds.begin());
    }
    CodeInterval coordinate(float value) const { return interval(code(value)); }
    static CodeInterval interval(std::uint32_t code) {
        return code == kNoRank ? kOnlyMissing : CodeInterval{code, code, false};
    }
};

inline ColumnCodes code_column(const Forest& forest, std::int32_t column) {
    std::map<float, std::uint64_t> weight;
    std::vector<std::uint64_t> n_rows;
    for (const Tree& tree : forest.trees) {
        n_rows.resize(tree.nodes.size());
        for (std::size_t i = tree.nodes.size(); i-- > 0;) {  // children come after their parents
            const Node& node = tree.nodes[i];
            if (node.is_leaf()) {
                n_rows[i] = node.end - node.begin;
                continue;
            }
            n_rows[i] = n_rows[static_cast<std::size_t>(node.left)] + n_rows[static_cast<std::size_t>(node.right)];
            if (node.column == column) weight[largest_float_up_to(node.threshold)] += n_rows[i];
        }
    }
    ColumnCodes codes;
    for (const auto& [threshold, rows] : weight) {
        codes.thresholds.push_back(threshold);
        codes.weight.push_back(rows);
    }
    codes.code_of.resize(forest.X.n_rows);
    for (std::size_t i = 0; i < forest.X.n_rows; ++i) {
        const float value = forest.X.row(i)[column];
        codes.code_of[i] = codes.code(value);
        if (std::isnan(value)) {
            codes.has_missing = true;
            continue;
        }
        codes.smallest = std::min(codes.smallest, value);
        codes.largest = std::max(codes.largest, value);
    }
    return codes;
}

// The cells of all training rows for one set S, the same for every outcome.
struct SetCells {
    std::size_t n_rows = 0;                                 // training rows
    std::size_t n_outcomes = 0;                             // distinct outcomes
    std::vector<std::int32_t> columns;                      // of the table, that belong to S
    std::vector<std::shared_ptr<const ColumnCodes>> codes;  // of these columns
    Points points;
    CodeBoxes coordinates;  // of the points, with the number of training rows there
    std::vector<ProjectedTree> trees;
    std::vector<std::vector<std::uint32_t>> leaf_of;  // by tree and point: its leaf

    // Of this set alone: the codes of a column are shared by all sets that hold it.
    std::size_t n_bytes() const {
        std::size_t n = points.of_row.size() * sizeof(std::uint32_t) +
                        points.size * (sizeof(std::uint32_t) + columns.size() * (sizeof(float) + sizeof(CodeInterval)));
        for (const ProjectedTree& tree : trees)
            n += tree.nodes.size() * sizeof(ProjectedNode) + tree.rank.size() * sizeof(std::uint32_t);
        for (const auto& leaves : leaf_of) n += leaves.size() * sizeof(std::uint32_t);
        return n;
    }
};

// Puts rows with the same codes in all columns together. Points are numbered as they first come.
inline void find_points(const Forest& forest, SetCells& cells) {
    Points& points = cells.points;
    points.of_row.assign(cells.n_rows, 0);
    points.size = 1;
    std::unordered_map<std::uint64_t, std::uint32_t> number;
    for (const auto& column : cells.codes) {  // of points that are apart already, and the codes of one more column
        number.clear();
        number.reserve(2 * points.size);
        for (std::size_t i = 0; i < cells.n_rows; ++i) {
            const std::uint64_t both = std::uint64_t{points.of_row[i]} << 32 | column->code_of[i];
            points.of_row[i] = number.try_emplace(both, static_cast<std::uint32_t>(number.size())).first->second;
        }
        points.size = number.size();
    }
    std::vector<std::uint32_t> n_rows(points.size, 0), example(points.size, 0);
    for (std::size_t i = cells.n_rows; i-- > 0;) {
        ++n_rows[points.of_row[i]];
        example[points.of_row[i]] = static_cast<std::uint32_t>(i);
    }
    points.values.assign(cells.columns.size(), std::vector<float>(points.size));
    cells.coordinates.clear(cells.columns.size());
    CodeBox point(cells.columns.size());
    for (std::size_t p = 0; p < points.size; ++p) {
        for (std::size_t c = 0; c < point.size(); ++c) {
            points.values[c][p] = forest.X.row(example[p])[cells.columns[c]];
            point[c] = ColumnCodes::interval(cells.codes[c]->code_of[example[p]]);
        }
        cells.coordinates.append(point.data(), n_rows[p]);
    }
}

inline SetCells find_set_cells(const Forest& forest, std::span<const std::int32_t> columns,
                               std::vector<std::shared_ptr<const ColumnCodes>> codes, std::size_t min_node_size,
                               std::size_t n_threads, const std::function<void(std::size_t)>& watch) {
    SetCells cells;
    cells.n_rows = forest.X.n_rows;
    cells.n_outcomes = forest.y_values.size();
    cells.columns.assign(columns.begin(), columns.end());
    cells.codes = std::move(codes);
    std::vector<std::int32_t> position_of(forest.X.n_columns, -1);
    for (std::size_t c = 0; c < columns.size(); ++c)
        position_of[static_cast<std::size_t>(columns[c])] = static_cast<std::int32_t>(c);
    find_points(forest, cells);
    cells.trees.resize(forest.trees.size());
    cells.leaf_of.resize(forest.trees.size());
    StopFlag stop{false};
    const auto make_worker = [&] {
        return [&](std::size_t t) {
            ProjectedTreeBuilder builder(forest.trees[t], cells.points, position_of, columns.size(), min_node_size);
            cells.trees[t] = builder.build(cells.leaf_of[t]);
        };
    };
    for_each_row(forest.trees.size(), n_threads, stop, make_worker, watch, 1);
    return cells;
}

struct RuleOptions {
    double pi = 0.9;
    bool everywhere = false;  // every point of the box must be good, not only every training row in it
    bool by_volume = false;   // the largest Lebesgue volume within the data's range, instead of the most training rows
    std::size_t max_nodes = 10'000;    // boxes to look at
    std::size_t max_regions = 50'000;  // regions to look at in proofs that a box is good everywhere
};

struct FoundRule {
    bool exists = false;  // the SDP at x is at least pi
    double sdp = 0.0;     // at x
    CodeBox box;
    std::size_t support = 0;        // training rows in the box
    double value = 0.0;             // what was maximised: training rows, or volume
    double bound = 0.0;             // no rule is better than this
    bool is_optimal = false;        // nothing better exists
    bool holds_everywhere = false;  // proven for every point of the box
};

class RuleSearch {
  public:
    RuleSearch(const SetCells& cells, const RuleOptions& options, const StopFlag& stop)
        : cells_(cells), options_(options), stop_(stop) {}

    // The outcome is: lo <= rank of y <= hi.
    FoundRule run(const float* row, std::uint32_t lo, std::uint32_t hi) {
        const std::size_t n_columns = cells_.columns.size();
        values_.resize(n_columns);
        x_.resize(n_columns);
        for (std::size_t c = 0; c < n_columns; ++c) {
            values_[c] = row[cells_.columns[c]];
            x_[c] = cells_.codes[c]->coordinate(values_[c]);
        }
        find_shares(lo, hi);
        FoundRule rule;
        double sum = 0.0;
        for (std::size_t t = 0; t < cells_.trees.size(); ++t) sum += share_[t][cells_.trees[t].leaf(values_.data())];
        rule.sdp = sum / static_cast<double>(cells_.trees.size());
        rule.exists = sum >= needed();
        if (!rule.exists) return rule;
        sort_points();
        n_regions_ = 0;
        search(rule);
        return rule;
    }

    // The share of the outcome in every leaf, and its range in every subtree.
    void find_shares(std::uint32_t lo, std::uint32_t hi) {
        const std::pair outcome{lo, hi};
        if (outcome_ == outcome) return;  // rows with the same outcome come one after the other
        outcome_ = outcome;
        sum_.clear();
        const std::size_t k = cells_.trees.size();
        share_.resize(k);
        least_.resize(k);
        most_.resize(k);
        for (std::size_t t = 0; t < k; ++t) {
            const ProjectedTree& tree = cells_.trees[t];
            hits_before_.resize(tree.rank.size() + 1);
            hits_before_[0] = 0;
            for (std::size_t i = 0; i < tree.rank.size(); ++i)
                hits_before_[i + 1] = hits_before_[i] + ((lo <= tree.rank[i]) & (tree.rank[i] <= hi));
            share_[t].resize(tree.nodes.size());
            least_[t].resize(tree.nodes.size());
            most_[t].resize(tree.nodes.size());
            for (std::size_t i = tree.nodes.size(); i-- > 0;) {  // children come after their parents
                const ProjectedNode& node = tree.nodes[i];
                if (node.is_leaf()) {
                    share_[t][i] = least_[t][i] = most_[t][i] =
                        static_cast<double>(hits_before_[node.end] - hits_before_[node.begin]) /
                        static_cast<double>(node.end - node.begin);
                } else {
                    const auto l = static_cast<std::size_t>(node.left), r = static_cast<std::size_t>(node.right);
                    least_[t][i] = std::min(least_[t][l], least_[t][r]);
                    most_[t][i] = std::max(most_[t][l], most_[t][r]);
                }
            }
        }
    }

    // By point: the sum over the trees of the share in its cell, after find_shares.
    const std::vector<double>& sums() {
        if (!sum_.empty()) return sum_;
        sum_.assign(cells_.points.size, 0.0);
        for (std::size_t t = 0; t < cells_.trees.size(); ++t) {  // tree by tree: its shares stay in the cache
            const double* share = share_[t].data();
            const std::uint32_t* leaf = cells_.leaf_of[t].data();
            for (std::size_t p = 0; p < sum_.size(); ++p) sum_[p] += share[leaf[p]];
        }
        return sum_;
    }

  private:
    struct Node {
        CodeBox box;
        CodeBox core;       // the boxes looked for hold all of it
        double value;       // none of them is better
        std::size_t order;  // of equal ones, the first that was made
        bool operator<(const Node& other) const {
            return value != other.value ? value < other.value : order > other.order;
        }
    };

    // A way to cut something bad off: the column and what is left of its side; no box inside is better than `value`.
    struct Way {
        std::size_t column;
        CodeInterval side;
        double value;
    };

    double needed() const { return (options_.pi - kRounding) * static_cast<double>(cells_.trees.size()); }

    // The largest box that may hold a rule. It leaves out missing values where the data have none: nothing is known of
    // them there.
    CodeBox everything() const {
        CodeBox box(cells_.columns.size());
        for (std::size_t c = 0; c < box.size(); ++c)
            box[c] = {0, static_cast<std::uint32_t>(cells_.codes[c]->thresholds.size()),
                      cells_.codes[c]->has_missing || x_[c].missing};
        return box;
    }

    void sort_points() {
        good_.clear(x_.size());
        bad_.clear(x_.size());
        const std::vector<double>& sum = sums();
        for (std::size_t p = 0; p < sum.size(); ++p)
            (sum[p] >= needed() ? good_ : bad_).append(cells_.coordinates[p], cells_.coordinates.n_rows(p));
    }

    void search(FoundRule& rule) {
        const auto accept = [&](const CodeBox& box, double value) {
            rule.box = box;
            rule.value = value;
        };
        Node root{everything(), x_, 0.0, 0};
        cut_forced(root.box);  // every good box lies in what is left
        good_.keep_in(root.box);
        const CodeBoxes all_bad = bad_;
        const CodeBox widest = root.box;
        // To cover rows a box need not reach beyond the good rows and x; few bad ones lie among these.
        if (!options_.by_volume) root.box = hull_of_good(root.box);
        bad_.keep_in(root.box);
        keep_foremost_bad();
        index_good();
        accept(x_, value_of(x_));  // at the coordinates of x every cell is that of x
        root.value = value_of(root.box);
        if (const auto box = dive(root)) accept(*box, value_of(*box));
        std::priority_queue<Node> queue;
        queue.push(root);
        std::size_t n_nodes = 0, n_made = 1;
        while (!queue.empty() && queue.top().value > rule.value && n_nodes++ < options_.max_nodes && !stop_) {
            Node node = queue.top();
            queue.pop();
            if (!tighten(node, rule.value)) continue;
            if (ways_.empty() && options_.everywhere) {
                const Proof proof = find_bad_region(node.box);
                if (proof != Proof::kGood) {  // with the region that was found the box is looked at once more
                    queue.push(std::move(node));
                    if (proof == Proof::kOutOfBudget) break;
                    continue;
                }
            }
            if (ways_.empty()) {
                accept(node.box, node.value);
                continue;
            }
            // A box that is cut in several ways is looked for in the first of them only.
            for (const Way& way : ways_) {
                Node child = node;
                child.box[way.column] = way.side;
                child.value = way.value;
                child.order = n_made++;
                queue.push(std::move(child));
                reach(node, way.column, bad_[chosen_]);
            }
        }
        rule.bound = queue.empty() ? rule.value : std::max(rule.value, queue.top().value);
        rule.is_optimal = rule.bound <= rule.value;
        rule.holds_everywhere = options_.everywhere;
        if (!options_.everywhere && !options_.by_volume) {
            bad_ = all_bad;
            settle(rule.box, widest);
        }
        rule.support = good_.count_in(rule.box);
        if (!rule.holds_everywhere) rule.holds_everywhere = find_bad_region(rule.box) == Proof::kGood;
    }

    // Cuts bad things off one after the other, each time in the way that keeps most: a good box to begin with.
    std::optional<CodeBox> dive(Node node) {
        for (;;) {
            if (!tighten(node, -1.0)) return std::nullopt;
            if (ways_.empty()) {
                if (!options_.everywhere) return node.box;
                const Proof proof = find_bad_region(node.box);
                if (proof == Proof::kGood) return node.box;
                if (proof == Proof::kOutOfBudget) return std::nullopt;
                continue;
            }
            const Way& best = *std::max_element(ways_.begin(), ways_.end(),
                                                [](const Way& a, const Way& b) { return a.value < b.value; });
            node.box[best.column] = best.side;
        }
    }

    // Makes a box smaller, and its core larger, as long as the boxes looked for that are better than `least` stay in
    // between. Says whether there may be any; if so, ways_ are those to cut off bad_[chosen_], none if nothing is bad.
    bool tighten(Node& node, double least) {
        for (bool changed = true; changed;) {
            changed = false;
            count_rows(node.box);
            node.value = options_.by_volume ? value_of(node.box) : static_cast<double>(n_counted_);
            if (node.value <= least) return false;
            ways_.clear();
            double least_value = std::numeric_limits<double>::infinity();
            for (std::size_t i = 0; i < bad_.size(); ++i) {
                const CodeInterval* bad = bad_[i];
                if (!meets(node.box, bad)) continue;
                found_.clear();
                for (std::size_t c = 0; c < node.box.size(); ++c) {
                    bool is_cut = false, is_better = false;
                    for_each_cut(node.box[c], bad[c], node.core[c], [&](const CodeInterval& side) {
                        is_cut = true;
                        const double value = value_of_side(node.box, c, side);
                        if (value > least) found_.push_back({c, side, value}), is_better = true;
                    });
                    if (is_cut && !is_better) changed |= reach(node, c, bad);
                }
                if (found_.empty()) return false;
                if (found_.size() == 1) {
                    // The counts are those of a larger box from here on, and bound what is in this one.
                    node.box[found_[0].column] = found_[0].side;
                    changed = true;
                    continue;
                }
                double value = 0.0;
                for (const Way& way : found_) value = std::max(value, way.value);
                if (value < least_value) least_value = value, chosen_ = i, ways_ = found_;
            }
        }
        return true;
    }

    // Leaves out the boxes that cut something bad off by this column: the others reach it there.
    static bool reach(Node& node, std::size_t column, const CodeInterval* bad) {
        const CodeInterval &side = node.box[column], &to = bad[column];
        CodeInterval& core = node.core[column];
        const bool by_missing = side.missing && to.missing;
        const bool by_values = std::max(side.lo, to.lo) <= std::min(side.hi, to.hi);
        const CodeInterval before = core;
        if (by_missing && !by_values) core.missing = true;
        if (by_values && !by_missing && core.has_values()) {
            if (core.hi < to.lo) core.hi = to.lo;
            if (core.lo > to.hi) core.lo = to.hi;
        }
        return core != before;
    }

    // Ranks the codes of the good points in each column, so that counting takes no longer than there are points.
    void index_good() {
        const std::size_t n_columns = x_.size();
        rank_of_code_.resize(n_columns);
        good_rank_.resize(n_columns);
        for (std::size_t c = 0; c < n_columns; ++c) {
            std::vector<std::uint32_t>& rank = rank_of_code_[c];
            rank.assign(cells_.codes[c]->thresholds.size() + 2, 0);
            for (std::size_t i = 0; i < good_.size(); ++i)
                if (good_[i][c].has_values()) rank[good_[i][c].lo + 1] = 1;
            for (std::size_t code = 1; code < rank.size(); ++code) rank[code] += rank[code - 1];
            good_rank_[c].resize(good_.size());
            for (std::size_t i = 0; i < good_.size(); ++i)
                good_rank_[c][i] = good_[i][c].has_values() ? rank[good_[i][c].lo] : kNoRank;
        }
        n_below_.resize(n_columns);
        n_missing_.resize(n_columns);
    }

    // Finds the good points in a box and counts, by column, how many of their rows lie below each rank.
    void count_rows(const CodeBox& box) {
        if (options_.by_volume) return;
        inside_.resize(good_.size());
        std::iota(inside_.begin(), inside_.end(), 0u);
        std::size_t n = inside_.size();
        for (std::size_t c = 0; c < box.size(); ++c) {
            const auto [first, end] = ranks(c, box[c]);
            const std::uint32_t width = end - first;
            const bool missing = box[c].missing;
            const std::uint32_t* rank = good_rank_[c].data();
            std::size_t n_left = 0;
            for (std::size_t j = 0; j < n; ++j) {
                const std::uint32_t i = inside_[j];
                inside_[n_left] = i;
                n_left += (rank[i] - first < width) | (missing & (rank[i] == kNoRank));
            }
            n = n_left;
        }
        inside_.resize(n);
        n_counted_ = 0;
        for (const std::uint32_t i : inside_) n_counted_ += good_.n_rows(i);
        for (std::size_t c = 0; c < box.size(); ++c) {
            std::vector<std::uint32_t>& n_below = n_below_[c];
            n_below.assign(rank_of_code_[c].back() + 1, 0);
            n_missing_[c] = 0;
            for (const std::uint32_t i : inside_)
                (good_rank_[c][i] == kNoRank ? n_missing_[c] : n_below[good_rank_[c][i] + 1]) += good_.n_rows(i);
            for (std::size_t r = 1; r < n_below.size(); ++r) n_below[r] += n_below[r - 1];
        }
    }

    std::pair<std::uint32_t, std::uint32_t> ranks(std::size_t c, const CodeInterval& side) const {
        if (!side.has_values()) return {0, 0};
        return {rank_of_code_[c][side.lo], rank_of_code_[c][side.hi + 1]};
    }

    // The value of a box with another side in one column, after count_rows of the box or one around it.
    double value_of_side(CodeBox& box, std::size_t c, const CodeInterval& side) const {
        if (options_.by_volume) {
            const CodeInterval whole = std::exchange(box[c], side);
            const double value = value_of(box);
            box[c] = whole;
            return value;
        }
        const auto [first, end] = ranks(c, side);
        return static_cast<double>(n_below_[c][end] - n_below_[c][first] + (side.missing ? n_missing_[c] : 0));
    }

    // Of the boxes that cover the same rows, the plainest. A side that nothing bad bounds is opened. Any other side may
    // lie anywhere between the rows and the first bad thing beyond them: it is put where the forest splits most rows,
    // at the weighted median of its thresholds there.
    void settle(CodeBox& box, const CodeBox& root) const {
        const CodeBox hull = hull_of_good(box);
        for (std::size_t c = 0; c < box.size(); ++c) {
            CodeInterval& side = box[c];
            if (side.has_values() && hull[c].has_values()) {
                side.lo = root[c].lo;
                std::uint32_t loosest = 0;
                for_each_bad_in(box, [&](const CodeInterval* bad) { loosest = std::max(loosest, bad[c].hi + 1); });
                loosest = std::max(loosest, root[c].lo);
                side.lo = loosest == 0 ? 0 : 1 + median_threshold(c, loosest - 1, hull[c].lo - 1);
                side.hi = root[c].hi;
                const auto end = static_cast<std::uint32_t>(cells_.codes[c]->thresholds.size());
                std::uint32_t widest = end;
                for_each_bad_in(box, [&](const CodeInterval* bad) { widest = std::min(widest, bad[c].lo - 1); });
                widest = std::min(widest, root[c].hi);
                side.hi = widest == end ? end : median_threshold(c, hull[c].hi, widest);
            }
            side.missing = root[c].missing;
            if (bad_.any_in(box)) side.missing = hull[c].missing;
        }
    }

    template <class Do>
    void for_each_bad_in(const CodeBox& box, const Do& act) const {
        for (std::size_t i = 0; i < bad_.size(); ++i)
            if (meets(box, bad_[i])) act(bad_[i]);
    }

    // Of the thresholds first ... last of a column, each weighted by the rows that the forest splits there, the median.
    std::uint32_t median_threshold(std::size_t c, std::uint32_t first, std::uint32_t last) const {
        const std::vector<std::uint64_t>& weight = cells_.codes[c]->weight;
        std::uint64_t total = 0, before = 0;
        for (std::uint32_t i = first; i <= last; ++i) total += weight[i];
        std::uint32_t i = first;
        while (i < last && 2 * (before += weight[i]) < total) ++i;
        return i;
    }

    // The smallest box around x and the good rows in a box.
    CodeBox hull_of_good(const CodeBox& box) const {
        CodeBox hull = x_;
        for (std::size_t i = 0; i < good_.size(); ++i)
            if (meets(box, good_[i]))
                for (std::size_t c = 0; c < hull.size(); ++c) hull[c] = join(hull[c], good_[i][c]);
        return hull;
    }

    // A box that holds x and a bad thing holds all that lies between them. So a bad thing behind another one, seen from
    // x, need not be looked at: the box that cuts off the nearer one cuts off both.
    void keep_foremost_bad() {
        std::vector<std::pair<double, std::size_t>> by_distance;
        for (std::size_t i = 0; i < bad_.size(); ++i) by_distance.emplace_back(distance(bad_[i]).second, i);
        std::sort(by_distance.begin(), by_distance.end());
        CodeBoxes foremost;
        foremost.clear(x_.size());
        CodeBox between(x_.size());
        for (const auto& [unused, i] : by_distance) {
            for (std::size_t c = 0; c < between.size(); ++c) between[c] = join(x_[c], bad_[i][c]);
            if (!foremost.any_in(between)) foremost.append(bad_[i]);
        }
        bad_ = std::move(foremost);
    }

    static CodeInterval join(const CodeInterval& a, const CodeInterval& b) {
        const bool missing = a.missing || b.missing;
        if (!a.has_values()) return {b.lo, b.hi, missing};
        if (!b.has_values()) return {a.lo, a.hi, missing};
        return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), missing};
    }

    // The ways to make `whole` smaller so that it holds `core` but no longer meets `bad`.
    template <class Do>
    static void for_each_cut(const CodeInterval& whole, const CodeInterval& bad, const CodeInterval& core,
                             const Do& act) {
        CodeInterval rest = whole;
        if (whole.missing && bad.missing) {
            if (core.missing) return;
            rest.missing = false;
        }
        if (!bad.has_values() || std::max(whole.lo, bad.lo) > std::min(whole.hi, bad.hi)) {
            act(rest);
            return;
        }
        // An end below 0 cannot be written: there are no values left then.
        const CodeInterval below =
            bad.lo == 0 ? CodeInterval{1, 0, rest.missing} : CodeInterval{rest.lo, bad.lo - 1, rest.missing};
        const CodeInterval above{bad.hi + 1, rest.hi, rest.missing};
        if (!core.has_values()) {
            if (below.has_values()) act(below);
            if (above.has_values()) act(above);
            if (!below.has_values() && !above.has_values()) act(CodeInterval{1, 0, rest.missing});
        } else if (core.hi < bad.lo) {
            act(below);
        } else if (core.lo > bad.hi) {
            act(above);
        }
    }

    // While something bad in the box can be cut off in one way only, does so.
    void cut_forced(CodeBox& box) const {
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t i = 0; i < bad_.size(); ++i) {
                const CodeInterval* bad = bad_[i];
                if (!meets(box, bad)) continue;
                std::size_t n_ways = 0, column = 0;
                CodeInterval only;
                for (std::size_t c = 0; c < box.size() && n_ways < 2; ++c)
                    for_each_cut(box[c], bad[c], x_[c],
                                 [&](const CodeInterval& side) { ++n_ways, column = c, only = side; });
                if (n_ways == 1) {
                    box[column] = only;
                    changed = true;
                }
            }
        }
    }

    // In how many columns something bad lies apart from x, and how far.
    std::pair<std::size_t, double> distance(const CodeInterval* bad) const {
        std::pair<std::size_t, double> out{0, 0.0};
        for (std::size_t c = 0; c < x_.size(); ++c) {
            if (x_[c].meets(bad[c])) continue;
            ++out.first;
            if (x_[c].missing || !bad[c].has_values()) {
                out.second += 1.0;
                continue;
            }
            const double steps = x_[c].lo < bad[c].lo ? bad[c].lo - x_[c].lo : x_[c].lo - bad[c].hi;
            out.second += steps / static_cast<double>(cells_.codes[c]->thresholds.size() + 1);
        }
        return out;
    }

    double value_of(const CodeBox& box) const {
        if (!options_.by_volume) return static_cast<double>(good_.count_in(box));
        double volume = 1.0;
        for (std::size_t c = 0; c < box.size(); ++c) {
            const float smallest = cells_.codes[c]->smallest, largest = cells_.codes[c]->largest;
            if (!(smallest < largest)) continue;
            if (!box[c].has_values()) return 0.0;
            const std::vector<float>& t = cells_.codes[c]->thresholds;
            const float low = box[c].lo == 0 ? smallest : std::clamp(t[box[c].lo - 1], smallest, largest);
            const float high = box[c].hi == t.size() ? largest : std::clamp(t[box[c].hi], smallest, largest);
            volume *= (static_cast<double>(high) - low) / (static_cast<double>(largest) - smallest);
        }
        return volume;
    }

    enum class Proof { kGood, kBad, kOutOfBudget };

    // Proves that the SDP is at least pi at every point of the box, or appends a region where it is not to bad_.
    Proof find_bad_region(const CodeBox& box) {
        struct Region {
            Box box;
            std::vector<std::int32_t> node;  // by tree: the subtree in which all points of the region lie
        };
        const std::size_t k = cells_.trees.size();
        std::vector<Region> stack;
        stack.push_back({to_values(box), std::vector<std::int32_t>(k, 0)});
        while (!stack.empty()) {
            if (stop_ || ++n_regions_ > options_.max_regions) return Proof::kOutOfBudget;
            Region region = std::move(stack.back());
            stack.pop_back();
            double least = 0.0, most = 0.0, widest = -1.0;
            std::size_t split_tree = k;
            for (std::size_t t = 0; t < k; ++t) {
                std::int32_t& i = region.node[t];
                for (;;) {
                    const ProjectedNode& node = cells_.trees[t].nodes[static_cast<std::size_t>(i)];
                    if (node.is_leaf()) break;
                    const Interval& whole = region.box[node.column];
                    const bool left = !whole.part(node.threshold, node.missing_left, true).is_empty();
                    const bool right = !whole.part(node.threshold, node.missing_left, false).is_empty();
                    if (left && right) break;
                    i = left ? node.left : node.right;
                }
                const auto at = static_cast<std::size_t>(i);
                least += least_[t][at];
                most += most_[t][at];
                if (!cells_.trees[t].nodes[at].is_leaf() && most_[t][at] - least_[t][at] > widest)
                    widest = most_[t][at] - least_[t][at], split_tree = t;
            }
            if (least >= needed()) continue;
            if (most < needed() || split_tree == k) {
                bad_.append(to_codes(region.box).data());
                return Proof::kBad;
            }
            const ProjectedNode& node =
                cells_.trees[split_tree].nodes[static_cast<std::size_t>(region.node[split_tree])];
            const Interval whole = region.box[node.column];
            Region other = region;
            // The half on the side of x comes first: what is bad near x leaves the fewest ways to cut it off.
            const bool left_first = node.goes_left(values_[node.column]);
            region.box[node.column] = whole.part(node.threshold, node.missing_left, !left_first);
            other.box[node.column] = whole.part(node.threshold, node.missing_left, left_first);
            stack.push_back(std::move(region));
            stack.push_back(std::move(other));
        }
        return Proof::kGood;
    }

    Box to_values(const CodeBox& box) const {
        Box out(box.size());
        for (std::size_t c = 0; c < box.size(); ++c) {
            const std::vector<float>& t = cells_.codes[c]->thresholds;
            out[c].missing = box[c].missing;
            out[c].has_values = box[c].has_values();
            if (!out[c].has_values) continue;
            if (box[c].lo > 0) out[c].low = t[box[c].lo - 1];
            if (box[c].hi < t.size()) out[c].high = t[box[c].hi];
        }
        return out;
    }

    // The ends of a region are thresholds: its codes hold the same points.
    CodeBox to_codes(const Box& box) const {
        CodeBox out(box.size());
        for (std::size_t c = 0; c < box.size(); ++c) {
            const std::vector<float>& t = cells_.codes[c]->thresholds;
            const auto code = [&](float v) {
                return static_cast<std::uint32_t>(std::lower_bound(t.begin(), t.end(), v) - t.begin());
            };
            out[c] = box[c].has_values ? CodeInterval{std::isinf(box[c].low) ? 0 : code(box[c].low) + 1,
                                                      code(box[c].high), box[c].missing}
                                       : kOnlyMissing;
        }
        return out;
    }

    const SetCells& cells_;
    RuleOptions options_;
    const StopFlag& stop_;
    std::vector<float> values_;  // of x, by column
    CodeBox x_;
    std::vector<std::vector<double>> share_, least_, most_;  // by tree and node: of its leaf, over its subtree
    std::vector<std::uint32_t> hits_before_;
    std::optional<std::pair<std::uint32_t, std::uint32_t>> outcome_;  // of share_
    std::vector<double> sum_;                                         // by point: see sums()
    CodeBoxes good_, bad_;  // points of the training rows; bad_ holds regions too
    std::vector<Way> ways_, found_;
    std::size_t chosen_ = 0;             // what ways_ cut off, in bad_
    std::vector<std::uint32_t> inside_;  // the good points in the box that was counted last
    std::size_t n_counted_ = 0;          // their rows
    std::vector<std::vector<std::uint32_t>>
        rank_of_code_;                                   // by column and code: how many codes of good points lie below
    std::vector<std::vector<std::uint32_t>> good_rank_;  // by column and good point
    std::vector<std::vector<std::uint32_t>> n_below_;    // by column and rank: of inside_
    std::vector<std::uint32_t> n_missing_;               // by column: of inside_
    std::size_t n_regions_ = 0;
};

}  // namespace suffice
