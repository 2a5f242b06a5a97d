// The cells of one set, and the search for maximal rules in them.
#include <limits>

#include "bindings.hpp"
#include "distinct_rows.hpp"
#include "outcome_shares.hpp"
#include "parallel.hpp"
#include "rule_search.hpp"
#include "set_cells.hpp"

namespace suffice {
namespace {

void init_cells(SetCells* self, const PyForest& forest, const Vector<std::int32_t>& columns, std::size_t min_node_size,
                std::size_t n_threads) {
    const Forest& f = forest.get();
    ForestColumns forest_columns;
    for (const std::int32_t c : span_of(columns)) {
        require(c >= 0 && static_cast<std::size_t>(c) < f.X.n_columns, "A column is out of range.");
        forest_columns.push_back(forest.column(c));
    }
    const nb::gil_scoped_release release;
    new (self)
        SetCells(find_set_cells(f, span_of(columns), std::move(forest_columns), min_node_size, n_threads, watcher()));
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

// The rules of all rows as arrays, by row or by row and column of S. Ends are values: low < value <= high.
struct RuleArrays {
    static constexpr float kInfinity = std::numeric_limits<float>::infinity();

    std::size_t n_rows, width;
    std::vector<float> low, high;
    Flags missing, has_values, exists, is_optimal, holds_everywhere;
    std::vector<double> sdp, bound, mean_sdp;
    std::vector<std::int64_t> support;

    RuleArrays(std::size_t n, std::size_t n_columns)
        : n_rows(n),
          width(n_columns),
          low(n * n_columns, -kInfinity),
          high(n * n_columns, kInfinity),
          missing(n * n_columns),
          has_values(n * n_columns),
          exists(n),
          is_optimal(n),
          holds_everywhere(n),
          sdp(n),
          bound(n),
          mean_sdp(n),
          support(n) {}

    void set_rule(std::size_t i, const RuleResult& rule, const ForestColumns& columns) {
        exists[i] = rule.exists;
        sdp[i] = rule.sdp;
        bound[i] = rule.bound;
        mean_sdp[i] = rule.mean_sdp;
        support[i] = static_cast<std::int64_t>(rule.support);
        is_optimal[i] = rule.is_optimal;
        holds_everywhere[i] = rule.holds_everywhere;
        if (!rule.exists) return;
        for (std::size_t c = 0; c < width; ++c) set_side(width * i + c, rule.box[c], columns[c]->thresholds);
    }

    nb::dict to_dict() && {
        nb::dict out;
        out["exists"] = to_numpy<bool>(std::move(exists), {n_rows});
        out["sdp"] = to_numpy<double>(std::move(sdp), {n_rows});
        out["low"] = to_numpy<float>(std::move(low), {n_rows, width});
        out["high"] = to_numpy<float>(std::move(high), {n_rows, width});
        out["missing"] = to_numpy<bool>(std::move(missing), {n_rows, width});
        out["has_values"] = to_numpy<bool>(std::move(has_values), {n_rows, width});
        out["support"] = to_numpy<std::int64_t>(std::move(support), {n_rows});
        out["bound"] = to_numpy<double>(std::move(bound), {n_rows});
        out["mean_sdp"] = to_numpy<double>(std::move(mean_sdp), {n_rows});
        out["is_optimal"] = to_numpy<bool>(std::move(is_optimal), {n_rows});
        out["holds_everywhere"] = to_numpy<bool>(std::move(holds_everywhere), {n_rows});
        return out;
    }

  private:
    void set_side(std::size_t at, const CodeInterval& side, const std::vector<float>& thresholds) {
        missing[at] = side.missing;
        if (!side.has_values()) return;
        const float from = side.lo > 0 ? thresholds[side.lo - 1] : -kInfinity;
        const float to = side.hi < thresholds.size() ? thresholds[side.hi] : kInfinity;
        if (!(from < to)) return;  // a threshold at infinity, which separates known from missing values
        has_values[at] = 1;
        low[at] = from;
        high[at] = to;
    }
};

// The maximal rule of each row.
nb::dict find_rules(const SetCells& cells, const PyRows& rows, const RuleOptions& options, std::size_t n_threads,
                    const nb::object& progress) {
    const Rows r = rows.get();
    check_columns(r.X, cells.n_table_columns);
    RuleArrays arrays(r.size(), cells.columns.size());
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        const DistinctRows distinct = find_distinct_rows(r, cells);
        std::vector<RuleResult> rules(distinct.first.size());
        const auto make_worker = [&] {
            return [&, search = std::make_shared<RuleSearch>(cells, options, stop)](std::size_t i) {
                rules[i] = search->run(r.row(distinct.first[i]), r.outcome(distinct.first[i]));
            };
        };
        for_each_row(rules.size(), n_threads, stop, make_worker, watcher(&progress));
        for (std::size_t i = 0; i < r.size(); ++i) arrays.set_rule(i, rules[distinct.of_row[i]], cells.forest_columns);
    }
    return std::move(arrays).to_dict();
}

void init_options(RuleOptions* self, double pi, bool everywhere, bool by_volume, std::size_t max_nodes,
                  std::size_t max_regions) {
    new (self) RuleOptions{
        .pi = pi, .everywhere = everywhere, .by_volume = by_volume, .max_nodes = max_nodes, .max_regions = max_regions};
}

}  // namespace

void bind_rules(nb::module_& m) {
    nb::class_<SetCells>(m, "SetCells")
        .def("__init__", &init_cells, nb::kw_only(), "forest"_a, "columns"_a, "min_node_size"_a, "n_threads"_a = 1)
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
    m.def("find_rules", &find_rules, nb::kw_only(), "cells"_a, "rows"_a, "options"_a, "n_threads"_a,
          "progress"_a.none() = nb::none());
}

}  // namespace suffice
