// Runs a job for every row on several threads. Each job writes to a slot of its own, so the number of threads and the
// order of the rows cannot change a bit of the results.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <vector>

namespace suffice {

// Up to this many rows, walks down the trees take less time than starting a thread for them. Where it pays off exactly
// was not measured.
inline constexpr std::size_t kFewWalks = 8;

// Set if the work should end early; long jobs check it.
using StopFlag = std::atomic<bool>;

// Calls make_worker() once per thread, and the workers with all row numbers in [0, n_rows), `batch` at a time (8 by
// default, not tuned). The calling thread calls watch(rows done) every tenth of a second. If that throws, the work
// stops and the caller gets the exception. Up to `n_inline` rows, whose jobs must be short, need no thread and no
// watch: the caller does them itself. If the system starts fewer threads than wanted, those that there are do all rows;
// if it starts none, the caller does.
template <class MakeWorker>
void for_each_row(std::size_t n_rows, std::size_t n_threads, StopFlag& stop, const MakeWorker& make_worker,
                  const std::function<void(std::size_t)>& watch, std::size_t batch = 8, std::size_t n_inline = 0) {
    if (n_rows <= n_inline) {
        auto worker = make_worker();
        for (std::size_t i = 0; i < n_rows; ++i) worker(i);
        return;
    }
    std::atomic<std::size_t> next{0}, done{0};
    const auto run = [&] {
        try {
            auto worker = make_worker();
            for (std::size_t begin; !stop && (begin = next.fetch_add(batch)) < n_rows;)
                for (std::size_t i = begin; !stop && i < std::min(begin + batch, n_rows); ++i) {
                    worker(i);
                    ++done;
                }
        } catch (...) {
            stop = true;
            throw;
        }
    };
    const std::size_t n_useful = std::max<std::size_t>(1, std::min(n_threads, (n_rows + batch - 1) / batch));
    std::vector<std::future<void>> threads;
    try {
        while (threads.size() < n_useful) threads.push_back(std::async(std::launch::async, run));
    } catch (const std::exception&) {  // the limit on threads or on memory is reached
        if (threads.empty()) run();
    }
    std::exception_ptr failure;  // the first one
    const auto attempt = [&](const auto& act) {
        try {
            act();
        } catch (...) {
            stop = true;
            if (!failure) failure = std::current_exception();
        }
    };
    for (std::future<void>& thread : threads) {
        while (thread.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready)
            if (!failure) attempt([&] { watch(done); });
        attempt([&] { thread.get(); });
    }
    if (failure) std::rethrow_exception(failure);
    watch(done);
}

}  // namespace suffice
