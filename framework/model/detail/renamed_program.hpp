#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/model/detail/wrapped_program.hpp>

namespace voussoir::detail {

/// An element program whose unknowns have other names: a load that is written for one field and acts on another.
class RenamedProgram final : public WrappedProgram {
 public:
  RenamedProgram(std::shared_ptr<const ElementProgram> program, std::vector<std::string> unknowns)
      : WrappedProgram(std::move(program)), unknowns_(std::move(unknowns)) {}

  std::span<const std::string> unknown_names() const override { return unknowns_; }

 private:
  std::vector<std::string> unknowns_;
};

}  // namespace voussoir::detail
