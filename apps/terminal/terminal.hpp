#pragma once
#include <string>
#include <string_view>

// What the program knows of the screen that it writes to.

namespace voussoir::app {

enum class Stream { out, error };

/// Whether a person watches: a terminal that understands more than plain lines.
bool is_terminal(Stream stream);
/// Whether colours are welcome: a terminal, and no NO_COLOR (no-color.org).
bool wants_colour(Stream stream);
/// Columns of the terminal on standard error, 80 where it does not tell.
int terminal_width();

/// Text in bold, red or yellow where the stream wants colours, and plain elsewhere; to be printed by show(), which
/// makes colours of the marks in it.
std::string bold(const std::string& text, Stream stream = Stream::out);
std::string red(const std::string& text, Stream stream = Stream::out);
std::string yellow(const std::string& text, Stream stream = Stream::out);

/// Text as it may be sent to a terminal: our colours, and nothing else that a terminal would obey (see
/// printable_text()).
std::string printable(std::string_view text);

/// "4.0 GB", "12 MB", "3 kB".
std::string readable_bytes(double bytes);
/// "0.02 s", "41 s", "3 min 20 s".
std::string readable_seconds(double seconds);
/// "1 234 567"
std::string readable_count(long long count);
/// "1 node", "1 234 nodes"
std::string counted(long long count, const std::string& what);

}  // namespace voussoir::app
