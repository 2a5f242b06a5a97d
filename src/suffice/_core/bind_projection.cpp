// Projections, rows with outcomes, and what one set says of each row: its SDP, its weights, and the distribution of the
// outcome given the set.
#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings.hpp"
#include "distribution.hpp"
#include "row_view.hpp"

namespace suffice {
namespace {

using Doubles = nb::ndarray<nb::numpy, double>;
using Sets = Vector<std::uint64_t>;  // one for each row
using OptionalSets = std::optional<Sets>;

// One number for each row: at(view, i) computes that of row i.
template <class At>
Doubles for_each_set(const PyProjection& projection, const Matrix& X, const Sets& sets, std::size_t min_node_size,
                     std::size_t n_threads, const nb::object* progress, const At& at) {
    const Projection& p = projection.get();
    check_columns(X, p.forest->X.n_columns);
    check_sets(sets, X.n_rows, p.n_variables);
    std::vector<double> out(X.n_rows);
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        for_each_view<std::uint64_t>(projection, min_node_size, X.n_rows, n_threads, stop, watcher(progress),
                                     [&](RowView<std::uint64_t>& view) {
                                         view.number_as_projection();
                                         return [&](std::size_t i) { out[i] = at(view, i); };
                                     });
    }
    return to_numpy<double>(std::move(out), {X.n_rows});
}

Doubles sdp(const PyProjection& projection, const PyRows& rows, const Sets& sets, std::size_t min_node_size,
            std::size_t n_threads, const nb::object& progress) {
    const Rows r = rows.get();
    const auto at = [&](RowView<std::uint64_t>& view, std::size_t i) {
        view.set_row(r.row(i), r.outcome(i));
        return view.sdp(sets.data()[i]);
    };
    return for_each_set(projection, r.X, sets, min_node_size, n_threads, &progress, at);
}

// The sum of the squared weights of the training rows.
Doubles squared_weights(const PyProjection& projection, const FloatMatrix& X, const Sets& sets,
                        std::size_t min_node_size, std::size_t n_threads) {
    const Matrix rows = matrix_of(X);
    const auto at = [&](RowView<std::uint64_t>& view, std::size_t i) {
        view.set_row(rows.row(i));
        return view.squared_weights(sets.data()[i]);
    };
    return for_each_set(projection, rows, sets, min_node_size, n_threads, nullptr, at);
}

// The share of the rows with the outcome in the leaves of each row.
Doubles py_leaf_sdp(const PyForest& forest, const PyRows& rows, std::size_t n_threads) {
    const Rows r = rows.get();
    check_columns(r.X, forest.get().X.n_columns);
    std::vector<double> out(r.size());
    const auto make_worker = [&] {
        return [&, ranks = LeafRanks(forest.get())](std::size_t i) mutable {
            ranks.set_row(r.row(i));
            out[i] = leaf_sdp(ranks, r.outcome(i));
        };
    };
    for_each_row_without_gil(r.size(), n_threads, nullptr, make_worker, 8, kFewWalks);
    return to_numpy<double>(std::move(out), {r.size()});
}

// The rows whose distributions are computed: from the cells of their sets, or from the leaves without a projection.
struct Query {
    const Forest& forest;
    const Projection* projection;
    Matrix X;
    const OptionalSets& sets;
    std::size_t min_node_size;
    std::size_t n_threads;
};

Query query_of(const PyForest& forest, const PyProjection* projection, const FloatMatrix& X, const OptionalSets& sets,
               std::size_t min_node_size, std::size_t n_threads) {
    const Query query{forest.get(), projection ? &projection->get() : nullptr, matrix_of(X), sets, min_node_size,
                      n_threads};
    check_columns(query.X, query.forest.X.n_columns);
    require((projection != nullptr) == sets.has_value(), "Sets and a projection go together.");
    if (projection) {
        require(query.projection->forest == &query.forest, "The projection belongs to another forest.");
        check_sets(*sets, query.X.n_rows, query.projection->n_variables);
    }
    return query;
}

// Calls reduce(ranks of row i, out + width i) for every row.
template <class MakeReduce>
Doubles reduce_rows(const Query& query, std::size_t width, const MakeReduce& make_reduce) {
    std::vector<double> out(query.X.n_rows * width);
    const auto make_cell_worker = [&] {
        return [&, ranks = CellRanks(*query.projection, query.min_node_size),
                reduce = make_reduce()](std::size_t i) mutable {
            ranks.set_row(query.X.row(i), query.sets->data()[i]);
            reduce(ranks, out.data() + width * i);
        };
    };
    const auto make_leaf_worker = [&] {
        return [&, ranks = LeafRanks(query.forest), reduce = make_reduce()](std::size_t i) mutable {
            ranks.set_row(query.X.row(i));
            reduce(ranks, out.data() + width * i);
        };
    };
    if (query.projection)
        for_each_row_without_gil(query.X.n_rows, query.n_threads, nullptr, make_cell_worker);
    else
        for_each_row_without_gil(query.X.n_rows, query.n_threads, nullptr, make_leaf_worker, 8, kFewWalks);
    return to_numpy<double>(std::move(out), {query.X.n_rows, width});
}

Doubles py_mean(const PyForest& forest, const PyProjection* projection, const FloatMatrix& X, const OptionalSets& sets,
                std::size_t min_node_size, std::size_t n_threads) {
    const Query query = query_of(forest, projection, X, sets, min_node_size, n_threads);
    return reduce_rows(query, 1,
                       [&] { return [&](auto& ranks, double* out) { *out = mean(ranks, query.forest.y_values); }; });
}

Doubles py_cumulative_shares(const PyForest& forest, const PyProjection* projection, const FloatMatrix& X,
                             const OptionalSets& sets, std::size_t min_node_size, std::size_t n_threads,
                             const Vector<std::uint32_t>& end) {
    const Query query = query_of(forest, projection, X, sets, min_node_size, n_threads);
    return reduce_rows(query, end.shape(0),
                       [&] { return [&](auto& ranks, double* out) { cumulative_shares(ranks, span_of(end), out); }; });
}

Doubles py_quantiles(const PyForest& forest, const PyProjection* projection, const FloatMatrix& X,
                     const OptionalSets& sets, std::size_t min_node_size, std::size_t n_threads,
                     const Vector<double>& levels) {
    const Query query = query_of(forest, projection, X, sets, min_node_size, n_threads);
    return reduce_rows(query, levels.shape(0), [&] {
        return [&, quantiles = Quantiles()](auto& ranks, double* out) mutable {
            quantiles(ranks, span_of(levels), query.forest.y_values, out);
        };
    });
}

}  // namespace

