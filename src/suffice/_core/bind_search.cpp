// The search for sufficient sets.
#include "bindings.hpp"
#include "parallel.hpp"
#include "search.hpp"

namespace suffice {
namespace {

// So many rows are given to a thread at a time.
constexpr std::size_t kRowsTogether = 8;

template <class Set>
std::vector<SearchResult> search_rows(const PyProjection& owner, const Rows& rows, const SearchOptions& options,
                                      std::size_t n_threads, const std::function<void(std::size_t)>& watch) {
    const Projection& projection = owner.get();
    std::vector<SearchResult> results(rows.size());
    StopFlag stop{false};
    // One thread is enough, and single variables are not kept: the memory of the search before will do.
    const bool are_few = rows.size() <= kRowsTogether || (n_threads == 1 && rows.size() < Search<Set>::kManyRows);
    auto spare = are_few ? std::static_pointer_cast<Search<Set>>(owner.spare().take()) : nullptr;
    if (spare && !spare->set_options(options)) spare = nullptr;
    if (are_few && !spare) spare = std::make_shared<Search<Set>>(projection, options, rows.size());
    const auto make_worker = [&] {
        auto search = are_few ? spare : std::make_shared<Search<Set>>(projection, options, rows.size());
        return [&, search](std::size_t i) { results[i] = search->run(rows.row(i), rows.outcome(i), stop); };
    };
    for_each_row(rows.size(), are_few ? 1 : n_threads, stop, make_worker, watch, kRowsTogether);
    if (are_few) owner.spare().put(spare);
    return results;
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

    explicit SearchArrays(const std::vector<SearchResult>& results) {
        for (const SearchResult& result : results) {
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

nb::dict search(const PyProjection& projection, const PyRows& rows, SearchOptions options, std::size_t n_threads,
                const nb::object& progress, bool needs_nearest) {
    options.needs_nearest = needs_nearest;
    const Projection& p = projection.get();
    const Rows r = rows.get();
    check_columns(r.X, p.n_columns);
    auto arrays = [&] {
        const nb::gil_scoped_release release;
        const auto run = p.n_variables <= kWordVariables ? search_rows<std::uint64_t> : search_rows<WideSet>;
        return SearchArrays(run(projection, r, options, n_threads, watcher(&progress)));
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
          "progress"_a.none() = nb::none(), "needs_nearest"_a = true);
}

}  // namespace suffice
