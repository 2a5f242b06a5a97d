// The cells of one set, and the search for maximal rules in them.
#include "bindings.hpp"
#include "distinct_rows.hpp"
#include "parallel.hpp"
#include "rule_search.hpp"
#include "set_cells.hpp"

namespace suffice {
namespace {

void init_cells(SetCells* self, const PyForest& forest, const PyProjection& projection,
                const Vector<std::int32_t>& columns, std::size_t min_node_size, const LookedAt& looked_at) {
    const Projection& p = projection.get();
    require(p.forest == &forest.get(), "The projection is that of another forest.");
    ForestColumns forest_columns;
    for (const std::int32_t c : span_of(columns)) {
        const auto column = static_cast<std::size_t>(c);
        require(c >= 0 && column < p.variable_of.size() && p.variable_of[column] != kNoVariable,
                "A column is out of range.");
        forest_columns.push_back(forest.column(c));
    }
    const nb::gil_scoped_release release;
    new (self) SetCells(p, span_of(columns), std::move(forest_columns), min_node_size, looked_at);
}

// What Python gets: arrays by row, or by row and column of S. Ends are values: low < value <= high.
struct RuleArrays {
    Array exists, sdp, low, high, missing, has_values, n_looked_at, value, bound, mean_sdp, is_optimal,
        holds_everywhere;
};

// Rules without a box have nothing in it.
RuleArrays to_arrays(const std::vector<const RuleResult*>& rules, const ForestColumns& columns) {
    BoxColumns boxes;
    for (const RuleResult* rule : rules)
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const CodeInterval& codes = rule->exists ? rule->box[c] : kNothing;
            const ValueInterval side = values_of(codes, columns[c]->thresholds);
            const bool is_empty = !(side.low < side.high);  // at infinity, a threshold separates missing values
            boxes.append(is_empty ? ValueInterval{.has_values = false, .missing = side.missing} : side);
        }
    const std::size_t n = rules.size(), width = columns.size();
    return {.exists = array_of<bool>(rules, &RuleResult::exists),
            .sdp = array_of<double>(rules, &RuleResult::sdp),
            .low = to_array<float>(std::move(boxes.low), {n, width}),
            .high = to_array<float>(std::move(boxes.high), {n, width}),
            .missing = to_array<bool>(std::move(boxes.missing), {n, width}),
            .has_values = to_array<bool>(std::move(boxes.has_values), {n, width}),
            .n_looked_at = array_of<std::int64_t>(rules, &RuleResult::n_looked_at),
            .value = array_of<double>(rules, &RuleResult::value),
            .bound = array_of<double>(rules, &RuleResult::bound),
            .mean_sdp = array_of<double>(rules, &RuleResult::mean_sdp),
            .is_optimal = array_of<bool>(rules, &RuleResult::is_optimal),
            .holds_everywhere = array_of<bool>(rules, &RuleResult::holds_everywhere)};
}

// The maximal rule of each row.
RuleArrays find_rules(const SetCells& cells, const PyRows& rows, const RuleOptions& options, std::size_t n_threads,
                      const nb::object& progress) {
    const Rows r = rows.get();
    check_columns(r.X, cells.forest.X.n_columns);
    std::vector<RuleResult> rules;
    std::vector<const RuleResult*> of_row;
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
        for (const std::uint32_t i : distinct.of_row) of_row.push_back(&rules[i]);
    }
    return to_arrays(of_row, cells.forest_columns);
}

}  // namespace

void bind_rules(nb::module_& m) {
    nb::class_<LookedAt>(m, "LookedAt")
        .def(nb::init<std::size_t, std::size_t, std::size_t>(), nb::kw_only(), "few"_a, "most"_a, "enough"_a);
    nb::class_<SetCells>(m, "SetCells")
        .def("__init__", &init_cells, nb::kw_only(), "forest"_a, "projection"_a, "columns"_a, "min_node_size"_a,
             "looked_at"_a = LookedAt{}, nb::keep_alive<1, 3>())
        .def_prop_ro("n_bytes", &SetCells::n_bytes);
    nb::class_<RuleOptions>(m, "RuleOptions")
        .def(nb::init<double, bool, bool, std::size_t, std::size_t>(), nb::kw_only(), "pi"_a, "everywhere"_a,
             "by_volume"_a, "max_nodes"_a, "max_regions"_a = kMaxRegions);
    using A = RuleArrays;
    bind_arrays<A>(m, "RuleArrays",
                   {{"exists", &A::exists},
                    {"sdp", &A::sdp},
                    {"low", &A::low},
                    {"high", &A::high},
                    {"missing", &A::missing},
                    {"has_values", &A::has_values},
                    {"n_looked_at", &A::n_looked_at},
                    {"value", &A::value},
                    {"bound", &A::bound},
                    {"mean_sdp", &A::mean_sdp},
                    {"is_optimal", &A::is_optimal},
                    {"holds_everywhere", &A::holds_everywhere}});
    m.def("find_rules", &find_rules, nb::kw_only(), "cells"_a, "rows"_a, "options"_a, "n_threads"_a,
          "progress"_a.none() = nb::none());
}

}  // namespace suffice
