#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/partition/process/process_part.hpp>

// A part as bytes. One function, walk(), lists the members of each struct and serves both directions, so that what is
// written is what is read. Structured bindings make the compiler refuse a struct that has got a new member.

namespace voussoir::detail {

/// What walk() gets: a struct that is read, or one that is only looked at.
template <class Archive, class T>
using Walked = std::conditional_t<Archive::reading, T, const T>;

class PartWriter {
 public:
  static constexpr bool reading = false;

  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  template <class T>
  void choice(const T& value, T) {
    out_.put(static_cast<std::int32_t>(value));
  }
  std::string take() { return out_.take(); }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_same_v<T, bool>)
      out_.put(static_cast<std::uint8_t>(value));
    else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
      out_.put(value);
    else
      walk(*this, value);
  }
  template <class T>
  void put(const std::vector<T>& list) {
    if constexpr (std::is_arithmetic_v<T>) {
      out_.put(list);
    } else {
      out_.put(static_cast<std::uint64_t>(list.size()));
      for (const T& entry : list) put(entry);
    }
  }
  template <class T, std::size_t count>
  void put(const std::array<T, count>& list) {
    for (const T& entry : list) put(entry);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class A, class B>
  void put(const std::pair<A, B>& both) {
    put(both.first);
    put(both.second);
  }

  ByteWriter out_;
};

class PartReader {
 public:
  static constexpr bool reading = true;

  PartReader(std::string_view bytes, const std::string& where) : in_(bytes, where), where_(where) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  /// An enumerator up to `last`.
  template <class T>
  void choice(T& value, T last) {
    const auto number = in_.get<std::int32_t>();
    require(number >= 0 && number <= static_cast<std::int32_t>(last), "a choice is out of range");
    value = static_cast<T>(number);
  }
  /// Throws Error (bad_input) unless the condition holds.
  void require(bool condition, const char* why) const {
    if (!condition) throw Error(ErrorCode::bad_input, why, where_);
  }
  void expect_end() const { in_.expect_end(); }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      const auto byte = in_.get<std::uint8_t>();
      require(byte <= 1, "a truth value is neither 0 nor 1");
      value = byte == 1;
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = in_.get<T>();
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = in_.text();
    } else {
      walk(*this, value);
    }
  }
  template <class T>
  void get(std::vector<T>& list) {
    if constexpr (std::is_arithmetic_v<T>) {
      list = in_.list<T>();
    } else {  // one by one: a wrong number ends with the bytes, not with the memory
      list.clear();
      for (auto left = in_.get<std::uint64_t>(); left > 0; --left) get(list.emplace_back());
    }
  }
  template <class T, std::size_t count>
  void get(std::array<T, count>& list) {
    for (T& entry : list) get(entry);
  }
  template <class T>
  void get(std::optional<T>& value) {
    bool there = false;
    get(there);
    value.reset();
    if (there) get(value.emplace());
  }
  template <class A, class B>
  void get(std::pair<A, B>& both) {
    get(both.first);
    get(both.second);
  }

  ByteReader in_;
  std::string where_;
};

/// Orientations, amplitudes and domains have no members to list.
void walk(PartWriter& out, const Orientation& orientation);
void walk(PartReader& in, Orientation& orientation);
void walk(PartWriter& out, const Amplitude& amplitude);
void walk(PartReader& in, Amplitude& amplitude);

/// The domains of a job, with the materials that their blocks share.
void put_domains(PartWriter& out, const Job& job);
void get_domains(PartReader& in, Job& job);

/// Everything of a job but its domains, which a reader must have got before.
void put_steps(PartWriter& out, const Job& job);
void get_steps(PartReader& in, Job& job);

}  // namespace voussoir::detail
