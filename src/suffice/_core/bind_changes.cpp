// What would change the outcome of rows or regions.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
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

// Changes as arrays: by change, by change and column, or by row of a change.
struct ChangeArrays {
    std::size_t width;
    std::vector<std::int64_t> row;
    std::vector<std::uint64_t> set;
    std::vector<double> cdp, plausibility, bound, mean, probability, weights;
    std::vector<float> low, high;
    Flags has_values, missing;
    std::vector<std::int64_t> begin{0}, rows;

    explicit ChangeArrays(std::size_t n_columns) : width(n_columns) {}

    void append(std::size_t i, const Change& change, const ChangeSpace& space) {
        row.push_back(static_cast<std::int64_t>(i));
        set.push_back(change.set);
        cdp.push_back(change.cdp);
        plausibility.push_back(change.plausibility);
        bound.push_back(change.bound);
        mean.push_back(change.mean);
        probability.push_back(change.probability);
        std::size_t next = 0;
        for (std::size_t c = 0; c < width; ++c) {
            const bool changes = space.bit_of[c] != kUnchangeable && (space.bit_of[c] & change.set);
            const ValueInterval side = changes ? change.box[next++] : ValueInterval{};
            low.push_back(side.low);
            high.push_back(side.high);
            has_values.push_back(side.has_values);
            missing.push_back(side.missing);
        }
        for (const std::uint32_t training_row : change.rows) rows.push_back(training_row);
        weights.insert(weights.end(), change.weights.begin(), change.weights.end());
        begin.push_back(static_cast<std::int64_t>(rows.size()));
    }

    nb::dict to_dict() && {
        const std::size_t n = row.size(), n_rows = rows.size();
        nb::dict out;
        out["row"] = to_numpy<std::int64_t>(std::move(row), {n});
        out["set"] = to_numpy<std::uint64_t>(std::move(set), {n});
        out["cdp"] = to_numpy<double>(std::move(cdp), {n});
        out["plausibility"] = to_numpy<double>(std::move(plausibility), {n});
        out["bound"] = to_numpy<double>(std::move(bound), {n});
        out["mean"] = to_numpy<double>(std::move(mean), {n});
        out["probability"] = to_numpy<double>(std::move(probability), {n});
        out["low"] = to_numpy<float>(std::move(low), {n, width});
        out["high"] = to_numpy<float>(std::move(high), {n, width});
        out["has_values"] = to_numpy<bool>(std::move(has_values), {n, width});
        out["missing"] = to_numpy<bool>(std::move(missing), {n, width});
        out["begin"] = to_numpy<std::int64_t>(std::move(begin), {n + 1});
        out["rows"] = to_numpy<std::int64_t>(std::move(rows), {n_rows});
        out["weights"] = to_numpy<double>(std::move(weights), {n_rows});
        return out;
    }
};

ChangeSpace space_of(const PyForest& forest, const Vector<std::int32_t>& variable_of, std::size_t n_variables,
                     const std::vector<std::pair<std::int32_t, std::vector<float>>>& allowed) {
    const Forest& f = forest.get();
    require(n_variables < 64, "At most 63 variables may change.");
    require(variable_of.shape(0) == f.X.n_columns, "There must be one variable number for each column of the table.");
    ChangeSpace space{f, forest.y_rank(), {}, {}, {}, {}, 0};
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
    return space;
}

// What may change in a forest, and how it is searched. Python keeps the forest alive.
class PyChangeSpace {
  public:
    PyChangeSpace(const PyForest& forest, const Vector<std::int32_t>& variable_of, std::size_t n_variables,
                  const std::vector<std::pair<std::int32_t, std::vector<float>>>& allowed, std::size_t n_candidates,
                  std::size_t min_node_size)
        : forest_(forest),
          space_(space_of(forest, variable_of, n_variables, allowed)),
          n_candidates_(n_candidates),
          min_node_size_(min_node_size) {}
    const PyForest& forest() const { return forest_; }
    const ChangeSpace& get() const { return space_; }
    std::size_t n_candidates() const { return n_candidates_; }
    std::size_t min_node_size() const { return min_node_size_; }

  private:
    const PyForest& forest_;
    ChangeSpace space_;
    std::size_t n_candidates_, min_node_size_;
};

nb::dict find_changes(const PyChangeSpace& changeable, const PyBoxes& regions, const PyBoxes& limits,
                      const FlagMatrix& wanted, const Vector<std::int32_t>& target, ChangeOptions options,
                      std::size_t n_threads, const nb::object& progress) {
    options.n_candidates = changeable.n_candidates();
    options.min_node_size = changeable.min_node_size();
    const PyForest& forest = changeable.forest();
    const ChangeSpace& space = changeable.get();
    const Forest& f = forest.get();
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
            if (space.bit_of[c] != kUnchangeable) forest_columns[c] = forest.column(static_cast<std::int32_t>(c));
    ChangeArrays changes(f.X.n_columns), misses(f.X.n_columns);
    Flags is_complete(n), is_too_rare;
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        std::vector<ChangeResult> results(n);
        const auto make_worker = [&] {
            return [&, search = std::make_shared<ChangeSearch>(space, forest_columns, options, stop)](std::size_t i) {
                search->set_wanted(wanted.data() + wanted.shape(1) * static_cast<std::size_t>(target.data()[i]));
                results[i] = search->run(regions.box(i), limits.box(i));
            };
        };
        for_each_row(n, n_threads, stop, make_worker, watcher(&progress), 1);
        for (std::size_t i = 0; i < n; ++i) {
            for (const Change& change : results[i].changes) changes.append(i, change, space);
            is_complete[i] = results[i].is_complete;
            if (!results[i].has_miss) continue;
            misses.append(i, results[i].miss, space);
            is_too_rare.push_back(results[i].is_too_rare);
        }
    }
    const std::size_t n_misses = is_too_rare.size();
    nb::dict out;
    out["changes"] = std::move(changes).to_dict();
    out["misses"] = std::move(misses).to_dict();
    out["is_too_rare"] = to_numpy<bool>(std::move(is_too_rare), {n_misses});
    out["is_complete"] = to_numpy<bool>(std::move(is_complete), {n});
    return out;
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
        .def(nb::init<const PyForest&, const Vector<std::int32_t>&, std::size_t,
                      const std::vector<std::pair<std::int32_t, std::vector<float>>>&, std::size_t, std::size_t>(),
             nb::kw_only(), "forest"_a, "variable_of"_a, "n_variables"_a, "allowed"_a, "n_candidates"_a,
             "min_node_size"_a, nb::keep_alive<1, 2>());
    m.def("find_changes", &find_changes, nb::kw_only(), "space"_a, "regions"_a, "limits"_a, "wanted"_a, "target"_a,
          "options"_a, "n_threads"_a, "progress"_a.none() = nb::none());
}

}  // namespace suffice
