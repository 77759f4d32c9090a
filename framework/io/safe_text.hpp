#pragma once
#include <string>
#include <string_view>

// Names come from decks, meshes and folders, and may contain any bytes. These functions make them safe to display:
// terminals execute control characters, and JSON readers reject what is not UTF-8.

namespace voussoir {

/// Text for a terminal: control characters (C0 except line feed and tab, DEL, C1), bidirectional formatting characters,
/// and bytes that are not UTF-8 are replaced by escapes such as \x1b or \u202e.
std::string printable_text(std::string_view text);

/// As printable_text(), for one line of a file: line feeds and tabs are escaped too.
std::string printable_line(std::string_view text);

/// A JSON document with all control and bidirectional formatting characters in its strings written as escapes (\u009b);
/// JSON itself requires this only below U+0020. The document must be valid UTF-8.
std::string printable_json(std::string_view document);

}  // namespace voussoir
