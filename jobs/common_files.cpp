#include <voussoir/jobs/detail/common_files.hpp>

#include <algorithm>
#include <utility>

#include <voussoir/jobs/detail/step_frd.hpp>

namespace voussoir::detail {

void CommonFiles::done(const std::filesystem::path& file) {
  if (known_.insert(file.native()).second) written_.push_back(file);
}

void CommonFiles::note(const std::string& text) {
  if (std::find(notes_.begin(), notes_.end(), text) != notes_.end()) return;
  notes_.push_back(text);
  if (added_) added_->notes.push_back(text);
}

void CommonFiles::write(const std::string& file, std::string_view text) {
  OutputFile out(path(file), options_.overwrite);
  out.write(text);
  out.commit();
  done(path(file));
}

void CommonFiles::write(const std::string& file, const CsvTable& table) {
  table.write(path(file), options_.overwrite);
  done(path(file));
}

void CommonFiles::append_to_dat(const std::string& text) {
  if (!dat_) dat_ = std::make_unique<OutputFile>(path(names_.name() + ".dat"), options_.overwrite);
  dat_->write(text);
  if (added_) added_->dat += text;
}

FrdWriter& CommonFiles::frd() {
  if (!frd_) frd_ = std::make_unique<FrdWriter>(path(names_.name() + ".frd"), options_.overwrite, frd_meshes(job_));
  if (added_) frd_->set_copy(&added_->frd);
  return *frd_;
}

void CommonFiles::commit() {
  if (const auto file = std::move(frd_)) {
    file->commit();
    done(path(names_.name() + ".frd"));
  }
  if (const auto file = std::move(dat_)) {
    file->commit();
    done(path(names_.name() + ".dat"));
  }
}

void CommonFiles::discard() {
  dat_.reset();
  frd_.reset();
}

}  // namespace voussoir::detail
