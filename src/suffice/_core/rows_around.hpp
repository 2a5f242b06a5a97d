// The training rows that decide the rule of a row x: which of them are good, and which bad ones lie around x
// (docs/method.md, 5.2).
#pragma once

#include "set_cells.hpp"

namespace suffice {

class RowsAround {
  public:
    CodeBoxes good, bad;
    std::size_t n_looked_at = 0;

    // A point is good if its sum of shares reaches `needed`, which is that of `shares`, too.
    RowsAround(const SetCells& cells, OutcomeShares& shares, double needed)
        : cells_(cells), shares_(shares), points_(shares.points), needed_(needed), key_(cells.columns.size()) {}

    void find(const CodeBox& x) {
        x_ = x;
        x_codes_.clear();
        for (const CodeInterval& side : x) x_codes_.push_back(side.missing ? kMissing : side.lo);
        good.clear(x.size());
        bad.clear(x.size());
        seen_.clear();
        if (cells_.has_few_rows())
            look_at_all();
        else
            look_around();
    }

    // The mean SDP of the rows in a good box.
    double mean_sdp(const CodeBox& box) const {
        double sum = 0.0;
        std::size_t n_rows = 0;
        for (const std::uint32_t p : seen_) {
            if (!meet(box, points_.box(p).data())) continue;
            sum += points_.n_rows[p] * points_.sum[p];
            n_rows += points_.n_rows[p];
        }
        return n_rows ? sum / static_cast<double>(n_rows * cells_.voters.size()) : 0.0;
    }

  private:
    static constexpr std::size_t kTogether = 8;   // points that are passed down the trees together; not tuned
    static constexpr std::size_t kMostSides = 6;  // columns that have two sides; not tuned

    void look_at_all() {
        n_looked_at = cells_.n_rows();
        if (points_.size() == 0)
            for (std::size_t k = 0; k < n_looked_at; ++k) ++points_.n_rows[points_.add(read(k))];
        seen_.resize(points_.size());
        std::iota(seen_.begin(), seen_.end(), 0u);
        shares_.add_up(seen_);
        for (const std::uint32_t p : seen_)
            (points_.sum[p] >= needed_ ? good : bad).append(points_.box(p).data(), points_.n_rows[p]);
    }

    // A row with a bad one between itself and x is in no rule, and is passed over.
    void look_around() {
        hidden_.assign(std::size_t{1} << std::min(x_.size(), kMostSides), {});
        const auto [few, most, enough] = cells_.looked_at;
        if (points_.size() > most) points_.clear();
        std::fill(points_.n_rows.begin(), points_.n_rows.end(), 0u);
        const std::size_t limit = std::min(cells_.n_rows(), most);
        std::size_t n_close = 0;
        for (std::size_t begin = 0, end = std::min(few, limit); begin < limit && (begin < few || n_close < enough);
             begin = end, end = std::min(2 * end, limit)) {
            close_.clear();
            for (std::size_t k = begin; k < end; ++k) {
                if (is_hidden(read(k))) continue;
                const std::uint32_t p = points_.add(key_);
                if (points_.n_rows[p]++ == 0) close_.emplace_back(distance_to_x(), p);
            }
            if (begin > 0) n_close += close_.size();
            look_closely();
            n_looked_at = end;
        }
        std::erase_if(seen_, [&](std::uint32_t p) { return is_hidden(points_.copy(p, key_)); });
        for (const std::uint32_t p : seen_) good.append(points_.box(p).data(), points_.n_rows[p]);
    }

    // The nearest first, since they hide most others.
    void look_closely() {
        std::stable_sort(close_.begin(), close_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (auto next = close_.begin(); next != close_.end();) {
            together_.clear();
            for (; next != close_.end() && together_.size() < kTogether; ++next)
                if (!is_hidden(points_.copy(next->second, key_))) together_.push_back(next->second);
            shares_.add_up(together_);
            for (const std::uint32_t p : together_) {
                if (points_.sum[p] >= needed_)
                    seen_.push_back(p);
                else
                    hide_behind(p);
            }
        }
    }

    // Reads the codes of the k-th row.
    const std::vector<std::uint32_t>& read(std::size_t k) {
        for (std::size_t c = 0; c < key_.size(); ++c) key_[c] = cells_.rows[c]->in_order[k];
        return key_;
    }

    // The codes from `lo` on: so many more, and not beyond kMissing, which counts as a code here.
    struct Side {
        std::uint32_t lo, width;
        bool has(std::uint32_t code) const { return code - lo <= width; }
    };

    // All points that have the bad point `p` between themselves and x are a box. Columns have two sides of x each: the
    // box is listed for those sides on which it lies.
    void hide_behind(std::uint32_t p) {
        points_.copy(p, key_);
        bad.append(points_.box(p).data(), points_.n_rows[p]);
        std::vector<Side> box;
        std::size_t above = 0, on_both = 0;
        for (std::size_t c = 0; c < key_.size(); ++c) {
            const std::uint32_t x = x_codes_[c], b = key_[c];
            const bool is_missing = x == kMissing || b == kMissing;
            box.push_back(x == b       ? Side{0, kMissing}
                          : is_missing ? Side{b, 0}
                          : b > x      ? Side{b, kMissing - 1 - b}
                                       : Side{0, b});
            if (c < kMostSides) (b == x ? on_both : above) |= std::size_t{b >= x} << c;
        }
        for (std::size_t part = on_both;; part = (part - 1) & on_both) {
            hidden_[above | part].insert(hidden_[above | part].end(), box.begin(), box.end());
            if (part == 0) break;
        }
    }
    bool is_hidden(const std::vector<std::uint32_t>& key) {
        const std::size_t width = key.size();
        std::size_t above = 0;
        for (std::size_t c = 0; c < std::min(width, kMostSides); ++c) above |= std::size_t{key[c] > x_codes_[c]} << c;
        std::vector<Side>& boxes = hidden_[above];
        for (std::size_t i = 0; i < boxes.size(); i += width) {
            std::size_t c = 0;
            while (c < width && boxes[i + c].has(key[c])) ++c;
            if (c < width) continue;
            // What hides much comes first.
            const std::size_t ahead = i / width / 2 * width;
            if (ahead < i) std::swap_ranges(boxes.data() + i, boxes.data() + i + width, boxes.data() + ahead);
            return true;
        }
        return false;
    }

    // The number of codes to pass in all columns, for the codes read last.
    std::size_t distance_to_x() const {
        std::size_t distance = 0;
        for (std::size_t c = 0; c < x_.size(); ++c) {
            if (x_[c].missing || key_[c] == kMissing)
                distance += x_[c].missing != (key_[c] == kMissing);
            else
                distance += x_[c].lo < key_[c] ? key_[c] - x_[c].lo : x_[c].lo - key_[c];
        }
        return distance;
    }

    const SetCells& cells_;
    OutcomeShares& shares_;
    Points& points_;
    double needed_;
    CodeBox x_;
    std::vector<std::uint32_t> key_;  // the codes of a row
    std::vector<std::uint32_t> x_codes_;
    std::vector<std::vector<Side>> hidden_;  // boxes, by the sides of x that they lie on: one bit for each column
    std::vector<std::uint32_t> seen_;        // the good points, or all
    std::vector<std::uint32_t> together_;
    std::vector<std::pair<std::size_t, std::uint32_t>> close_;  // points, with their distance from x
};

}  // namespace suffice
