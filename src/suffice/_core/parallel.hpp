// Runs a job for every row on some threads. Results go to slots of their own, so the number of threads and the order
// of the rows cannot change a bit of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace suffice {

// Set when the work should end early; jobs that take long look at it.
using StopFlag = std::atomic<bool>;

// Calls make_worker() once a thread and the worker with every row number in [0, n_rows), `batch` at a time. Every tenth
// of a second the calling thread calls watch(rows done); if that throws, the work stops and the exception goes on to
// the caller.
template <class MakeWorker>
void for_each_row(std::size_t n_rows, std::size_t n_threads, StopFlag& stop, const MakeWorker& make_worker,
                  const std::function<void(std::size_t)>& watch, std::size_t batch = 8) {
    std::atomic<std::size_t> next{0}, done{0};
    std::mutex mutex;
    std::condition_variable finished;
    std::size_t n_running = std::max<std::size_t>(1, std::min(n_threads, (n_rows + batch - 1) / batch));
    std::exception_ptr failure;

    const auto run = [&] {
        try {
            auto worker = make_worker();
            for (std::size_t begin; !stop && (begin = next.fetch_add(batch)) < n_rows;)
                for (std::size_t i = begin; !stop && i < std::min(begin + batch, n_rows); ++i) {
                    worker(i);
                    ++done;
                }
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
            stop = true;
        }
        const std::lock_guard lock(mutex);
        --n_running;
        finished.notify_one();
    };

    std::vector<std::thread> threads;
    threads.reserve(n_running);
    for (std::size_t i = n_running; i-- > 0;) threads.emplace_back(run);
    std::exception_ptr interruption;
    for (bool running = true; running;) {
        {
            std::unique_lock lock(mutex);
            running = !finished.wait_for(lock, std::chrono::milliseconds(100), [&] { return n_running == 0; });
        }
        if (interruption) continue;
        try {
            watch(done);
        } catch (...) {
            interruption = std::current_exception();
            stop = true;
        }
    }
    for (std::thread& thread : threads) thread.join();
    if (interruption) std::rethrow_exception(interruption);
    if (failure) std::rethrow_exception(failure);
}

}  // namespace suffice
