// The cells of one set, and the search for maximal rules in them.
#include <limits>

#include "bindings.hpp"
#include "distinct_rows.hpp"
#include "parallel.hpp"
#include "rule_search.hpp"
#include "set_cells.hpp"

namespace suffice {
namespace {

void init_cells(SetCells* self, const PyForest& forest, const Vector<std::int32_t>& columns, std::size_t min_node_size,
                bool all_vote, std::size_t n_threads) {
    const Forest& f = forest.get();
    ForestColumns forest_columns;
    for (const std::int32_t c : span_of(columns)) {
        require(c >= 0 && static_cast<std::size_t>(c) < f.X.n_columns, "A column is out of range.");
        forest_columns.push_back(forest.column(c));
    }
    const nb::gil_scoped_release release;
    new (self) SetCells(
        find_set_cells(f, span_of(columns), std::move(forest_columns), min_node_size, all_vote, n_threads, watcher()));
}

// The SDP of every training row for one outcome.
nb::ndarray<nb::numpy, double> row_sdps(const SetCells& cells, std::uint32_t lo, std::uint32_t hi) {
    std::vector<double> out(cells.n_rows());
    {
        const nb::gil_scoped_release release;
        OutcomeShares shares(cells);
        shares.set_outcome({lo, hi});
        const std::vector<double>& sums = shares.sums();
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = sums[cells.points.of_row[i]] / static_cast<double>(cells.trees.size());
    }
    return to_numpy<double>(std::move(out), {cells.n_rows()});
}

// What Python gets: arrays by row, or by row and column of S. Ends are values: low < value <= high.
struct RuleArrays {
    Array exists, sdp, low, high, missing, has_values, support, bound, mean_sdp, is_optimal, holds_everywhere;
};

// The same while it is filled in.
class RuleColumns {
  public:
    RuleColumns(std::size_t n, std::size_t n_columns)
        : n_rows_(n),
          width_(n_columns),
          low_(n * n_columns, -kInfinity),
          high_(n * n_columns, kInfinity),
          missing_(n * n_columns),
          has_values_(n * n_columns),
          rules_(n) {}

    void set_rule(std::size_t i, const RuleResult& rule, const ForestColumns& columns) {
        rules_[i] = &rule;
        if (!rule.exists) return;
        for (std::size_t c = 0; c < width_; ++c) set_side(width_ * i + c, rule.box[c], columns[c]->thresholds);
    }

    RuleArrays to_arrays() && {
        return {.exists = by_row<bool, std::uint8_t>(&RuleResult::exists),
                .sdp = by_row<double, double>(&RuleResult::sdp),
                .low = to_array<float>(std::move(low_), {n_rows_, width_}),
                .high = to_array<float>(std::move(high_), {n_rows_, width_}),
                .missing = to_array<bool>(std::move(missing_), {n_rows_, width_}),
                .has_values = to_array<bool>(std::move(has_values_), {n_rows_, width_}),
                .support = by_row<std::int64_t, std::int64_t>(&RuleResult::support),
                .bound = by_row<double, double>(&RuleResult::bound),
                .mean_sdp = by_row<double, double>(&RuleResult::mean_sdp),
                .is_optimal = by_row<bool, std::uint8_t>(&RuleResult::is_optimal),
                .holds_everywhere = by_row<bool, std::uint8_t>(&RuleResult::holds_everywhere)};
    }

  private:
    static constexpr float kInfinity = std::numeric_limits<float>::infinity();

    template <class As, class T, class Member>
    Array by_row(Member member) const {
        std::vector<T> values;
        for (const RuleResult* rule : rules_) values.push_back(static_cast<T>(rule->*member));
        return to_array<As>(std::move(values), {n_rows_});
    }

    void set_side(std::size_t at, const CodeInterval& side, const std::vector<float>& thresholds) {
        missing_[at] = side.missing;
        if (!side.has_values()) return;
        const float from = side.lo > 0 ? thresholds[side.lo - 1] : -kInfinity;
        const float to = side.hi < thresholds.size() ? thresholds[side.hi] : kInfinity;
        if (!(from < to)) return;  // a threshold at infinity, which separates known from missing values
        has_values_[at] = 1;
        low_[at] = from;
        high_[at] = to;
    }

    std::size_t n_rows_, width_;
    std::vector<float> low_, high_;
    Flags missing_, has_values_;
    std::vector<const RuleResult*> rules_;  // by row
};

// The maximal rule of each row.
RuleArrays find_rules(const SetCells& cells, const PyRows& rows, const RuleOptions& options, std::size_t n_threads,
                      const nb::object& progress) {
    const Rows r = rows.get();
    check_columns(r.X, cells.n_table_columns);
    RuleColumns columns(r.size(), cells.columns.size());
    std::vector<RuleResult> rules;
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        const DistinctRows distinct = find_distinct_rows(r, cells);
        rules.resize(distinct.first.size());
        const auto make_worker = [&] {
            return [&, search = std::make_shared<RuleSearch>(cells, options, stop)](std::size_t i) {
                rules[i] = search->run(r.row(distinct.first[i]), r.outcome(distinct.first[i]));
            };
        };
        for_each_row(rules.size(), n_threads, stop, make_worker, watcher(&progress));
        for (std::size_t i = 0; i < r.size(); ++i) columns.set_rule(i, rules[distinct.of_row[i]], cells.forest_columns);
    }
    return std::move(columns).to_arrays();
}

void init_options(RuleOptions* self, double pi, bool everywhere, bool by_volume, std::size_t max_nodes,
                  std::size_t max_regions) {
    new (self) RuleOptions{
        .pi = pi, .everywhere = everywhere, .by_volume = by_volume, .max_nodes = max_nodes, .max_regions = max_regions};
}

}  // namespace

void bind_rules(nb::module_& m) {
    nb::class_<SetCells>(m, "SetCells")
        .def("__init__", &init_cells, nb::kw_only(), "forest"_a, "columns"_a, "min_node_size"_a, "all_vote"_a = true,
             "n_threads"_a = 1)
        .def_prop_ro("n_bytes", &SetCells::n_bytes);
    m.def("row_sdps", &row_sdps, nb::kw_only(), "cells"_a, "lo"_a, "hi"_a);
    nb::class_<RuleOptions>(m, "RuleOptions")
        .def("__init__", &init_options, nb::kw_only(), "pi"_a, "everywhere"_a, "by_volume"_a, "max_nodes"_a,
             "max_regions"_a = kMaxRegions)
        .def_ro("pi", &RuleOptions::pi)
        .def_ro("everywhere", &RuleOptions::everywhere)
        .def_ro("by_volume", &RuleOptions::by_volume)
        .def_ro("max_nodes", &RuleOptions::max_nodes)
        .def_ro("max_regions", &RuleOptions::max_regions);
    using A = RuleArrays;
    bind_arrays<A>(m, "RuleArrays",
                   {{"exists", &A::exists},
                    {"sdp", &A::sdp},
                    {"low", &A::low},
                    {"high", &A::high},
                    {"missing", &A::missing},
                    {"has_values", &A::has_values},
                    {"support", &A::support},
                    {"bound", &A::bound},
                    {"mean_sdp", &A::mean_sdp},
                    {"is_optimal", &A::is_optimal},
                    {"holds_everywhere", &A::holds_everywhere}});
    m.def("find_rules", &find_rules, nb::kw_only(), "cells"_a, "rows"_a, "options"_a, "n_threads"_a,
          "progress"_a.none() = nb::none());
}

}  // namespace suffice
