// The search for sufficient sets.
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "bindings.hpp"
#include "distinct_rows.hpp"
#include "lockstep_search.hpp"
#include "parallel.hpp"
#include "search.hpp"

namespace suffice {
namespace {

// So many rows are given to a thread at a time.
constexpr std::size_t kRowsTogether = 8;
// From this many rows on, it is worth looking which of them no split tells apart.
constexpr std::size_t kManyRows = 100;

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
    const Projection& projection = call.owner.get();
    StopFlag stop{false};
    // One thread is enough, and single variables are not kept: the memory of the search before will do.
    const bool are_few =
        numbers.size() <= kRowsTogether || (call.n_threads == 1 && numbers.size() < Search<Set>::kManyRows);
    auto spare = are_few ? std::static_pointer_cast<Search<Set>>(call.owner.spare().take()) : nullptr;
    if (spare && !spare->set_options(call.options)) spare = nullptr;
    if (are_few && !spare) spare = std::make_shared<Search<Set>>(projection, call.options, numbers.size());
    const auto make_worker = [&] {
        auto search = are_few ? spare : std::make_shared<Search<Set>>(projection, call.options, numbers.size());
        return [&, search](std::size_t i) {
            call.results[numbers[i]] = search->run(call.rows.row(numbers[i]), call.rows.outcome(numbers[i]), stop);
        };
    };
    for_each_row(numbers.size(), are_few ? 1 : call.n_threads, stop, make_worker, watch, kRowsTogether);
    if (are_few) call.owner.spare().put(spare);
}

// Searches some rows in step, `n_together` at a time.
template <class Set>
void search_in_step(const SearchCall& call, const SearchOptions& options, RowNumbers numbers, std::size_t n_together,
                    const std::function<void(std::size_t)>& watch) {
    const std::size_t n_threads = std::max<std::size_t>(1, call.n_threads);
    const std::size_t n = std::min(n_together, (numbers.size() + n_threads - 1) / n_threads);
    StopFlag stop{false};
    const auto make_worker = [&] {
        auto search = std::make_shared<LockstepSearch<Set>>(call.owner.get(), options);
        return [&, search](std::size_t part) {
            const RowNumbers own = numbers.subspan(part * n, std::min(n, numbers.size() - part * n));
            search->run(call.rows, own, call.results.data(), stop);
        };
    };
    const auto watch_rows = [&](std::size_t n_parts) { watch(std::min(n_parts * n, numbers.size())); };
    for_each_row(numbers.empty() ? 0 : (numbers.size() + n - 1) / n, n_threads, stop, make_worker, watch_rows, 1);
}

// Searches rows in step if there are enough of them. Those for which one variable is enough are many and soon done: the
// others are collected first, so that as many as possible of them go in step.
template <class Set>
void search_rows(const SearchCall& call, std::vector<std::uint32_t> numbers, const LockstepPlan& plan) {
    if (plan.n_together <= 1 || numbers.size() < plan.least_rows) return search_alone<Set>(call, numbers, call.watch);
    const std::size_t n_rows = numbers.size();
    if (call.options.minimal_only && call.options.min_size <= 1 && call.options.max_size > 1) {
        SearchOptions singles = call.options;
        singles.max_size = 1;
        singles.needs_nearest = false;
        search_in_step<Set>(call, singles, numbers, LockstepPlan::kMostRows, [&](std::size_t) { call.watch(0); });
        std::erase_if(numbers, [&](std::uint32_t i) { return !call.results[i].sufficient.empty(); });
        for (const std::uint32_t i : numbers) call.results[i] = {};
    }
    const std::size_t n_done = n_rows - numbers.size();
    const auto watch = [&](std::size_t n) { call.watch(n_done + n); };
    if (numbers.size() < plan.least_rows) return search_alone<Set>(call, numbers, watch);
    search_in_step<Set>(call, call.options, numbers, plan.n_together, watch);
}

// Appends a set as two words; bit 0 of the first word stands for variable 0.
void append_words(std::vector<std::uint64_t>& words, WideSet set) {
    words.push_back(static_cast<std::uint64_t>(set));
    words.push_back(static_cast<std::uint64_t>(set >> kWordVariables));
}

// The results of all rows as arrays. Row i has the sufficient sets offset[i] ... offset[i + 1] - 1.
struct SearchArrays {
    std::vector<std::int64_t> offset{0};
    std::vector<std::uint64_t> masks, best_masks, nearly_masks;
    std::vector<double> sdps, best_sdps, best_squares, nearly_sdps, nearly_squares;
    Flags is_complete;

