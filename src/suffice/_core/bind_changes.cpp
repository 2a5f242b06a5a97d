// What would change the outcome of rows or regions.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "change_search.hpp"
#include "parallel.hpp"

namespace suffice {
namespace {

using FlagMatrix = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Boxes of values, one for each row: low < value <= high.
class PyBoxes {
  public:
    PyBoxes(FloatMatrix low, FloatMatrix high, FlagMatrix has_values, FlagMatrix missing)
        : low_(std::move(low)),
          high_(std::move(high)),
          has_values_(std::move(has_values)),
          missing_(std::move(missing)) {
        const std::size_t n = low_.shape(0), d = low_.shape(1);
        require(high_.shape(0) == n && has_values_.shape(0) == n && missing_.shape(0) == n && high_.shape(1) == d &&
                    has_values_.shape(1) == d && missing_.shape(1) == d,
                "The arrays of boxes must have one shape.");
    }
    std::size_t size() const { return low_.shape(0); }
    std::size_t n_columns() const { return low_.shape(1); }
    ValueBox box(std::size_t i) const {
        ValueBox out(n_columns());
        for (std::size_t c = 0; c < out.size(); ++c) {
            const std::size_t at = i * out.size() + c;
            out[c] = {low_.data()[at], high_.data()[at], has_values_.data()[at] != 0, missing_.data()[at] != 0};
        }
        return out;
    }

  private:
    FloatMatrix low_, high_;
    FlagMatrix has_values_, missing_;
};

// What Python gets: arrays by change, by change and column, or by training row of a change.
struct ChangeArrays {
    Array row, set, cdp, plausibility, bound, mean, probability, low, high, has_values, missing, begin, rows, weights;
};

// The changes of all rows, and the nearest misses of rows without a change.
struct FoundChanges {
    ChangeArrays changes, misses;
    Array is_too_rare;  // by miss
    Array is_complete;  // by row
};

// Changes and their rows, while they are collected.
class ChangeColumns {
  public:
    explicit ChangeColumns(const ChangeSpace& space) : space_(space) {}

    void append(std::size_t i, const Change& change) {
        row_.push_back(static_cast<std::int64_t>(i));
        changes_.push_back(&change);
        std::size_t next = 0;
        for (const std::uint64_t bit : space_.bit_of) {
            const bool changes = bit != kUnchangeable && (bit & change.set);
            boxes_.append(changes ? change.box[next++] : ValueInterval{});
        }
        rows_.insert(rows_.end(), change.rows.begin(), change.rows.end());
        weights_.insert(weights_.end(), change.weights.begin(), change.weights.end());
        begin_.push_back(static_cast<std::int64_t>(rows_.size()));
    }

    ChangeArrays to_arrays() && {
        const std::size_t n = row_.size(), n_rows = rows_.size(), width = space_.bit_of.size();
        return {.row = to_array<std::int64_t>(std::move(row_), {n}),
                .set = array_of<std::uint64_t>(changes_, &Change::set),
                .cdp = array_of<double>(changes_, &Change::cdp),
                .plausibility = array_of<double>(changes_, &Change::plausibility),
                .bound = array_of<double>(changes_, &Change::bound),
                .mean = array_of<double>(changes_, &Change::mean),
                .probability = array_of<double>(changes_, &Change::probability),
                .low = to_array<float>(std::move(boxes_.low), {n, width}),
                .high = to_array<float>(std::move(boxes_.high), {n, width}),
                .has_values = to_array<bool>(std::move(boxes_.has_values), {n, width}),
                .missing = to_array<bool>(std::move(boxes_.missing), {n, width}),
                .begin = to_array<std::int64_t>(std::move(begin_), {n + 1}),
                .rows = to_array<std::int64_t>(std::move(rows_), {n_rows}),
                .weights = to_array<double>(std::move(weights_), {n_rows})};
    }

