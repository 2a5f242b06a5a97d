// The core as Python sees it: checks shapes, releases the GIL, delegates.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "distribution.hpp"
#include "forest.hpp"
#include "kernels.hpp"
#include "parallel.hpp"
#include "projection.hpp"
#include "rule_search.hpp"
#include "search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace suffice {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Vector<T>& a) {
    return {a.data(), a.shape(0)};
}
Matrix matrix_of(const Table& X) { return {X.data(), X.shape(0), X.shape(1)}; }

// A NumPy array that owns its memory.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto owner = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owner->data();
    nb::capsule capsule(owner.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {data, shape, capsule};
}

// Called now and then while the threads work: lets Ctrl-C through and tells the progress.
// `progress` is a pointer because the threads run without the GIL, where no Python object may be copied.
std::function<void(std::size_t)> watcher(const nb::object* progress = nullptr) {
    return [progress](std::size_t done) {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (progress && !progress->is_none()) (*progress)(done);
    };
}

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

class PyForest {
  public:
    PyForest(Table X, Vector<std::uint32_t> y_rank, Vector<double> y_values)
        : X_(std::move(X)), y_rank_(std::move(y_rank)) {
        require(y_rank_.shape(0) == X_.shape(0), "`y_rank` must have one entry for each row of `X`.");
        for (const std::uint32_t rank : span_of(y_rank_))
            require(rank < y_values.shape(0), "`y_rank` points outside `y_values`.");
        forest_.X = matrix_of(X_);
        forest_.y_values.assign(y_values.data(), y_values.data() + y_values.shape(0));
    }

    void add_tree(const Vector<std::int64_t>& left, const Vector<std::int64_t>& right,
                  const Vector<std::int64_t>& column, const Vector<double>& threshold,
                  const Vector<std::uint8_t>& missing_go_to_left, const Vector<double>& n_rows,
                  const Vector<std::int32_t>& rows) {
        const TreeArrays arrays{
            span_of(left),   span_of(right), span_of(column), span_of(threshold), span_of(missing_go_to_left),
            span_of(n_rows), span_of(rows)};
        const nb::gil_scoped_release release;
        forest_.trees.push_back(build_tree(arrays, forest_.X, span_of(y_rank_)));
    }

    const Forest& get() const { return forest_; }

    // Computed when a column is first asked for; called with the GIL held.
    std::shared_ptr<const ColumnCodes> codes(std::int32_t column) const {
        auto& codes = codes_[column];
        if (!codes) codes = std::make_shared<const ColumnCodes>(code_column(forest_, column));
        return codes;
    }

  private:
    Table X_;
    Vector<std::uint32_t> y_rank_;
    Forest forest_;
    mutable std::map<std::int32_t, std::shared_ptr<const ColumnCodes>> codes_;
};

class PyProjection {
  public:
    PyProjection(const PyForest& forest, const Vector<std::int32_t>& variable_of, std::size_t n_variables,
                 std::size_t few_rows) {
        const Forest& f = forest.get();
        check_variables(span_of(variable_of), n_variables, f.X.n_columns);
        projection_.n_variables = n_variables;
        projection_.n_columns = f.X.n_columns;
        projection_.forest = &f;
        const nb::gil_scoped_release release;
        for (const Tree& tree : f.trees)
            projection_.trees.push_back(code_tree(tree, f.X, span_of(variable_of), few_rows));
    }
    const Projection& get() const { return projection_; }
    std::size_t n_bytes() const {
        std::size_t n = 0;
        for (const CodedTree& tree : projection_.trees) {
            n += tree.nodes.size() * sizeof(CodedNode) + tree.left_rows.size() * sizeof(std::uint64_t);
            for (const CodedColumn& c : tree.columns) n += c.codes.size() + 2 * c.block_lo.size() + 4 * c.below.size();
        }
        return n;
    }

  private:
    Projection projection_;
};

void check_table(const Table& X, std::size_t n_columns) {
    require(X.shape(1) == n_columns, "`X` has another number of columns than the forest.");
}