void bind_projection(nb::module_& m) {
    nb::class_<PyProjection>(m, "Projection")
        .def(nb::init<const PyForest&, const Vector<std::int32_t>&, std::size_t, bool>(), nb::kw_only(), "forest"_a,
             "variable_of"_a, "n_variables"_a, "all_vote"_a = true, nb::keep_alive<1, 2>())
        .def_prop_ro("n_bytes", [](const PyProjection& projection) { return projection.get().n_bytes(); });
    nb::class_<PyRows>(m, "Rows").def(nb::init<FloatMatrix, Vector<std::uint32_t>, Vector<std::uint32_t>>(),
                                      nb::kw_only(), "X"_a, "lo"_a, "hi"_a);
    m.def("squared_weights", &squared_weights, nb::kw_only(), "projection"_a, "X"_a, "sets"_a, "min_node_size"_a,
          "n_threads"_a);
    m.def("sdp", &sdp, nb::kw_only(), "projection"_a, "rows"_a, "sets"_a, "min_node_size"_a, "n_threads"_a,
          "progress"_a.none() = nb::none());
    m.def("leaf_sdp", &py_leaf_sdp, nb::kw_only(), "forest"_a, "rows"_a, "n_threads"_a);
    m.def("mean", &py_mean, nb::kw_only(), "forest"_a, "projection"_a.none(), "X"_a, "sets"_a.none(), "min_node_size"_a,
          "n_threads"_a);
    m.def("cumulative_shares", &py_cumulative_shares, nb::kw_only(), "forest"_a, "projection"_a.none(), "X"_a,
          "sets"_a.none(), "min_node_size"_a, "n_threads"_a, "end"_a);
    m.def("quantiles", &py_quantiles, nb::kw_only(), "forest"_a, "projection"_a.none(), "X"_a, "sets"_a.none(),
          "min_node_size"_a, "n_threads"_a, "levels"_a);
}

}  // namespace suffice
