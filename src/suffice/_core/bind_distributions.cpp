// The distribution of the outcome given some variables: its mean, shares and quantiles.
#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings.hpp"
#include "distribution.hpp"
#include "parallel.hpp"

namespace suffice {
namespace {

using OptionalSets = std::optional<Vector<std::uint64_t>>;

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
nb::ndarray<nb::numpy, double> reduce_rows(const Query& query, std::size_t width, const MakeReduce& make_reduce) {
    std::vector<double> out(query.X.n_rows * width);
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
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
            for_each_row(query.X.n_rows, query.n_threads, stop, make_cell_worker, watcher());
        else
            for_each_row(query.X.n_rows, query.n_threads, stop, make_leaf_worker, watcher(), 8, kFewWalks);
    }
    return to_numpy<double>(std::move(out), {query.X.n_rows, width});
}

nb::ndarray<nb::numpy, double> py_mean(const PyForest& forest, const PyProjection* projection, const FloatMatrix& X,
                                       const OptionalSets& sets, std::size_t min_node_size, std::size_t n_threads) {
    const Query query = query_of(forest, projection, X, sets, min_node_size, n_threads);
    return reduce_rows(query, 1,
                       [&] { return [&](auto& ranks, double* out) { *out = mean(ranks, query.forest.y_values); }; });
}

nb::ndarray<nb::numpy, double> py_cumulative_shares(const PyForest& forest, const PyProjection* projection,
                                                    const FloatMatrix& X, const OptionalSets& sets,
                                                    std::size_t min_node_size, std::size_t n_threads,
                                                    const Vector<std::uint32_t>& end) {
    const Query query = query_of(forest, projection, X, sets, min_node_size, n_threads);
    return reduce_rows(query, end.shape(0),
                       [&] { return [&](auto& ranks, double* out) { cumulative_shares(ranks, span_of(end), out); }; });
}

nb::ndarray<nb::numpy, double> py_quantiles(const PyForest& forest, const PyProjection* projection,
                                            const FloatMatrix& X, const OptionalSets& sets, std::size_t min_node_size,
                                            std::size_t n_threads, const Vector<double>& levels) {
    const Query query = query_of(forest, projection, X, sets, min_node_size, n_threads);
    return reduce_rows(query, levels.shape(0), [&] {
        return [&, quantiles = Quantiles()](auto& ranks, double* out) mutable {
            quantiles(ranks, span_of(levels), query.forest.y_values, out);
        };
    });
}

// The share of the rows with the outcome in the leaves of each row.
nb::ndarray<nb::numpy, double> py_leaf_sdp(const PyForest& forest, const PyRows& rows, std::size_t n_threads) {
    const Rows r = rows.get();
    check_columns(r.X, forest.get().X.n_columns);
    std::vector<double> out(r.size());
    {
        const nb::gil_scoped_release release;
        StopFlag stop{false};
        const auto make_worker = [&] {
            return [&, ranks = LeafRanks(forest.get())](std::size_t i) mutable {
                ranks.set_row(r.row(i));
                out[i] = leaf_sdp(ranks, r.outcome(i));
            };
        };
        for_each_row(r.size(), n_threads, stop, make_worker, watcher(), 8, kFewWalks);
    }
    return to_numpy<double>(std::move(out), {r.size()});
}

}  // namespace

void bind_distributions(nb::module_& m) {
    m.def("leaf_sdp", &py_leaf_sdp, nb::kw_only(), "forest"_a, "rows"_a, "n_threads"_a);
    m.def("mean", &py_mean, nb::kw_only(), "forest"_a, "projection"_a.none(), "X"_a, "sets"_a.none(), "min_node_size"_a,
          "n_threads"_a);
    m.def("cumulative_shares", &py_cumulative_shares, nb::kw_only(), "forest"_a, "projection"_a.none(), "X"_a,
          "sets"_a.none(), "min_node_size"_a, "n_threads"_a, "end"_a);
    m.def("quantiles", &py_quantiles, nb::kw_only(), "forest"_a, "projection"_a.none(), "X"_a, "sets"_a.none(),
          "min_node_size"_a, "n_threads"_a, "levels"_a);
}

}  // namespace suffice
