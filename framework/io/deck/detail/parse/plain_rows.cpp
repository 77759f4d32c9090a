#include <voussoir/framework/io/deck/detail/parse/plain_rows.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#include <voussoir/framework/io/deck/detail/parse/fields.hpp>

namespace voussoir::deck {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 16;

/// Where the line that begins at `at` ends, and where the next one begins.
struct LineEnd {
  const char *end, *next;

  LineEnd(const char* at, const char* text_end) {
    const auto* newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(text_end - at)));
    end = newline ? newline : text_end;
    next = newline ? newline + 1 : text_end;
    while (end != at && is_blank(end[-1])) --end;
  }
};

/// Pieces of the text that begin with a line, those of records of several lines with the first of them.
std::vector<const char*> cut(std::string_view text, std::size_t lines_each) {
  const char *const begin = text.data(), *const end = begin + text.size();
  const std::size_t count = text.size() / chunk_bytes + 1;
  std::vector<const char*> first(count + 1, begin);
  first[count] = end;
  for (std::size_t c = 1; c < count; ++c) first[c] = LineEnd(begin + c * chunk_bytes, end).next;
  if (lines_each == 1) return first;
  std::vector<std::size_t> lines(count);
#pragma omp parallel for schedule(static)
  for (std::size_t c = 0; c < count; ++c)
    lines[c] = static_cast<std::size_t>(std::count(first[c], std::max(first[c], first[c + 1]), '\n'));
  std::size_t before = 0;
  for (std::size_t c = 1; c < count; ++c) {
    before += lines[c - 1];
    for (std::size_t k = before; k % lines_each != 0 && first[c] != end; ++k) first[c] = LineEnd(first[c], end).next;
  }
  return first;
}

/// Reads records from pieces of the text side by side: read(at, end, rows) takes one and moves `at` behind its last
/// line, or returns false. Pieces behind the first record that cannot be taken are left out.
template <class Rows, class Read>
PlainRows read_pieces(std::string_view text, std::size_t lines_each, std::vector<Rows>& rows, const Read& read) {
  const std::vector<const char*> first = cut(text, lines_each);
  const std::size_t count = first.size() - 1;
  rows.resize(count);
  std::vector<PlainRows> taken(count);
  std::atomic<std::size_t> stop{count};  // the first piece that was not taken to its end
  std::atomic<bool> out_of_memory{false};
  const char* const end = text.data() + text.size();
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t c = 0; c < count; ++c) {
    if (c > stop) continue;
    try {
      const char* at = first[c];
      while (at < first[c + 1] && read(at, end, rows[c])) taken[c].lines += lines_each;
      taken[c].bytes = static_cast<std::size_t>(at - first[c]);
      if (at < first[c + 1])
        for (std::size_t known = stop; c < known && !stop.compare_exchange_weak(known, c);) {
        }
    } catch (const std::bad_alloc&) {  // no exception may leave a parallel region
      out_of_memory = true;
    }
  }
  if (out_of_memory) throw std::bad_alloc();
  rows.resize(std::min(count, stop + 1));
  PlainRows all;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    all.bytes += taken[c].bytes;
    all.lines += taken[c].lines;
  }
  return all;
}

/// Appends what the pieces hold: each its own range of the array, by all threads.
template <class T, class Rows>
void append(std::vector<T>& to, const std::vector<Rows>& rows, std::vector<T> Rows::*member) {
  std::vector<std::size_t> first{to.size()};
  for (const Rows& r : rows) first.push_back(first.back() + (r.*member).size());
  to.resize(first.back());
#pragma omp parallel for schedule(static)
  for (std::size_t c = 0; c < rows.size(); ++c)
    std::copy((rows[c].*member).begin(), (rows[c].*member).end(), to.begin() + static_cast<std::ptrdiff_t>(first[c]));
}

struct NodeRows {
  std::vector<Id> ids;
  std::vector<double> coordinates;
};

struct ElementRows {
  std::vector<Id> ids, nodes;
};

}  // namespace

PlainRows read_plain_nodes(std::string_view text, NodeTable& nodes) {
  std::vector<NodeRows> rows;
  const PlainRows taken = read_pieces(text, 1, rows, [](const char*& at, const char* text_end, NodeRows& to) {
    const LineEnd line(at, text_end);
    const char* p = at;
    Id id = 0;
    double x[3] = {};
    if (!take_integer(p, line.end, id) || id < 1) return false;
    for (int k = 0; k < 3 && p != line.end; ++k)
      if (!take_real(p, line.end, x[k])) return false;
    if (p != line.end) return false;
    to.ids.push_back(id);
    to.coordinates.insert(to.coordinates.end(), x, x + 3);
    at = line.next;
    return true;
  });
  append(nodes.ids, rows, &NodeRows::ids);
  append(nodes.coordinates, rows, &NodeRows::coordinates);
  return taken;
}

PlainRows read_plain_elements(std::string_view text, std::size_t lines_each, std::int32_t line, Id shift, Id node_shift,
                              ElementCard& elements) {
  const auto width = static_cast<std::size_t>(elements.nodes_per_element);
  std::vector<ElementRows> rows;
  const PlainRows taken =
      read_pieces(text, lines_each, rows, [&](const char*& at, const char* text_end, ElementRows& to) {
        const std::size_t before = to.nodes.size();
        const auto refuse = [&] {
          to.nodes.resize(before);
          return false;
        };
        const char* next = at;
        Id id = 0, node = 0;
        for (std::size_t l = 0; l < lines_each; ++l) {
          if (next == text_end) return refuse();
          const LineEnd one(next, text_end);
          const char* p = next;
          if (l == 0 && (!take_integer(p, one.end, id) || id < 1)) return refuse();
          for (; p != one.end; to.nodes.push_back(node + node_shift))
            if (!take_integer(p, one.end, node) || node < 1) return refuse();
          const std::size_t have = to.nodes.size() - before;
          // A line that goes on has too few nodes, and says so by a comma unless the element is a long one.
          const bool goes_on = have < width && (width >= 10 || one.end[-1] == ',');
          if (have > width || goes_on != (l + 1 < lines_each)) return refuse();
          next = one.next;
        }
        if (to.nodes.size() - before != width) return refuse();
        to.ids.push_back(id + shift);
        at = next;
        return true;
      });
  const std::size_t known = elements.ids.size();
  append(elements.ids, rows, &ElementRows::ids);
  append(elements.nodes, rows, &ElementRows::nodes);
  elements.lines.resize(elements.ids.size());
  for (std::size_t e = known; e < elements.ids.size(); ++e) {
    const std::size_t place = static_cast<std::size_t>(line) + 1 + (e - known) * lines_each;
    elements.lines[e] = static_cast<std::int32_t>(
        std::min<std::size_t>(place, static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())));
  }
  return taken;
}

}  // namespace voussoir::deck
