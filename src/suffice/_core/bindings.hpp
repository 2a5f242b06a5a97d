// What the bindings share: arrays from and to NumPy, checks, and the objects that Python keeps.
//
// Only bind_*.cpp and module.cpp use nanobind. They check shapes, release the GIL and call the headers. Every argument
// is a keyword in Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "box.hpp"
#include "forest.hpp"
#include "forest_column.hpp"
#include "parallel.hpp"
#include "projection.hpp"
#include "row_view.hpp"
#include "rows.hpp"

namespace nb = nanobind;

namespace suffice {

using namespace nb::literals;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FloatMatrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using DoubleMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Vector<T>& a) {
    return {a.data(), a.shape(0)};
}
inline Matrix matrix_of(const FloatMatrix& X) { return {X.data(), X.shape(0), X.shape(1)}; }

// A NumPy array that owns its memory. Flags are computed as bytes, since several threads may not write to the bits of
// one std::vector<bool>: to_numpy<bool> returns them as an array of bool.
template <class As, class T>
nb::ndarray<nb::numpy, As> to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    static_assert(sizeof(As) == sizeof(T));
    auto owner = std::make_unique<std::vector<T>>(std::move(values));
    void* data = owner->data();
    nb::capsule capsule(owner.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {static_cast<As*>(data), shape, capsule};
}
using Flags = std::vector<std::uint8_t>;

// A NumPy array that is an attribute of a result: made once, and typed in _native.pyi.
using Array = nb::object;

template <class As, class T>
Array to_array(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    return nb::cast(to_numpy<As>(std::move(values), shape));
}

// One number or flag of each result; `get` is a member or a function.
template <class As, class Result, class Get>
Array array_of(const std::vector<const Result*>& results, const Get& get) {
    using Stored = std::conditional_t<std::is_same_v<As, bool>, std::uint8_t, As>;
    std::vector<Stored> values;
    for (const Result* result : results) values.push_back(static_cast<Stored>(std::invoke(get, *result)));
    return to_array<As>(std::move(values), {results.size()});
}

// Boxes of values, side by side, while they are collected.
struct BoxColumns {
    std::vector<float> low, high;
    Flags has_values, missing;

    void append(const ValueInterval& side) {
        low.push_back(side.low);
        high.push_back(side.high);
        has_values.push_back(side.has_values);
        missing.push_back(side.missing);
    }
};

// Makes a class of arrays known to Python, which can read its attributes but not replace them.
template <class T>
void bind_arrays(nb::module_& m, const char* name, std::initializer_list<std::pair<const char*, Array T::*>> arrays) {
    nb::class_<T> bound(m, name);
    for (const auto& [attribute, array] : arrays) bound.def_ro(attribute, array);
}

// A function that is called now and then while the threads work: it lets Ctrl-C through and reports the progress.
// It gets a pointer, because the threads run without the GIL and must not copy a Python object.
inline std::function<void(std::size_t)> watcher(const nb::object* progress = nullptr) {
    return [progress](std::size_t n_done) {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (progress && !progress->is_none()) (*progress)(n_done);
    };
}

// for_each_row (parallel.hpp) without the GIL.
template <class MakeWorker>
void for_each_row_without_gil(std::size_t n_rows, std::size_t n_threads, const nb::object* progress,
                              const MakeWorker& make_worker, std::size_t batch = 8, std::size_t n_inline = 0) {
    const nb::gil_scoped_release release;
    StopFlag stop{false};
    for_each_row(n_rows, n_threads, stop, make_worker, watcher(progress), batch, n_inline);
}

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

inline void check_columns(const Matrix& X, std::size_t n_columns) {
    require(X.n_columns == n_columns, "`X` has another number of columns than the forest.");
}

inline void check_sets(const Vector<std::uint64_t>& sets, std::size_t n_rows, std::size_t n_variables) {
    require(sets.shape(0) == n_rows, "There must be one set for each row.");
    require(n_variables <= kWordVariables, "A projection onto more than 64 variables can only be searched.");
    const std::uint64_t unknown = n_variables == kWordVariables ? 0 : ~std::uint64_t{0} << n_variables;
    for (const std::uint64_t S : span_of(sets)) require((S & unknown) == 0, "A set has an unknown variable.");
}

