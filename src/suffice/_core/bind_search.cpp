// The search for sufficient sets.
#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "bindings.hpp"
#include "distinct_rows.hpp"
#include "parallel.hpp"
#include "row_alone.hpp"
#include "rows_batched.hpp"
#include "search.hpp"

namespace suffice {
namespace {

// So many rows are given to a thread at a time. Not tuned.
constexpr std::size_t kRowsTogether = 8;

// What all searches of one call share.
struct SearchCall {
    const PyProjection& owner;
    const Rows& rows;
    const SearchOptions& options;
    std::size_t n_threads;
    const std::function<void(std::size_t)>& watch;  // called with the number of rows done
    std::vector<SearchResult>& results;             // by row
};

using RowNumbers = std::span<const std::uint32_t>;

// Searches each of some rows alone.
template <class Set>
void search_alone(const SearchCall& call, RowNumbers numbers, const std::function<void(std::size_t)>& watch) {
    using RowSearch = Search<Set, RowAlone<Set>>;
    StopFlag stop{false};
    // If one thread is enough, the memory of the search before will do.
    const bool is_one = call.n_threads == 1 || numbers.size() <= kRowsTogether;
    auto spare = is_one ? std::static_pointer_cast<RowSearch>(call.owner.spare().take()) : nullptr;
    if (spare && !spare->set_options(call.options)) spare = nullptr;
    const auto make_search = [&] { return std::make_shared<RowSearch>(call.owner.get(), call.options); };
    if (is_one && !spare) spare = make_search();
    const auto make_worker = [&] {
        return [&, search = is_one ? spare : make_search()](std::size_t i) {
            search->run(call.rows, numbers.subspan(i, 1), call.results.data(), stop);
        };
    };
    for_each_row(numbers.size(), is_one ? 1 : call.n_threads, stop, make_worker, watch, kRowsTogether);
    if (is_one) call.owner.spare().put(spare);
}

// Searches some rows in batches.
template <class Set>
void search_batched(const SearchCall& call, const SearchOptions& options, RowNumbers numbers, std::size_t batch_size,
                    const std::function<void(std::size_t)>& watch) {
    const std::size_t n_threads = std::max<std::size_t>(1, call.n_threads);
    const std::size_t n = std::min(batch_size, (numbers.size() + n_threads - 1) / n_threads);
    StopFlag stop{false};
    const auto make_worker = [&] {
        auto search = std::make_shared<Search<Set, RowsBatched<Set>>>(call.owner.get(), options);
        return [&, search](std::size_t batch) {
            const RowNumbers own = numbers.subspan(batch * n, std::min(n, numbers.size() - batch * n));
            search->run(call.rows, own, call.results.data(), stop);
        };
    };
    const auto watch_rows = [&](std::size_t n_batches) { watch(std::min(n_batches * n, numbers.size())); };
    for_each_row(numbers.empty() ? 0 : (numbers.size() + n - 1) / n, n_threads, stop, make_worker, watch_rows, 1);
}

// Searches rows in batches if there are enough of them. Those for which one variable is enough are many and soon done:
// the others are collected first, so that batches are as large as possible.
template <class Set>
void search_rows(const SearchCall& call, std::vector<std::uint32_t> numbers, const BatchPlan& plan) {
    if (plan.batch_size <= 1 || numbers.size() < plan.least_rows) return search_alone<Set>(call, numbers, call.watch);
    const std::size_t n_rows = numbers.size();
    if (call.options.minimal_only && call.options.min_size <= 1 && call.options.max_size > 1) {
        SearchOptions singles = call.options;
        singles.max_size = 1;
        singles.needs_best = false;
        search_batched<Set>(call, singles, numbers, BatchPlan::kMostRows, [&](std::size_t) { call.watch(0); });
        std::erase_if(numbers, [&](std::uint32_t i) { return !call.results[i].sufficient.empty(); });
        for (const std::uint32_t i : numbers) call.results[i] = {};
    }
    const std::size_t n_done = n_rows - numbers.size();
    const auto watch = [&](std::size_t n) { call.watch(n_done + n); };
    if (numbers.size() < plan.least_rows) return search_alone<Set>(call, numbers, watch);
    search_batched<Set>(call, call.options, numbers, plan.batch_size, watch);
}

// What Python gets. Row i has the sufficient sets offset[i] ... offset[i + 1] - 1.
struct SearchArrays {
    Array offset, masks, sdps, best_masks, best_sdps, is_complete;
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

SearchArrays to_arrays(const std::vector<const SearchResult*>& results) {
    std::vector<std::int64_t> offset{0};
    std::vector<WideSet> sets, best;
    std::vector<double> sdps;
    for (const SearchResult* result : results) {
        for (const ScoredSet& set : result->sufficient) {
            sets.push_back(set.variables);
            sdps.push_back(set.sdp);
        }
        offset.push_back(static_cast<std::int64_t>(sets.size()));
        best.push_back(result->best.variables);
    }
    return {.offset = to_array<std::int64_t>(std::move(offset), {results.size() + 1}),
            .masks = to_words(sets),
            .sdps = to_array<double>(std::move(sdps), {sets.size()}),
            .best_masks = to_words(best),
            .best_sdps = array_of<double>(results, [](const SearchResult& r) { return r.best.sdp; }),
            .is_complete = array_of<bool>(results, &SearchResult::is_complete)};
}

SearchArrays search(const PyProjection& projection, const PyRows& rows, SearchOptions options, std::size_t n_threads,
                    const nb::object& progress, bool needs_best, std::size_t batch_size, std::size_t n_first_trees) {
    options.needs_best = needs_best;
    options.n_first_trees = n_first_trees;
    const Projection& p = projection.get();
    const Rows r = rows.get();
    check_columns(r.X, p.forest->X.n_columns);
    std::vector<SearchResult> results(r.size());
    std::vector<const SearchResult*> of_row;
    {
        const nb::gil_scoped_release release;
        BatchPlan plan(p, options);
        if (batch_size > 0) plan.batch_size = batch_size, plan.least_rows = 0;
        const DistinctRows distinct = find_distinct_rows(r, p);
        const std::function<void(std::size_t)> watch = [&, reported = watcher(&progress)](std::size_t n_done) {
            reported(distinct.first.empty() ? 0 : n_done * r.size() / distinct.first.size());
        };
        const SearchCall call{projection, r, options, n_threads, watch, results};
        const auto run = p.n_variables <= kWordVariables ? search_rows<std::uint64_t> : search_rows<WideSet>;
        run(call, distinct.first, plan);
        for (const std::uint32_t i : distinct.of_row) of_row.push_back(&results[distinct.first[i]]);
    }
    return to_arrays(of_row);
}

void init_options(SearchOptions* self, double pi, std::size_t min_node_size, std::size_t min_size, std::size_t max_size,
                  bool minimal_only, std::uint64_t max_sets, std::size_t n_by_row, std::size_t n_by_paths,
                  const Vector<double>& least_sdp) {
    require(n_by_paths <= n_by_row, "More variables are chosen by paths than are chosen.");
    new (self) SearchOptions{.pi = pi,
                             .min_node_size = min_node_size,
                             .min_size = min_size,
                             .max_size = max_size,
                             .minimal_only = minimal_only,
                             .max_sets = max_sets,
                             .n_by_row = n_by_row,
                             .n_by_paths = n_by_paths,
                             .least_sdp = {least_sdp.data(), least_sdp.data() + least_sdp.shape(0)}};
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<SearchOptions>(m, "SearchOptions")
        .def("__init__", &init_options, nb::kw_only(), "pi"_a, "min_node_size"_a, "min_size"_a, "max_size"_a,
             "minimal_only"_a, "max_sets"_a, "n_by_row"_a, "n_by_paths"_a = 0, "least_sdp"_a)
        .def_ro("pi", &SearchOptions::pi)
        .def_ro("min_node_size", &SearchOptions::min_node_size)
        .def_ro("min_size", &SearchOptions::min_size)
        .def_ro("max_size", &SearchOptions::max_size)
        .def_ro("minimal_only", &SearchOptions::minimal_only)
        .def_ro("max_sets", &SearchOptions::max_sets)
        .def_ro("n_by_row", &SearchOptions::n_by_row);
    using A = SearchArrays;
    bind_arrays<A>(m, "SearchArrays",
                   {{"offset", &A::offset},
                    {"masks", &A::masks},
                    {"sdps", &A::sdps},
                    {"best_masks", &A::best_masks},
                    {"best_sdps", &A::best_sdps},
                    {"is_complete", &A::is_complete}});
    m.def("search", &search, nb::kw_only(), "projection"_a, "rows"_a, "options"_a, "n_threads"_a,
          "progress"_a.none() = nb::none(), "needs_best"_a = true, "batch_size"_a = 0, "n_first_trees"_a = 0);
}

}  // namespace suffice
