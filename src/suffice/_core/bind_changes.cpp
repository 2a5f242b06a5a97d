// What would change the outcome of rows or regions.
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

nb::dict to_dict(const Change& change) {
    BoxColumns box;
    for (const ValueInterval& side : change.box) box.append(side);
    nb::dict out;
    out["mask"] = change.set;
    out["low"] = to_array<float>(std::move(box.low), {change.box.size()});
    out["high"] = to_array<float>(std::move(box.high), {change.box.size()});
    out["has_values"] = to_array<bool>(std::move(box.has_values), {change.box.size()});
    out["missing"] = to_array<bool>(std::move(box.missing), {change.box.size()});
    out["cdp"] = change.cdp;
    out["plausibility"] = change.plausibility;
    out["bound"] = change.bound;
    out["mean"] = change.mean;
    out["probability"] = change.probability;
    out["rows"] = to_array<std::int64_t>(std::vector(change.rows), {change.rows.size()});
    out["weights"] = to_array<double>(std::vector(change.weights), {change.rows.size()});
    return out;
}

ChangeSpace space_of(const PyForest& forest, const ChangeOptions& options) {
    const std::size_t n_columns = forest.get().X.n_columns;
    require(options.variable_of.size() == n_columns && options.allowed.size() == n_columns,
            "There must be one variable number and one list of values for each column of the table.");
    ChangeSpace space{forest.get(), forest.y_rank(), 0, {}, ForestColumns(n_columns), {}};
    for (std::size_t c = 0; c < n_columns; ++c) {
        const std::int32_t v = options.variable_of[c];
        require(v < 63, "At most 63 variables may change.");
        space.bit_of.push_back(v < 0 ? kUnchangeable : std::uint64_t{1} << v);
        if (v < 0) continue;
        space.n_variables = std::max(space.n_variables, static_cast<std::size_t>(v) + 1);
        if (!options.everywhere) space.columns[c] = forest.column(static_cast<std::int32_t>(c));
    }
    if (options.everywhere && options.votes)
        for (const DoubleMatrix& values : forest.values()) {
            require(values.shape(1) == space.forest.y_values.size(), "The trees do not vote for classes.");
            space.votes.push_back(values.data());
        }
    return space;
}

// Row i wants the outcomes that have a flag in row target[i] of `wanted`. By row: its changes, the nearest miss or
// None, whether that is too rare only, and whether all sets were searched.
nb::list find_changes(const PyForest& forest, const ChangeOptions& options, const PyBoxes& regions,
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
    nb::list out;
    for (const ChangeResult& result : results) {
        nb::list changes;
        for (const Change& change : result.changes) changes.append(to_dict(change));
        const nb::object miss = result.miss ? nb::object(to_dict(*result.miss)) : nb::none();
        out.append(nb::make_tuple(changes, miss, result.is_too_rare, result.is_complete));
    }
    return out;
}

}  // namespace

void bind_changes(nb::module_& m) {
    nb::class_<PyBoxes>(m, "ValueBoxes")
        .def(nb::init<FloatMatrix, FloatMatrix, FlagMatrix, FlagMatrix>(), nb::kw_only(), "low"_a, "high"_a,
             "has_values"_a, "missing"_a);
    nb::class_<ChangeOptions>(m, "ChangeOptions")
        .def(nb::init<std::vector<std::int32_t>, std::vector<std::vector<float>>, double, double, bool, bool, bool,
                      std::size_t, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t>(),
             nb::kw_only(), "variable_of"_a, "allowed"_a, "pi"_a, "min_plausibility"_a, "everywhere"_a, "votes"_a,
             "minimal_only"_a, "min_size"_a, "max_size"_a, "n_changes"_a, "max_sets"_a, "max_nodes"_a, "n_candidates"_a,
             "min_node_size"_a);
    m.def("find_changes", &find_changes, nb::kw_only(), "forest"_a, "options"_a, "regions"_a, "limits"_a, "wanted"_a,
          "target"_a, "n_threads"_a, "progress"_a.none() = nb::none());
}

}  // namespace suffice