// A forest, with the arrays that it refers to.
class PyForest {
  public:
    PyForest(FloatMatrix X, Vector<std::uint32_t> y_rank, const Vector<double>& y_values,
             std::vector<std::uint32_t> n_levels)
        : X_(std::move(X)), y_rank_(std::move(y_rank)), n_levels_(std::move(n_levels)) {
        require(n_levels_.empty() || n_levels_.size() == X_.shape(1), "`n_levels` must have one entry a column.");
        require(y_rank_.shape(0) == X_.shape(0), "`y_rank` must have one entry for each row of `X`.");
        for (const std::uint32_t rank : span_of(y_rank_))
            require(rank < y_values.shape(0), "`y_rank` points outside `y_values`.");
        forest_.X = matrix_of(X_);
        forest_.y_values.assign(y_values.data(), y_values.data() + y_values.shape(0));
    }
    // Adds trees, and returns by tree and node how many of its rows are in a leaf. `values` are what their nodes
    // predict; these arrays are kept, and not copied.
    std::vector<std::vector<double>> add_trees(std::vector<Sapling>& saplings, const std::vector<DoubleMatrix>& values,
                                               std::size_t n_threads);
    Votes take_votes() { return std::exchange(votes_, {}); }
    const Forest& get() const { return forest_; }
    // By tree: what its nodes predict, in the order of the arrays that it was built from.
    const std::vector<DoubleMatrix>& values() const { return values_; }
    std::span<const std::uint32_t> y_rank() const { return span_of(y_rank_); }

    // Computed when a set first needs the column. Threads of a Python without a GIL may ask at the same time.
    std::shared_ptr<const ForestColumn> column(std::int32_t number) const {
        const std::lock_guard lock(columns_mutex_);
        auto& column = columns_[number];
        if (!column) column = std::make_shared<const ForestColumn>(forest_, number);
        return column;
    }

  private:
    FloatMatrix X_;
    Vector<std::uint32_t> y_rank_;
    std::vector<std::uint32_t> n_levels_;  // by column: the number of categories, 0 for numbers; or empty
    Forest forest_;
    std::vector<DoubleMatrix> values_;
    Votes votes_;
    mutable std::mutex columns_mutex_;
    mutable std::map<std::int32_t, std::shared_ptr<const ForestColumn>> columns_;
};

// An object that a call leaves for the next one, which then need not get its memory anew: for a single row, that takes
// longer than the search. Calls at the same time have one each.
class Spare {
  public:
    std::shared_ptr<void> take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(object_, nullptr);
    }
    void put(std::shared_ptr<void> object) {
        const std::lock_guard lock(mutex_);
        object_.swap(object);
    }

  private:
    std::mutex mutex_;
    std::shared_ptr<void> object_;
};

// A projection. Python keeps its forest alive.
class PyProjection {
  public:
    PyProjection(const PyForest& forest, const Vector<std::int32_t>& variable_of, std::size_t n_variables,
                 bool all_vote, std::size_t n_threads) {
        const nb::gil_scoped_release release;
        projection_ = project(forest.get(), span_of(variable_of), n_variables, all_vote, n_threads);
    }
    const Projection& get() const { return projection_; }
    Spare& spare() const { return spare_; }  // a RowView

  private:
    Projection projection_;
    mutable Spare spare_;
};

// for_each_row (parallel.hpp) with workers made by make_worker(view).
template <class Set, class MakeWorker>
void for_each_view(const PyProjection& projection, std::size_t min_node_size, std::size_t n_rows, std::size_t n_threads,
                   StopFlag& stop, const std::function<void(std::size_t)>& watch, const MakeWorker& make_worker) {
    constexpr std::size_t kRowsTogether = 8;  // are given to a thread at a time; not tuned
    // If one thread is enough, the view of the call before will do: it may be of the same row.
    const bool is_one = n_threads == 1 || n_rows <= kRowsTogether;
    const auto make_view = [&] { return std::make_shared<RowView<Set>>(projection.get(), min_node_size); };
    auto spare = is_one ? std::static_pointer_cast<RowView<Set>>(projection.spare().take()) : nullptr;
    if (is_one && (!spare || spare->min_node_size() != min_node_size)) spare = make_view();
    const auto make_with_view = [&] {
        const auto view = is_one ? spare : make_view();
        return [view, worker = make_worker(*view)](std::size_t i) { worker(i); };
    };
    for_each_row(n_rows, is_one ? 1 : n_threads, stop, make_with_view, watch, kRowsTogether);
    if (is_one) projection.spare().put(spare);
}

// Rows and the outcome of each, with the arrays that they refer to.
class PyRows {
  public:
    PyRows(FloatMatrix X, Vector<std::uint32_t> lo, Vector<std::uint32_t> hi)
        : X_(std::move(X)), lo_(std::move(lo)), hi_(std::move(hi)) {
        require(lo_.shape(0) == X_.shape(0) && hi_.shape(0) == X_.shape(0), "There must be one outcome for each row.");
    }
    Rows get() const { return {matrix_of(X_), span_of(lo_), span_of(hi_)}; }

  private:
    FloatMatrix X_;
    Vector<std::uint32_t> lo_, hi_;
};

void bind_forest(nb::module_& m);
void bind_projection(nb::module_& m);
void bind_search(nb::module_& m);
void bind_rules(nb::module_& m);
void bind_changes(nb::module_& m);
void bind_prover(nb::module_& m);

}  // namespace suffice