void check_sets(const Vector<std::uint64_t>& sets, std::size_t n_rows, std::size_t n_variables) {
    require(sets.shape(0) == n_rows, "There must be one set for each row.");
    require(n_variables <= kWordVariables, "A projection onto more than 64 variables can only be searched.");
    const std::uint64_t outside = n_variables == kWordVariables ? 0 : ~std::uint64_t{0} << n_variables;
    for (const std::uint64_t S : span_of(sets)) require((S & outside) == 0, "A set holds an unknown variable.");
}

nb::ndarray<nb::numpy, double> sdp(const PyProjection& projection, const Table& X, const Vector<std::uint64_t>& sets,
                                   const Vector<std::uint32_t>& lo, const Vector<std::uint32_t>& hi,
                                   std::size_t min_node_size, std::size_t n_threads, const nb::object& progress) {
    const Projection& p = projection.get();
    const Matrix rows = matrix_of(X);
    check_table(X, p.n_columns);
    check_sets(sets, rows.n_rows, p.n_variables);
    require(lo.shape(0) == rows.n_rows && hi.shape(0) == rows.n_rows, "There must be one outcome for each row.");
    std::vector<double> out(rows.n_rows);
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        for_each_row(
            rows.n_rows, n_threads, stop,
            [&] {
                return [&, row = RowView<std::uint64_t>(p)](std::size_t i) mutable {
                    row.set_row(rows.row(i), lo.data()[i], hi.data()[i]);
                    out[i] = row.sdp(sets.data()[i], min_node_size);
                };
            },
            watcher(&progress));
    }
    return to_numpy(std::move(out), {rows.n_rows});
}

template <class Mask>
void search_rows(const Projection& p, const Matrix& X, const std::uint32_t* lo, const std::uint32_t* hi,
                 const SearchOptions& options, std::size_t n_threads, const std::function<void(std::size_t)>& watch,
                 std::vector<SearchResult>& out) {
    StopFlag stop{false};
    for_each_row(
        X.n_rows, n_threads, stop,
        [&] {
            return [&, search = std::make_shared<Search<Mask>>(p, options, stop)](std::size_t i) {
                out[i] = search->run(X.row(i), lo[i], hi[i]);
            };
        },
        watch);
}

// Appends a set as two words, that of the first variables first.
void append_words(std::vector<std::uint64_t>& words, WideSet set) {
    words.push_back(static_cast<std::uint64_t>(set));
    words.push_back(static_cast<std::uint64_t>(set >> kWordVariables));
}

// The sufficient sets of each row, row after row: row i has those from offset[i] to offset[i + 1].
nb::tuple search(const PyProjection& projection, const Table& X, const Vector<std::uint32_t>& lo,
                 const Vector<std::uint32_t>& hi, double pi, std::size_t min_node_size, std::size_t min_size,
                 std::size_t max_size, bool minimal_only, std::uint64_t max_sets, std::size_t n_threads,
                 const nb::object& progress) {
    const Projection& p = projection.get();
    const Matrix rows = matrix_of(X);
    check_table(X, p.n_columns);
    require(lo.shape(0) == rows.n_rows && hi.shape(0) == rows.n_rows, "There must be one outcome for each row.");
    std::vector<SearchResult> results(rows.n_rows);
    std::vector<std::int64_t> offset{0};
    std::vector<std::uint64_t> sets, best_sets;
    std::vector<double> sdps, best_sdps;
    std::vector<std::uint8_t> is_complete;
    {
        const nb::gil_scoped_release release;
        const SearchOptions options{pi, min_node_size, min_size, max_size, minimal_only, max_sets};
        const auto run = p.n_variables <= 16               ? search_rows<std::uint16_t>
                         : p.n_variables <= kWordVariables ? search_rows<std::uint64_t>
                                                           : search_rows<WideSet>;
        run(p, rows, lo.data(), hi.data(), options, n_threads, watcher(&progress), results);
        for (const SearchResult& result : results) {
            for (const ScoredSet& set : result.sufficient) {
                append_words(sets, set.variables);
                sdps.push_back(set.sdp);
            }
            offset.push_back(static_cast<std::int64_t>(sdps.size()));
            append_words(best_sets, result.best.variables);
            is_complete.push_back(result.is_complete);
            best_sdps.push_back(result.best.sdp);
        }
    }
    const std::size_t n = sdps.size();
    return nb::make_tuple(to_numpy(std::move(offset), {rows.n_rows + 1}), to_numpy(std::move(sets), {n, 2}),
                          to_numpy(std::move(sdps), {n}), to_numpy(std::move(best_sets), {rows.n_rows, 2}),
                          to_numpy(std::move(best_sdps), {rows.n_rows}),
                          to_numpy(std::move(is_complete), {rows.n_rows}));
}

