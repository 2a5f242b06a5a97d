// What would change the outcome of rows or regions.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "change_search.hpp"

namespace suffice {
namespace {

using FlagMatrix = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Boxes of values, one for each row: low < value <= high.
struct PyBoxes {
    FloatMatrix low, high;
    FlagMatrix has_values, missing;

    void check(std::size_t n, std::size_t n_columns) const {
        const auto fits = [&](const auto& array) { return array.shape(0) == n && array.shape(1) == n_columns; };
        require(fits(low) && fits(high) && fits(has_values) && fits(missing),
                "There must be one box for each row, as wide as the table.");
    }
    ValueBox get(std::size_t i) const {
        ValueBox box(low.shape(1));
        for (std::size_t c = 0; c < box.size(); ++c)
            box[c] = {low(i, c), high(i, c), has_values(i, c) != 0, missing(i, c) != 0};
        return box;
    }
};

// What Python gets: arrays by change, by change and column, or by training row of a change; `is_complete` by row.
struct ChangeArrays {
    Array row, set, cdp, plausibility, bound, mean, probability, is_miss, is_too_rare, low, high, has_values, missing,
        begin, rows, weights, is_complete;
};

ChangeArrays to_arrays(const std::vector<ChangeResult>& results, const std::vector<std::uint64_t>& bit_of) {
    std::vector<const Change*> changes;
    std::vector<std::int64_t> row, begin{0}, rows;
    std::vector<double> weights;
    BoxColumns boxes;
    Flags is_complete;
    for (std::size_t i = 0; i < results.size(); ++i) {
        is_complete.push_back(results[i].is_complete);
        for (const Change& change : results[i].changes) {
            changes.push_back(&change);
            row.push_back(static_cast<std::int64_t>(i));
            auto side = change.box.begin();
            for (const std::uint64_t bit : bit_of) boxes.append(bit & change.set ? *side++ : ValueInterval{});
            rows.insert(rows.end(), change.rows.begin(), change.rows.end());
            weights.insert(weights.end(), change.weights.begin(), change.weights.end());
            begin.push_back(static_cast<std::int64_t>(rows.size()));
        }
    }
    const std::size_t n = changes.size(), width = bit_of.size(), n_rows = rows.size();
    return {.row = to_array<std::int64_t>(std::move(row), {n}),
            .set = array_of<std::uint64_t>(changes, &Change::set),
            .cdp = array_of<double>(changes, &Change::cdp),
            .plausibility = array_of<double>(changes, &Change::plausibility),
            .bound = array_of<double>(changes, &Change::bound),
            .mean = array_of<double>(changes, &Change::mean),
            .probability = array_of<double>(changes, &Change::probability),
            .is_miss = array_of<bool>(changes, &Change::is_miss),
            .is_too_rare = array_of<bool>(changes, &Change::is_too_rare),
            .low = to_array<float>(std::move(boxes.low), {n, width}),
            .high = to_array<float>(std::move(boxes.high), {n, width}),
            .has_values = to_array<bool>(std::move(boxes.has_values), {n, width}),
            .missing = to_array<bool>(std::move(boxes.missing), {n, width}),
            .begin = to_array<std::int64_t>(std::move(begin), {n + 1}),
            .rows = to_array<std::int64_t>(std::move(rows), {n_rows}),
            .weights = to_array<double>(std::move(weights), {n_rows}),
            .is_complete = to_array<bool>(std::move(is_complete), {results.size()})};
}

ChangeSpace space_of(const PyForest& forest, const ChangeOptions& options) {
    const std::size_t n_columns = forest.get().X.n_columns;
    require(options.variable_of.size() == n_columns, "There must be one variable number for each column of the table.");
    ChangeSpace space{forest.get(), forest.y_rank(), 0, {}, {}, ForestColumns(n_columns), {}};
    for (std::size_t c = 0; c < n_columns; ++c) {
        const std::int32_t v = options.variable_of[c];
        require(v < 63, "At most 63 variables may change.");
        space.bit_of.push_back(v < 0 ? kUnchangeable : std::uint64_t{1} << v);
        if (v < 0) continue;
        space.n_variables = std::max(space.n_variables, static_cast<std::size_t>(v) + 1);
        if (!options.everywhere) space.columns[c] = forest.column(static_cast<std::int32_t>(c));
    }
    space.allowed.resize(n_columns);
    for (const auto& [column, values] : options.allowed) {
        require(column < n_columns, "A column is out of range.");
        space.allowed[column] = values;
        std::sort(space.allowed[column].begin(), space.allowed[column].end());
    }
    if (options.everywhere && options.votes)
        for (const DoubleMatrix& values : forest.values()) {
            require(values.shape(1) == space.forest.y_values.size(), "The trees do not vote for classes.");
            space.votes.push_back(values.data());
        }
    return space;
}

// Row i wants the outcomes that have a flag in row target[i] of `wanted`.
ChangeArrays find_changes(const PyForest& forest, const ChangeOptions& options, const PyBoxes& regions,
                          const PyBoxes& limits, const FlagMatrix& wanted, const Vector<std::int32_t>& target,
                          std::size_t n_threads, const nb::object& progress) {
    const ChangeSpace space = space_of(forest, options);
    for (const PyBoxes* boxes : {&regions, &limits}) boxes->check(target.shape(0), space.forest.X.n_columns);
    require(wanted.shape(1) == space.forest.y_values.size(), "`wanted` must have one flag for each outcome.");
    require(options.min_size > 0 && options.n_changes > 0, "`min_size` and `n_changes` must be at least 1.");
    for (const std::int32_t t : span_of(target))
        require(t >= 0 && static_cast<std::size_t>(t) < wanted.shape(0), "A target is out of range.");
    std::vector<ChangeResult> results(target.shape(0));
    StopFlag stop{false};
    const auto make_worker = [&] {
        return [&, search = std::make_shared<ChangeSearch>(space, options, stop)](std::size_t i) {
            const std::uint8_t* flags = wanted.data() + wanted.shape(1) * static_cast<std::size_t>(target.data()[i]);
            results[i] = search->run(flags, regions.get(i), limits.get(i));
        };
    };
    {
        const nb::gil_scoped_release release;
        for_each_row(results.size(), n_threads, stop, make_worker, watcher(&progress), 1);
    }
    return to_arrays(results, space.bit_of);
}

}  // namespace

void bind_changes(nb::module_& m) {
    nb::class_<PyBoxes>(m, "ValueBoxes")
        .def(nb::init<FloatMatrix, FloatMatrix, FlagMatrix, FlagMatrix>(), nb::kw_only(), "low"_a, "high"_a,
             "has_values"_a, "missing"_a);
    nb::class_<ChangeOptions>(m, "ChangeOptions")
        .def(nb::init<std::vector<std::int32_t>, std::vector<std::pair<std::size_t, std::vector<float>>>, double,
                      double, bool, bool, bool, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t,
                      std::size_t, std::size_t>(),
             nb::kw_only(), "variable_of"_a, "allowed"_a, "pi"_a, "min_plausibility"_a, "everywhere"_a, "votes"_a,
             "minimal_only"_a, "min_size"_a, "max_size"_a, "n_changes"_a, "max_sets"_a, "max_nodes"_a, "n_candidates"_a,
             "min_node_size"_a);
    using A = ChangeArrays;
    bind_arrays<A>(m, "ChangeArrays",
                   {{"row", &A::row},
                    {"set", &A::set},
                    {"cdp", &A::cdp},
                    {"plausibility", &A::plausibility},
                    {"bound", &A::bound},
                    {"mean", &A::mean},
                    {"probability", &A::probability},
                    {"is_miss", &A::is_miss},
                    {"is_too_rare", &A::is_too_rare},
                    {"low", &A::low},
                    {"high", &A::high},
                    {"has_values", &A::has_values},
                    {"missing", &A::missing},
                    {"begin", &A::begin},
                    {"rows", &A::rows},
                    {"weights", &A::weights},
                    {"is_complete", &A::is_complete}});
    m.def("find_changes", &find_changes, nb::kw_only(), "forest"_a, "options"_a, "regions"_a, "limits"_a, "wanted"_a,
          "target"_a, "n_threads"_a, "progress"_a.none() = nb::none());
}

}  // namespace suffice
