#include <voussoir/apps/terminal/monitor.hpp>

#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include <voussoir/apps/terminal/terminal.hpp>

namespace voussoir::app {

Monitor::Monitor(bool show) : show_(show && is_terminal(Stream::error)) {
  thread_ = std::thread([this] { watch(); });
}

Monitor::~Monitor() {
  {
    const std::lock_guard lock(ending_mutex_);
    end_ = true;
  }
  ending_.notify_one();
  thread_.join();
  clear();
}

bool Monitor::keep_going() const { return signals_.asked() == 0; }

int Monitor::signal() const { return signals_.asked(); }

bool Monitor::tell(Activity activity) {
  const std::lock_guard lock(mutex_);
  if (activity.stage != activity_.stage || activity.step != activity_.step || activity.file != activity_.file)
    since_stage_ = Stopwatch();
  activity_ = std::move(activity);
  return keep_going();
}

void Monitor::set_last_words(std::function<void()> last_words) {
  const std::lock_guard lock(mutex_);
  last_words_ = std::move(last_words);
}

Monitor::Pause::Pause(Monitor& monitor) : monitor_(monitor), lock_(monitor.mutex_) { monitor.clear(); }

void Monitor::clear() {
  if (drawn_) {
    std::fputs("\r\x1b[K", stderr);
  }
  drawn_ = false;
}

void Monitor::draw() {
  if (!show_ || activity_.stage.empty()) return;
  std::string text = progress_text(activity_, since_stage_.seconds(), terminal_width());
  if (drawn_ && text == drawn_text_) return;
  drawn_text_ = std::move(text);
  // In one write: a terminal far away would show a half of two.
  const std::string line = "\r\x1b[K" + drawn_text_;
  std::fwrite(line.data(), 1, line.size(), stderr);
  drawn_ = true;
}

void Monitor::watch() {
  using namespace std::chrono_literals;
  std::optional<Stopwatch> since_signal;
  std::unique_lock ending(ending_mutex_);
  while (!ending_.wait_for(ending, 100ms, [this] { return end_; })) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) continue;
    draw();
    if (keep_going()) continue;
    if (!since_signal) since_signal.emplace();
    if (since_signal->seconds() < patience_) continue;
    clear();
    if (last_words_) last_words_();
    std::fflush(nullptr);
    end_by_signal(signal());
  }
}

}  // namespace voussoir::app