// Runs reduce(ranks of row i's distribution, out + width i) for every row: the leaves' without a projection, the
// cells' with one.
template <class MakeReduce>
nb::ndarray<nb::numpy, double> reduce_rows(const PyForest& forest, const PyProjection* projection, const Table& X,
                                           const std::optional<Vector<std::uint64_t>>& sets, std::size_t min_node_size,
                                           std::size_t n_threads, std::size_t width, const MakeReduce& make_reduce) {
    const Forest& f = forest.get();
    const Matrix rows = matrix_of(X);
    check_table(X, f.X.n_columns);
    require((projection != nullptr) == sets.has_value(), "Sets and a projection go together.");
    if (projection) {
        require(projection->get().forest == &f, "The projection belongs to another forest.");
        check_sets(*sets, rows.n_rows, projection->get().n_variables);
    }
    std::vector<double> out(rows.n_rows * width);
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        const auto watch = watcher();
        if (projection)
            for_each_row(
                rows.n_rows, n_threads, stop,
                [&] {
                    return [&, row = CellRanks(projection->get(), min_node_size),
                            reduce = make_reduce()](std::size_t i) mutable {
                        row.set_row(rows.row(i), sets->data()[i]);
                        reduce(row, out.data() + width * i);
                    };
                },
                watch);
        else
            for_each_row(
                rows.n_rows, n_threads, stop,
                [&] {
                    return [&, row = LeafRanks(f), reduce = make_reduce()](std::size_t i) mutable {
                        row.set_row(rows.row(i));
                        reduce(row, out.data() + width * i);
                    };
                },
                watch);
    }
    return to_numpy(std::move(out), {rows.n_rows, width});
}

nb::ndarray<nb::numpy, double> py_mean(const PyForest& forest, const PyProjection* projection, const Table& X,
                                       const std::optional<Vector<std::uint64_t>>& sets, std::size_t min_node_size,
                                       std::size_t n_threads) {
    const auto& y = forest.get().y_values;
    return reduce_rows(forest, projection, X, sets, min_node_size, n_threads, 1,
                       [&] { return [&](auto& row, double* out) { *out = mean(row, y); }; });
}

nb::ndarray<nb::numpy, double> py_shares(const PyForest& forest, const PyProjection* projection, const Table& X,
                                         const std::optional<Vector<std::uint64_t>>& sets, std::size_t min_node_size,
                                         std::size_t n_threads, const Vector<std::uint32_t>& end) {
    return reduce_rows(forest, projection, X, sets, min_node_size, n_threads, end.shape(0),
                       [&] { return [&](auto& row, double* out) { cumulative_shares(row, span_of(end), out); }; });
}

nb::ndarray<nb::numpy, double> py_quantiles(const PyForest& forest, const PyProjection* projection, const Table& X,
                                            const std::optional<Vector<std::uint64_t>>& sets, std::size_t min_node_size,
                                            std::size_t n_threads, const Vector<double>& levels) {
    const auto& y = forest.get().y_values;
    return reduce_rows(forest, projection, X, sets, min_node_size, n_threads, levels.shape(0), [&] {
        return
            [&, quantiles = Quantiles()](auto& row, double* out) mutable { quantiles(row, span_of(levels), y, out); };
    });
}

// By row and tree: the number of the leaf in the arrays that the tree was built from.
nb::ndarray<nb::numpy, std::int32_t> leaves(const PyForest& forest, const Table& X, std::size_t n_threads) {
    const Forest& f = forest.get();
    check_table(X, f.X.n_columns);
    const Matrix rows = matrix_of(X);
    const std::size_t k = f.trees.size();
    std::vector<std::int32_t> out(rows.n_rows * k);
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        for_each_row(
            rows.n_rows, n_threads, stop,
            [&] {
                return [&](std::size_t i) {
                    for (std::size_t t = 0; t < k; ++t)
                        out[i * k + t] = f.trees[t].number[f.trees[t].leaf_at(rows.row(i))];
                };
            },
            watcher());
    }
    return to_numpy(std::move(out), {rows.n_rows, k});
}

