// The search for sufficient sets.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "distinct_rows.hpp"
#include "parallel.hpp"
#include "search.hpp"

namespace suffice {
namespace {

template <class Set>
void search_rows(const PyProjection& projection, const Rows& rows, const SearchOptions& options, std::size_t n_threads,
                 const std::function<void(std::size_t)>& watch, std::vector<SearchResult>& results) {
    StopFlag stop{false};
    for_each_view<Set>(projection, options.min_node_size, rows.size(), n_threads, stop, watch, [&](RowView<Set>& view) {
        return [&, search = std::make_shared<Search<Set>>(projection.get(), options, view)](std::size_t i) {
            results[i] = search->run(rows, i, stop);
        };
    });
}

// What Python gets. Row i has the sufficient sets offset[i] ... offset[i + 1] - 1.
struct SearchArrays {
    Array offset, masks, sdps, best_masks, best_sdps, is_complete, level_below;
};

// Each set as two words; bit 0 of the first word stands for variable 0.
Array to_words(const std::vector<WideSet>& sets) {
    std::vector<std::uint64_t> words;
    for (const WideSet set : sets) {
        words.push_back(static_cast<std::uint64_t>(set));
        words.push_back(static_cast<std::uint64_t>(set >> kWordVariables));
    }
    return to_array<std::uint64_t>(std::move(words), {sets.size(), 2});
}

SearchArrays to_arrays(const std::vector<const SearchResult*>& results, FoundSets SearchResult::* level) {
    std::vector<std::int64_t> offset{0};
    std::vector<WideSet> sets, best;
    std::vector<double> sdps;
    for (const SearchResult* result : results) {
        for (const ScoredSet& set : (result->*level).sufficient) {
            sets.push_back(set.variables);
            sdps.push_back(set.sdp);
        }
        offset.push_back(static_cast<std::int64_t>(sets.size()));
        best.push_back((result->*level).best.variables);
    }
    return {.offset = to_array<std::int64_t>(std::move(offset), {results.size() + 1}),
            .masks = to_words(sets),
            .sdps = to_array<double>(std::move(sdps), {sets.size()}),
            .best_masks = to_words(best),
            .best_sdps = array_of<double>(results, [=](const SearchResult& r) { return (r.*level).best.sdp; }),
            .is_complete = array_of<bool>(results, [=](const SearchResult& r) { return (r.*level).is_complete; }),
            .level_below = array_of<double>(results, &SearchResult::level_below)};
}

// The sets at the level, and those below it.
std::pair<SearchArrays, SearchArrays> search(const PyProjection& projection, const PyRows& rows,
                                             const SearchOptions& options, std::size_t n_threads,
                                             const nb::object& progress) {
    const Projection& p = projection.get();
    const Rows r = rows.get();
    check_columns(r.X, p.forest->X.n_columns);
    std::vector<SearchResult> results(r.size());
    {
        const nb::gil_scoped_release release;
        const auto run = p.n_variables <= kWordVariables ? search_rows<std::uint64_t> : search_rows<WideSet>;
        run(projection, r, options, n_threads, watcher(&progress), results);
    }
    std::vector<const SearchResult*> of_row;
    for (const SearchResult& result : results) of_row.push_back(&result);
    return {to_arrays(of_row, &SearchResult::at_level), to_arrays(of_row, &SearchResult::below)};
}

// The first row of each kind, and by row the position of its kind: rows of one kind have the same answers.
std::pair<Array, Array> distinct_rows(const PyProjection& projection, const PyRows& rows) {
    const Rows r = rows.get();
    check_columns(r.X, projection.get().forest->X.n_columns);
    DistinctRows distinct;
    {
        const nb::gil_scoped_release release;
        distinct = find_distinct_rows(r, projection.get());
    }
    const std::size_t n = distinct.first.size();
    return {to_array<std::uint32_t>(std::move(distinct.first), {n}),
            to_array<std::uint32_t>(std::move(distinct.of_row), {r.size()})};
}

void init_options(SearchOptions* self, double pi, std::size_t min_node_size, std::size_t min_size, std::size_t max_size,
                  bool minimal_only, std::uint64_t max_sets, std::size_t n_by_row, std::size_t n_by_paths,
                  std::size_t n_first_trees, bool needs_best, double step, std::size_t many,
                  const Vector<double>& least_sdp, const std::vector<std::pair<double, Vector<double>>>& least_below) {
    require(n_by_paths <= n_by_row, "More variables are chosen by paths than are chosen.");
    const auto as_vector = [](const Vector<double>& values) {
        return std::vector<double>(values.data(), values.data() + values.shape(0));
    };
    new (self) SearchOptions{.pi = pi,
                             .min_node_size = min_node_size,
                             .min_size = min_size,
                             .max_size = max_size,
                             .minimal_only = minimal_only,
                             .max_sets = max_sets,
                             .n_by_row = n_by_row,
                             .n_by_paths = n_by_paths,
                             .n_first_trees = n_first_trees,
                             .least_sdp = as_vector(least_sdp),
                             .needs_best = needs_best,
                             .step = step,
                             .many = many,
                             .least_below = {}};
    for (const auto& [level, least] : least_below) self->least_below.emplace_back(level, as_vector(least));
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<SearchOptions>(m, "SearchOptions")
        .def("__init__", &init_options, nb::kw_only(), "pi"_a, "min_node_size"_a, "min_size"_a, "max_size"_a,
             "minimal_only"_a, "max_sets"_a, "n_by_row"_a, "n_by_paths"_a = 0, "n_first_trees"_a = 0,
             "needs_best"_a = true, "step"_a = 0.0, "many"_a = kMaxVariables, "least_sdp"_a,
             "least_below"_a = std::vector<std::pair<double, Vector<double>>>());
    using A = SearchArrays;
    bind_arrays<A>(m, "SearchArrays",
                   {{"offset", &A::offset},
                    {"masks", &A::masks},
                    {"sdps", &A::sdps},
                    {"best_masks", &A::best_masks},
                    {"best_sdps", &A::best_sdps},
                    {"is_complete", &A::is_complete},
                    {"level_below", &A::level_below}});
    m.def("distinct_rows", &distinct_rows, nb::kw_only(), "projection"_a, "rows"_a);
    m.def("search", &search, nb::kw_only(), "projection"_a, "rows"_a, "options"_a, "n_threads"_a,
          "progress"_a.none() = nb::none());
}

}  // namespace suffice
