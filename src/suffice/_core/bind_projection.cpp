// Projections, rows with outcomes, and what one set says of each row: its SDP, its weights, and the distribution of the
// outcome given the set.
#include <nanobind/stl/optional.h>

#include "bindings.hpp"
#include "distribution.hpp"

namespace suffice {
namespace {

using Doubles = nb::ndarray<nb::numpy, double>;
using Sets = Vector<std::uint64_t>;  // one for each row

// Calls at(view, i, where the numbers of row i go), with one view for each thread. The first dimension of `shape` are
// the rows.
template <class MakeView, class At>
Doubles compute(std::initializer_list<std::size_t> shape, std::size_t n_threads, std::size_t n_inline,
                const MakeView& make_view, const At& at) {
    const std::size_t n = *shape.begin(), width = shape.size() > 1 ? shape.begin()[1] : 1;
    std::vector<double> out(n * width);
    const auto make_worker = [&] {
        return [&, view = make_view()](std::size_t i) mutable { at(view, i, out.data() + width * i); };
    };
    for_each_row_without_gil(n, n_threads, nullptr, make_worker, 8, n_inline);
    return to_numpy<double>(std::move(out), shape);
}

// One number for each row, from its view and its set.
template <class At>
Doubles compute_from_views(const PyProjection& projection, const Matrix& X, const Sets& sets, std::size_t min_node_size,
                           std::size_t n_threads, const At& at) {
    const Projection& p = projection.get();
    check_columns(X, p.forest->X.n_columns);
    check_sets(sets, X.n_rows, p.n_variables);
    std::vector<double> out(X.n_rows);
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        for_each_view<std::uint64_t>(projection, min_node_size, X.n_rows, n_threads, stop, watcher(),
                                     [&](RowView<std::uint64_t>& view) {
                                         view.number_as_projection();
                                         return [&](std::size_t i) { out[i] = at(view, i); };
                                     });
    }
    return to_numpy<double>(std::move(out), {X.n_rows});
}

Doubles sdp(const PyProjection& projection, const PyRows& rows, const Sets& sets, std::size_t min_node_size,
            std::size_t n_threads) {
    const Rows r = rows.get();
    const auto at = [&](RowView<std::uint64_t>& view, std::size_t i) {
        view.set_row(r.row(i), r.outcome(i));
        return view.sdp(sets.data()[i]);
    };
    return compute_from_views(projection, r.X, sets, min_node_size, n_threads, at);
}

// The sum of the squared weights of the training rows.
Doubles squared_weights(const PyProjection& projection, const FloatMatrix& X, const Sets& sets,
                        std::size_t min_node_size, std::size_t n_threads) {
    const Matrix rows = matrix_of(X);
    const auto at = [&](RowView<std::uint64_t>& view, std::size_t i) {
        view.set_row(rows.row(i));
        return view.squared_weights(sets.data()[i]);
    };
    return compute_from_views(projection, rows, sets, min_node_size, n_threads, at);
}

// The share of the rows with the outcome in the leaves of each row.
Doubles leaf_sdp(const PyForest& forest, const PyRows& rows, std::size_t n_threads) {
    const Rows r = rows.get();
    check_columns(r.X, forest.get().X.n_columns);
    const auto at = [&](LeafRanks& ranks, std::size_t i, double* out) {
        ranks.set_row(r.row(i));
        *out = probability(ranks, r.outcome(i));
    };
    return compute({r.size()}, n_threads, kFewWalks, [&] { return LeafRanks(forest.get()); }, at);
}

// Rows of which the values of a set are known; without a projection, all values. Python keeps forest and projection
// alive.
class KnownRows {
  public:
    KnownRows(const PyForest& forest, const PyProjection* projection, FloatMatrix X, std::optional<Sets> sets,
              std::size_t min_node_size)
        : forest_(forest.get()),
          projection_(projection ? &projection->get() : nullptr),
          X_(std::move(X)),
          sets_(std::move(sets)),
          min_node_size_(min_node_size) {
        check_columns(matrix_of(X_), forest_.X.n_columns);
        require((projection != nullptr) == sets_.has_value(), "Sets and a projection go together.");
        if (!projection) return;
        require(projection_->forest == &forest_, "The projection belongs to another forest.");
        check_sets(*sets_, X_.shape(0), projection_->n_variables);
    }