class PySetCells {
  public:
    PySetCells(const PyForest& forest, const Vector<std::int32_t>& columns, std::size_t min_node_size,
               std::size_t n_threads) {
        const Forest& f = forest.get();
        std::vector<std::shared_ptr<const ColumnCodes>> codes;
        for (const std::int32_t c : span_of(columns)) {
            require(c >= 0 && static_cast<std::size_t>(c) < f.X.n_columns, "A column is out of range.");
            codes.push_back(forest.codes(c));
        }
        n_columns_ = f.X.n_columns;
        const nb::gil_scoped_release release;
        cells_ = find_set_cells(f, span_of(columns), std::move(codes), min_node_size, n_threads, watcher());
    }
    const SetCells& get() const { return cells_; }
    std::size_t n_bytes() const { return cells_.n_bytes(); }
    std::size_t n_columns() const { return n_columns_; }

  private:
    SetCells cells_;
    std::size_t n_columns_ = 0;
};

// The SDP of every training row for one outcome.
nb::ndarray<nb::numpy, double> row_sdps(const PySetCells& cells, std::uint32_t lo, std::uint32_t hi) {
    std::vector<double> out(cells.get().n_rows);
    {
        const nb::gil_scoped_release release;
        const StopFlag stop{false};
        RuleSearch search(cells.get(), {}, stop);
        search.find_shares(lo, hi);
        const std::vector<double>& sums = search.sums();
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = sums[cells.get().points.of_row[i]] / static_cast<double>(cells.get().trees.size());
    }
    return to_numpy(std::move(out), {cells.get().n_rows});
}

// The maximal rule of each row. Ends are values: low < value <= high.
nb::dict find_rules(const PySetCells& cells, const Table& X, const Vector<std::uint32_t>& lo,
                    const Vector<std::uint32_t>& hi, double pi, bool everywhere, bool by_volume, std::size_t max_nodes,
                    std::size_t max_regions, std::size_t n_threads, const nb::object& progress) {
    const SetCells& c = cells.get();
    const Matrix rows = matrix_of(X);
    check_table(X, cells.n_columns());
    require(lo.shape(0) == rows.n_rows && hi.shape(0) == rows.n_rows, "There must be one outcome for each row.");
    const std::size_t n = rows.n_rows, width = c.columns.size();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::vector<float> low(n * width, -kInfinity), high(n * width, kInfinity);
    std::vector<std::uint8_t> missing(n * width), has_values(n * width), exists(n), is_optimal(n), everywhere_out(n);
    std::vector<double> sdps(n), bounds(n);
    std::vector<std::int64_t> support(n);
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        const RuleOptions options{pi, everywhere, by_volume, max_nodes, max_regions};
        for_each_row(
            n, n_threads, stop,
            [&] {
                return [&, search = std::make_shared<RuleSearch>(c, options, stop)](std::size_t i) {
                    const FoundRule rule = search->run(rows.row(i), lo.data()[i], hi.data()[i]);
                    exists[i] = rule.exists;
                    sdps[i] = rule.sdp;
                    bounds[i] = rule.bound;
                    support[i] = static_cast<std::int64_t>(rule.support);
                    is_optimal[i] = rule.is_optimal;
                    everywhere_out[i] = rule.holds_everywhere;
                    if (!rule.exists) return;
                    for (std::size_t j = 0; j < width; ++j) {
                        const CodeInterval& codes = rule.box[j];
                        missing[width * i + j] = codes.missing;
                        if (!codes.has_values()) continue;
                        const float from = codes.lo > 0 ? c.codes[j]->thresholds[codes.lo - 1] : -kInfinity;
                        const float to =
                            codes.hi < c.codes[j]->thresholds.size() ? c.codes[j]->thresholds[codes.hi] : kInfinity;
                        if (!(from < to))
                            continue;  // above an infinite threshold, which parts missing from known values
                        has_values[width * i + j] = 1;
                        low[width * i + j] = from;
                        high[width * i + j] = to;
                    }
                };
            },
            watcher(&progress));
    }
    nb::dict out;
    out["exists"] = to_numpy(std::move(exists), {n});
    out["sdp"] = to_numpy(std::move(sdps), {n});
    out["low"] = to_numpy(std::move(low), {n, width});
    out["high"] = to_numpy(std::move(high), {n, width});
    out["missing"] = to_numpy(std::move(missing), {n, width});
    out["has_values"] = to_numpy(std::move(has_values), {n, width});
    out["support"] = to_numpy(std::move(support), {n});
    out["bound"] = to_numpy(std::move(bounds), {n});
    out["is_optimal"] = to_numpy(std::move(is_optimal), {n});
    out["holds_everywhere"] = to_numpy(std::move(everywhere_out), {n});
    return out;
}

}  // namespace
}  // namespace suffice

