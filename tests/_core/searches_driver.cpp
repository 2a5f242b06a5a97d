// Runs searches of sets and rules from many threads on one forest, and compares each result with that of one thread. It
// needs no Python, so that sanitizers see every thread: test_sanitized.py builds it with them and runs it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "forest.hpp"
#include "forest_column.hpp"
#include "parallel.hpp"
#include "projection.hpp"
#include "rule_search.hpp"
#include "search.hpp"
#include "set_cells.hpp"

namespace suffice {
namespace {

constexpr std::size_t kRows = 300, kColumns = 5, kTrees = 8, kThreads = 8, kExplained = 24, kLeast = 6;

std::mt19937_64 draw;

std::size_t below(std::size_t n) { return draw() % n; }

// The arrays of one tree, as scikit-learn stores it.
struct DrawnTree {
    std::vector<std::int64_t> left, right, column;
    std::vector<double> threshold, n_rows, value;
    std::vector<std::uint8_t> missing_go_to_left;
    std::vector<std::int32_t> rows;

    TreeArrays get() const { return {left, right, column, threshold, missing_go_to_left, n_rows, value, 1, rows}; }

    std::size_t add_node(std::size_t n) {
        left.push_back(-1);
        right.push_back(-1);
        column.push_back(-2);
        threshold.push_back(-2);
        n_rows.push_back(static_cast<double>(n));
        missing_go_to_left.push_back(0);
        value.push_back(0.0);
        return left.size() - 1;
    }
};

DrawnTree draw_tree(const std::vector<float>& X) {
    DrawnTree tree;
    for (std::size_t i = 0; i < kRows; ++i) tree.rows.push_back(static_cast<std::int32_t>(below(kRows)));
    std::sort(tree.rows.begin(), tree.rows.end());
    struct Open {
        std::size_t node;
        std::vector<std::int32_t> rows;
    };
    std::vector<Open> open;
    open.push_back({tree.add_node(kRows), tree.rows});
    while (!open.empty()) {
        const Open here = std::move(open.back());
        open.pop_back();
        if (here.rows.size() < 2 * kLeast || tree.left.size() > 60) continue;
        const std::size_t column = below(kColumns);
        const auto value = [&](std::int32_t row) { return X[static_cast<std::size_t>(row) * kColumns + column]; };
        const double threshold = static_cast<double>(value(here.rows[below(here.rows.size())]));
        if (std::isnan(threshold)) continue;
        std::vector<std::int32_t> left, right;
        for (const std::int32_t row : here.rows)  // missing values go right
            (static_cast<double>(value(row)) <= threshold ? left : right).push_back(row);
        if (left.size() < kLeast || right.size() < kLeast) continue;
        tree.column[here.node] = static_cast<std::int64_t>(column);
        tree.threshold[here.node] = threshold;
        const std::size_t l = tree.add_node(left.size()), r = tree.add_node(right.size());
        tree.left[here.node] = static_cast<std::int64_t>(l);
        tree.right[here.node] = static_cast<std::int64_t>(r);
        open.push_back({l, std::move(left)});
        open.push_back({r, std::move(right)});
    }
    return tree;
}

// What the searches of all rows found, as numbers that can be compared.
std::vector<double> search_sets(const Projection& projection, const Rows& rows, std::size_t n_threads) {
    SearchOptions options;
    options.pi = 0.5;
    options.min_node_size = kLeast;
    std::vector<SearchResult> results(rows.size());
    StopFlag stop{false};
    const auto make_worker = [&] {
        const auto view = std::make_shared<RowView<std::uint64_t>>(projection, kLeast);
        const auto search = std::make_shared<Search<std::uint64_t>>(projection, options, *view);
        return [&, view, search](std::size_t i) { results[i] = search->run(rows, i, stop); };
    };
    for_each_row(rows.size(), n_threads, stop, make_worker, [](std::size_t) {}, 2);
    std::vector<double> out;
    for (const SearchResult& result : results) {
        for (const ScoredSet& set : result.at_level.sufficient) {
            out.push_back(static_cast<double>(static_cast<std::uint64_t>(set.variables)));
            out.push_back(set.sdp);
        }
        out.push_back(result.at_level.best.sdp);
    }
    return out;
}

std::vector<double> search_rules(const SetCells& cells, const Rows& rows, std::size_t n_threads) {
    RuleOptions options;
    options.pi = 0.4;
    options.everywhere = true;
    std::vector<RuleResult> results(rows.size());
    StopFlag stop{false};
    const auto make_worker = [&] {
        return [&, search = std::make_shared<RuleSearch>(cells, options, stop)](std::size_t i) {
            results[i] = search->run(rows.row(i), rows.outcome(i));
        };
    };
    for_each_row(rows.size(), n_threads, stop, make_worker, [](std::size_t) {}, 2);
    std::vector<double> out;
    for (const RuleResult& result : results) {
        out.push_back(result.sdp);
        out.push_back(result.value);
        for (const CodeInterval& side : result.box) out.push_back(side.lo + 1000.0 * side.hi);
    }
    return out;
}

int run(std::uint64_t seed) {
    draw.seed(seed);
    std::vector<float> X(kRows * kColumns);
    for (float& value : X) value = below(20) ? static_cast<float>(below(30)) : std::numeric_limits<float>::quiet_NaN();
    std::vector<std::uint32_t> y_rank(kRows), lo, hi;
    for (std::size_t i = 0; i < kRows; ++i)
        y_rank[i] = (X[i * kColumns] > 12.0f) != (below(8) == 0) ? 1 : X[i * kColumns + 2] > 20.0f ? 2 : 0;
    lo.assign(y_rank.begin(), y_rank.begin() + kExplained);
    hi = lo;
    std::vector<DrawnTree> drawn;
    for (std::size_t t = 0; t < kTrees; ++t) drawn.push_back(draw_tree(X));
    Forest forest{{X.data(), kRows, kColumns}, {0.0, 1.0, 2.0}, {}};
    for (const DrawnTree& tree : drawn) {
        Sapling sapling{tree.get()};
        sapling.begin(forest.X);
        sapling.finish(forest.X, y_rank, std::vector<std::uint32_t>(kColumns, 0), forest.y_values);
        forest.trees.push_back(std::move(sapling.tree));
    }
    const Rows rows{{X.data(), kExplained, kColumns}, lo, hi};

    std::vector<std::int32_t> variable_of(kColumns);
    for (std::size_t c = 0; c < kColumns; ++c) variable_of[c] = static_cast<std::int32_t>(c);
    const Projection projection = project(forest, variable_of, kColumns, true, 1);
    const std::vector<std::int32_t> numbers{0, 2};
    ForestColumns columns;
    for (const std::int32_t c : numbers) columns.push_back(std::make_shared<const ForestColumn>(forest, c));
    const SetCells cells(projection, numbers, columns, kLeast, {.few = 16, .most = kRows, .enough = 20});

    const std::vector<double> sets = search_sets(projection, rows, 1), rules = search_rules(cells, rows, 1);
    std::vector<int> differs(kThreads, 0);
    std::vector<std::thread> threads;
    for (std::size_t number = 0; number < kThreads; ++number)
        threads.emplace_back([&, number] {
            const bool same = search_sets(projection, rows, 1 + number % 3) == sets &&
                              search_rules(cells, rows, 1 + number % 3) == rules;
            differs[number] = !same;
        });
    for (std::thread& thread : threads) thread.join();
    for (const int one : differs)
        if (one) {
            std::printf("A thread got other answers than the first one.\n");
            return 1;
        }
    std::printf("%zu threads: the same %zu numbers of sets and %zu of rules\n", kThreads, sets.size(), rules.size());
    return 0;
}

}  // namespace
}  // namespace suffice

// The number of cases may be given: `make sanitize` has more of them than the tests.
int main(int n_arguments, char** arguments) {
    const unsigned long n_cases = n_arguments > 1 ? std::strtoul(arguments[1], nullptr, 10) : 1;
    for (unsigned long i = 0; i < n_cases; ++i)
        if (suffice::run(20261117 + i)) return 1;
    return 0;
}