    std::span<const double> y_values() const { return forest_.y_values; }

    // Calls reduce(ranks of row i, out + width i) for every row.
    template <class Reduce>
    Doubles reduce(std::size_t width, std::size_t n_threads, const Reduce& reduce_row) const {
        const Matrix X = matrix_of(X_);
        const auto at = [&](auto& ranks, std::size_t i, double* out) {
            ranks.set_row(X.row(i), sets_ ? sets_->data()[i] : 0);
            reduce_row(ranks, out);
        };
        if (!projection_)
            return compute({X.n_rows, width}, n_threads, kFewWalks, [&] { return LeafRanks(forest_); }, at);
        return compute({X.n_rows, width}, n_threads, 0, [&] { return CellRanks(*projection_, min_node_size_); }, at);
    }

  private:
    const Forest& forest_;
    const Projection* projection_;
    FloatMatrix X_;
    std::optional<Sets> sets_;
    std::size_t min_node_size_;
};

Doubles py_mean(const KnownRows& rows, std::size_t n_threads) {
    return rows.reduce(1, n_threads, [&](auto& ranks, double* out) { *out = mean(ranks, rows.y_values()); });
}

Doubles py_cumulative_shares(const KnownRows& rows, const Vector<std::uint32_t>& end, std::size_t n_threads) {
    return rows.reduce(end.shape(0), n_threads,
                       [&](auto& ranks, double* out) { cumulative_shares(ranks, span_of(end), out); });
}

Doubles py_quantiles(const KnownRows& rows, const Vector<double>& levels, std::size_t n_threads) {
    return rows.reduce(levels.shape(0), n_threads,
                       [&](auto& ranks, double* out) { quantiles(ranks, span_of(levels), rows.y_values(), out); });
}

}  // namespace

void bind_projection(nb::module_& m) {
    nb::class_<PyProjection>(m, "Projection")
        .def(nb::init<const PyForest&, const Vector<std::int32_t>&, std::size_t, bool, std::size_t>(), nb::kw_only(),
             "forest"_a, "variable_of"_a, "n_variables"_a, "all_vote"_a = true, "n_threads"_a = 1,
             nb::keep_alive<1, 2>())
        .def_prop_ro("n_bytes", [](const PyProjection& projection) { return projection.get().n_bytes(); });
    nb::class_<PyRows>(m, "Rows").def(nb::init<FloatMatrix, Vector<std::uint32_t>, Vector<std::uint32_t>>(),
                                      nb::kw_only(), "X"_a, "lo"_a, "hi"_a);
    nb::class_<KnownRows>(m, "KnownRows")
        .def(nb::init<const PyForest&, const PyProjection*, FloatMatrix, std::optional<Sets>, std::size_t>(),
             nb::kw_only(), "forest"_a, "projection"_a.none(), "X"_a, "sets"_a.none(), "min_node_size"_a,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
    m.def("sdp", &sdp, nb::kw_only(), "projection"_a, "rows"_a, "sets"_a, "min_node_size"_a, "n_threads"_a);
    m.def("squared_weights", &squared_weights, nb::kw_only(), "projection"_a, "X"_a, "sets"_a, "min_node_size"_a,
          "n_threads"_a);
    m.def("leaf_sdp", &leaf_sdp, nb::kw_only(), "forest"_a, "rows"_a, "n_threads"_a);
    m.def("mean", &py_mean, nb::kw_only(), "rows"_a, "n_threads"_a);
    m.def("cumulative_shares", &py_cumulative_shares, nb::kw_only(), "rows"_a, "end"_a, "n_threads"_a);
    m.def("quantiles", &py_quantiles, nb::kw_only(), "rows"_a, "levels"_a, "n_threads"_a);
}

}  // namespace suffice