NB_MODULE(_core, m) {
    using namespace suffice;
    m.doc() = "The core of suffice: arrays in, arrays out.";

    // Off, since other libraries leak too: one that keeps an exception keeps all callers with what they hold, and at
    // the end people would read of a fault in these bindings. Tests switch it on.
    nb::set_leak_warnings(false);
    m.def("set_leak_warnings", nb::set_leak_warnings, "is_on"_a);

    nb::class_<PyForest>(m, "Forest")
        .def(nb::init<Table, Vector<std::uint32_t>, Vector<double>>(), "X"_a, "y_rank"_a, "y_values"_a)
        .def("add_tree", &PyForest::add_tree, "left"_a, "right"_a, "column"_a, "threshold"_a, "missing_go_to_left"_a,
             "n_rows"_a, "rows"_a);
    nb::exception<OtherTable>(m, "OtherTableError", PyExc_ValueError);

    nb::class_<PyProjection>(m, "Projection")
        .def(nb::init<const PyForest&, const Vector<std::int32_t>&, std::size_t, std::size_t>(), "forest"_a,
             "variable_of"_a, "n_variables"_a, "few_rows"_a = kFewRows, nb::keep_alive<1, 2>())
        .def_prop_ro("n_bytes", &PyProjection::n_bytes);

    m.def("leaves", &leaves, "forest"_a, "X"_a, "n_threads"_a);
    m.def("sdp", &sdp, "projection"_a, "X"_a, "sets"_a, "lo"_a, "hi"_a, "min_node_size"_a, "n_threads"_a,
          "progress"_a.none());
    m.def("search", &search, "projection"_a, "X"_a, "lo"_a, "hi"_a, "pi"_a, "min_node_size"_a, "min_size"_a,
          "max_size"_a, "minimal_only"_a, "max_sets"_a, "n_threads"_a, "progress"_a.none());
    m.def("mean", &py_mean, "forest"_a, "projection"_a.none(), "X"_a, "sets"_a.none(), "min_node_size"_a,
          "n_threads"_a);
    m.def("cumulative_shares", &py_shares, "forest"_a, "projection"_a.none(), "X"_a, "sets"_a.none(), "min_node_size"_a,
          "n_threads"_a, "end"_a);
    m.def("quantiles", &py_quantiles, "forest"_a, "projection"_a.none(), "X"_a, "sets"_a.none(), "min_node_size"_a,
          "n_threads"_a, "levels"_a);
    nb::class_<PySetCells>(m, "SetCells")
        .def(nb::init<const PyForest&, const Vector<std::int32_t>&, std::size_t, std::size_t>(), "forest"_a,
             "columns"_a, "min_node_size"_a, "n_threads"_a = 1)
        .def_prop_ro("n_bytes", &PySetCells::n_bytes);
    m.def("row_sdps", &row_sdps, "cells"_a, "lo"_a, "hi"_a);
    m.def("find_rules", &find_rules, "cells"_a, "X"_a, "lo"_a, "hi"_a, "pi"_a, "everywhere"_a, "by_volume"_a,
          "max_nodes"_a, "max_regions"_a, "n_threads"_a, "progress"_a.none());
    m.def("kernel_names", &kernel_names);
    m.def("use_kernels", &use_kernels, "name"_a);
}
