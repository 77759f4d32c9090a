#pragma once
#include <string>
#include <string_view>

// Names come from decks, meshes and folders, and may contain any bytes. What is shown to users and programs is made
// safe here: a terminal obeys control characters, and readers of JSON refuse what is not UTF-8.

namespace voussoir {

/// Text for a terminal: control characters (C0 but for line feed and tab, DEL, C1), marks that change the direction of
/// writing, and bytes that are not UTF-8 appear as \x1b or \u202e, so that they can be seen and do nothing.
std::string printable_text(std::string_view text);

/// The same for one line of a file: line feeds and tabs are escaped too.
std::string printable_line(std::string_view text);

/// A JSON document whose strings have no control characters and no marks of direction but as escapes (\u009b). JSON
/// itself requires that only for characters below a blank. The document must be valid UTF-8.
std::string printable_json(std::string_view document);

}  // namespace voussoir