  private:
    const ChangeSpace& space_;
    std::vector<const Change*> changes_;
    std::vector<std::int64_t> row_, begin_{0}, rows_;
    BoxColumns boxes_;
    std::vector<double> weights_;
};

// What may change in a forest, and how it is searched. Python keeps the forest alive.
struct PyChangeSpace {
    const PyForest& forest;
    ChangeSpace space;
};

void init_space(PyChangeSpace* self, const PyForest& forest, const Vector<std::int32_t>& variable_of,
                std::size_t n_variables, const std::vector<std::pair<std::int32_t, std::vector<float>>>& allowed,
                std::size_t n_candidates, std::size_t min_node_size) {
    const Forest& f = forest.get();
    require(n_variables < 64, "At most 63 variables may change.");
    require(variable_of.shape(0) == f.X.n_columns, "There must be one variable number for each column of the table.");
    ChangeSpace space{f, forest.y_rank(), {}, {}, {}, {}, 0, n_candidates, min_node_size};
    for (const DoubleMatrix& values : forest.values()) {
        space.values.push_back(values.data());
        space.n_values = values.shape(1);
    }
    space.columns.resize(n_variables);
    space.allowed.resize(f.X.n_columns);
    for (std::size_t c = 0; c < f.X.n_columns; ++c) {
        const std::int32_t v = variable_of.data()[c];
        require(v < static_cast<std::int32_t>(n_variables), "A variable number is out of range.");
        space.bit_of.push_back(v < 0 ? kUnchangeable : std::uint64_t{1} << v);
        if (v >= 0) space.columns[static_cast<std::size_t>(v)].push_back(static_cast<std::int32_t>(c));
    }
    for (const auto& [column, values] : allowed) {
        require(column >= 0 && static_cast<std::size_t>(column) < f.X.n_columns, "A column is out of range.");
        std::vector<float>& of_column = space.allowed[static_cast<std::size_t>(column)];
        of_column = values;
        std::sort(of_column.begin(), of_column.end());
    }
    new (self) PyChangeSpace{forest, std::move(space)};
}

FoundChanges find_changes(const PyChangeSpace& changeable, const PyBoxes& regions, const PyBoxes& limits,
                          const FlagMatrix& wanted, const Vector<std::int32_t>& target, const ChangeOptions& options,
                          std::size_t n_threads, const nb::object& progress) {
    const ChangeSpace& space = changeable.space;
    const Forest& f = space.forest;
    const std::size_t n = regions.size();
    require(limits.size() == n && target.shape(0) == n, "There must be one target and one limit for each row.");
    require(regions.n_columns() == f.X.n_columns && limits.n_columns() == f.X.n_columns,
            "The boxes have another number of columns than the forest.");
    require(wanted.shape(1) == f.y_values.size(), "`wanted` must have one flag for each outcome.");
    require(!options.votes || space.n_values == wanted.shape(1), "The trees do not vote for classes.");
    for (const std::int32_t t : span_of(target))
        require(t >= 0 && static_cast<std::size_t>(t) < wanted.shape(0), "A target is out of range.");
    ForestColumns forest_columns(f.X.n_columns);
    if (!options.everywhere)
        for (std::size_t c = 0; c < f.X.n_columns; ++c)
            if (space.bit_of[c] != kUnchangeable)
                forest_columns[c] = changeable.forest.column(static_cast<std::int32_t>(c));
    ChangeColumns changes(space), misses(space);
    std::vector<ChangeResult> results(n);
    Flags is_complete(n), is_too_rare;
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        const auto make_worker = [&] {
            return [&, search = std::make_shared<ChangeSearch>(space, forest_columns, options, stop)](std::size_t i) {
                const std::size_t first = wanted.shape(1) * static_cast<std::size_t>(target.data()[i]);
                results[i] = search->run(wanted.data() + first, regions.box(i), limits.box(i));
            };
        };
        for_each_row(n, n_threads, stop, make_worker, watcher(&progress), 1);
        for (std::size_t i = 0; i < n; ++i) {
            for (const Change& change : results[i].changes) changes.append(i, change);
            is_complete[i] = results[i].is_complete;
            if (!results[i].miss) continue;
            misses.append(i, *results[i].miss);
            is_too_rare.push_back(results[i].is_too_rare);
        }
    }
    const std::size_t n_misses = is_too_rare.size();
    return {std::move(changes).to_arrays(), std::move(misses).to_arrays(),
            to_array<bool>(std::move(is_too_rare), {n_misses}), to_array<bool>(std::move(is_complete), {n})};
}

void init_options(ChangeOptions* self, double pi, double min_plausibility, const std::string& check, bool minimal_only,
                  std::size_t min_size, std::size_t max_size, std::size_t n_changes, std::size_t max_sets,
                  std::size_t max_nodes) {
    require(check == "mean" || check == "everywhere" || check == "votes", "`check` is no known reading.");
    require(min_size > 0 && max_size > 0 && n_changes > 0, "Sizes and `n_changes` must be at least 1.");
    new (self) ChangeOptions{.pi = pi,
                             .min_plausibility = min_plausibility,
                             .everywhere = check != "mean",
                             .votes = check == "votes",
                             .minimal_only = minimal_only,
                             .min_size = min_size,
                             .max_size = max_size,
                             .n_changes = n_changes,
                             .max_sets = max_sets,
                             .max_nodes = max_nodes};
}

}  // namespace

void bind_changes(nb::module_& m) {
    nb::class_<PyBoxes>(m, "ValueBoxes")
        .def(nb::init<FloatMatrix, FloatMatrix, FlagMatrix, FlagMatrix>(), nb::kw_only(), "low"_a, "high"_a,
             "has_values"_a, "missing"_a);
    nb::class_<ChangeOptions>(m, "ChangeOptions")
        .def("__init__", &init_options, nb::kw_only(), "pi"_a, "min_plausibility"_a, "check"_a, "minimal_only"_a,
             "min_size"_a, "max_size"_a, "n_changes"_a, "max_sets"_a, "max_nodes"_a);
    nb::class_<PyChangeSpace>(m, "ChangeSpace")
        .def("__init__", &init_space, nb::kw_only(), "forest"_a, "variable_of"_a, "n_variables"_a, "allowed"_a,
             "n_candidates"_a, "min_node_size"_a, nb::keep_alive<1, 2>());
    using A = ChangeArrays;
    bind_arrays<A>(m, "ChangeArrays",
                   {{"row", &A::row},
                    {"set", &A::set},
                    {"cdp", &A::cdp},
                    {"plausibility", &A::plausibility},
                    {"bound", &A::bound},
                    {"mean", &A::mean},
                    {"probability", &A::probability},
                    {"low", &A::low},
                    {"high", &A::high},
                    {"has_values", &A::has_values},
                    {"missing", &A::missing},
                    {"begin", &A::begin},
                    {"rows", &A::rows},
                    {"weights", &A::weights}});
    nb::class_<FoundChanges>(m, "FoundChanges")
        .def_ro("changes", &FoundChanges::changes)
        .def_ro("misses", &FoundChanges::misses)
        .def_ro("is_too_rare", &FoundChanges::is_too_rare)
        .def_ro("is_complete", &FoundChanges::is_complete);
    m.def("find_changes", &find_changes, nb::kw_only(), "space"_a, "regions"_a, "limits"_a, "wanted"_a, "target"_a,
          "options"_a, "n_threads"_a, "progress"_a.none() = nb::none());
}

}  // namespace suffice