    // `of_row` has the position of each row's result.
    SearchArrays(const std::vector<SearchResult>& results, RowNumbers of_row) {
        for (const std::uint32_t position : of_row) {
            const SearchResult& result = results[position];
            for (const ScoredSet& set : result.sufficient) {
                append_words(masks, set.variables);
                sdps.push_back(set.sdp);
            }
            offset.push_back(static_cast<std::int64_t>(sdps.size()));
            append_words(best_masks, result.best.variables);
            best_sdps.push_back(result.best.sdp);
            best_squares.push_back(result.best_squares);
            append_words(nearly_masks, result.nearly.variables);
            nearly_sdps.push_back(result.nearly.sdp);
            nearly_squares.push_back(result.nearly_squares);
            is_complete.push_back(result.is_complete);
        }
    }
};

DistinctRows every_row(std::size_t n_rows) {
    DistinctRows rows;
    rows.first.resize(n_rows);
    std::iota(rows.first.begin(), rows.first.end(), 0u);
    rows.of_row = rows.first;
    return rows;
}

nb::dict search(const PyProjection& projection, const PyRows& rows, SearchOptions options, std::size_t n_threads,
                const nb::object& progress, bool needs_nearest, std::size_t n_together, std::size_t n_first_trees) {
    options.needs_nearest = needs_nearest;
    options.n_first_trees = n_first_trees;
    const Projection& p = projection.get();
    const Rows r = rows.get();
    check_columns(r.X, p.n_columns);
    auto arrays = [&] {
        const nb::gil_scoped_release release;
        LockstepPlan plan(p, options);
        if (n_together > 0) plan.n_together = n_together, plan.least_rows = 0;
        const DistinctRows distinct = r.size() < kManyRows ? every_row(r.size()) : find_distinct_rows(r, p);
        const std::function<void(std::size_t)> watch = [&, reported = watcher(&progress)](std::size_t n_done) {
            reported(distinct.first.empty() ? 0 : n_done * r.size() / distinct.first.size());
        };
        std::vector<SearchResult> results(r.size());
        const SearchCall call{projection, r, options, n_threads, watch, results};
        const auto run = p.n_variables <= kWordVariables ? search_rows<std::uint64_t> : search_rows<WideSet>;
        run(call, distinct.first, plan);
        std::vector<std::uint32_t> of_row(r.size());
        for (std::size_t i = 0; i < of_row.size(); ++i) of_row[i] = distinct.first[distinct.of_row[i]];
        return SearchArrays(results, of_row);
    }();
    const std::size_t n_rows = r.size(), n_sets = arrays.sdps.size();
    nb::dict out;
    out["offset"] = to_numpy<std::int64_t>(std::move(arrays.offset), {n_rows + 1});
    out["masks"] = to_numpy<std::uint64_t>(std::move(arrays.masks), {n_sets, 2});
    out["sdps"] = to_numpy<double>(std::move(arrays.sdps), {n_sets});
    out["best_masks"] = to_numpy<std::uint64_t>(std::move(arrays.best_masks), {n_rows, 2});
    out["best_sdps"] = to_numpy<double>(std::move(arrays.best_sdps), {n_rows});
    out["best_squares"] = to_numpy<double>(std::move(arrays.best_squares), {n_rows});
    out["nearly_masks"] = to_numpy<std::uint64_t>(std::move(arrays.nearly_masks), {n_rows, 2});
    out["nearly_sdps"] = to_numpy<double>(std::move(arrays.nearly_sdps), {n_rows});
    out["nearly_squares"] = to_numpy<double>(std::move(arrays.nearly_squares), {n_rows});
    out["is_complete"] = to_numpy<bool>(std::move(arrays.is_complete), {n_rows});
    return out;
}

void init_options(SearchOptions* self, double pi, std::size_t min_node_size, std::size_t min_size, std::size_t max_size,
                  bool minimal_only, std::uint64_t max_sets, std::size_t n_by_row, const Vector<double>& least_sdp) {
    new (self) SearchOptions{.pi = pi,
                             .min_node_size = min_node_size,
                             .min_size = min_size,
                             .max_size = max_size,
                             .minimal_only = minimal_only,
                             .max_sets = max_sets,
                             .n_by_row = n_by_row,
                             .least_sdp = {least_sdp.data(), least_sdp.data() + least_sdp.shape(0)}};
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<SearchOptions>(m, "SearchOptions")
        .def("__init__", &init_options, nb::kw_only(), "pi"_a, "min_node_size"_a, "min_size"_a, "max_size"_a,
             "minimal_only"_a, "max_sets"_a, "n_by_row"_a, "least_sdp"_a)
        .def_ro("pi", &SearchOptions::pi)
        .def_ro("min_node_size", &SearchOptions::min_node_size)
        .def_ro("min_size", &SearchOptions::min_size)
        .def_ro("max_size", &SearchOptions::max_size)
        .def_ro("minimal_only", &SearchOptions::minimal_only)
        .def_ro("max_sets", &SearchOptions::max_sets)
        .def_ro("n_by_row", &SearchOptions::n_by_row);
    m.def("search", &search, nb::kw_only(), "projection"_a, "rows"_a, "options"_a, "n_threads"_a,
          "progress"_a.none() = nb::none(), "needs_nearest"_a = true, "n_together"_a = 0, "n_first_trees"_a = 0);
}

}  // namespace suffice
