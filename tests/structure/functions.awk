# The rules of check_functions.sh. Input: names of files, one per line. -v limit=N: how many lines a function may have,
# from the line where its declaration begins to the brace that closes it. A lambda counts as a part of the function around
# it; initialisers (tables of data) are not functions. Reads what clang-format writes: a space stands before the brace of
# a body, and none before that of an initialiser.

# -v known=FILE: functions that may stay longer for now, a line "FILE NAME" each.
BEGIN {
  while (known != "" && (getline entry < known) > 0)
    if (entry !~ /^(#|$)/) is_known[entry] = 1
}

# The code of a line, without comments and with strings and characters replaced by 0. A comment or a raw string that does
# not end on its line goes on in the next one; `inside` is what closes it.
function code_of(text,    out, c, two, at, mark, n, i) {
  out = ""
  n = length(text)
  for (i = 1; i <= n; ) {
    if (inside != "") {
      at = index(substr(text, i), inside)
      if (!at) return out
      i += at + length(inside) - 1
      inside = ""
      continue
    }
    c = substr(text, i, 1)
    two = substr(text, i, 2)
    if (two == "//") return out
    if (two == "/*") {
      inside = "*/"
      i += 2
    } else if (two == "R\"" && substr(text, i - 1, 1) !~ /[A-Za-z0-9_]/) {
      mark = substr(text, i + 2)
      sub(/\(.*$/, "", mark)
      inside = ")" mark "\""
      i += 3 + length(mark)
      out = out "0"
    } else if (c == "\"" || (c == "'" && substr(text, i - 1, 1) !~ /[0-9A-Fa-f]/)) {
      for (i++; i <= n && substr(text, i, 1) != c; i++)
        if (substr(text, i, 1) == "\\") i++
      i++
      out = out "0"
    } else {
      out = out c
      i++
    }
  }
  return out
}

# What a brace opens, by the code before it since the last statement. Only functions are measured.
function opens(head) {
  if (head ~ /[^ \t]$/) return "data"
  gsub(/\[\[[^]]*\]\]/, "", head)
  gsub(/^[ \t]+|[ \t]+$/, "", head)
  if (head ~ /(=|,|\(|return)$/ || head == "") return "data"
  if (head ~ /(^|[^A-Za-z0-9_])(namespace|extern 0)[^(]*$/) return "scope"
  if (head ~ /^(template *<.*> *)?(typedef +)?(class|struct|union|enum)[^A-Za-z0-9_]/ && head !~ /\)[ a-z]*$/) return "scope"
  if (head ~ /\(/) return "function"
  return "data"
}

{
  file = $0
  files++
  depth = 0; body = 0; line = 0; inside = ""; head = ""; start = 0; macro = 0
  while ((getline text < file) > 0) {
    line++
    if (inside == "" && (macro || text ~ /^[ \t]*#/)) {
      macro = text ~ /\\$/
      continue
    }
    code = code_of(text)
    m = length(code)
    for (k = 1; k <= m; k++) {
      c = substr(code, k, 1)
      if (c == "{") {
        depth++
        kind[depth] = body ? "inner" : opens(head)
        if (kind[depth] == "function") {
          body = depth
          began = start ? start : line
          name = head
        }
        # A statement goes on behind an initialiser, as the list of a constructor does.
        kept[depth] = kind[depth] == "data" ? head "0" : ""
        kept_start[depth] = start
        head = ""
        start = 0
      } else if (c == "}") {
        if (depth == body && body) {
          functions++
          body = 0
          long = line - began + 1
          if (long > limit) {
            sub(/\(.*$/, "", name)
            gsub(/^.*[ \t*&]/, "", name)
            if ((file " " name) in is_known) {
              delete is_known[file " " name]
              excused++
            } else {
              printf "%s:%d: %s has %d lines; at most %d are allowed\n", file, began, name, long, limit
              broken++
            }
          }
        }
        head = depth > 0 ? kept[depth] : ""
        start = depth > 0 && head != "" ? kept_start[depth] : 0
        if (depth > 0) depth--
      } else if (c == ";") {
        if (!body) { head = ""; start = 0 }
      } else if (!body) {
        if (c == ":" && head ~ /(public|private|protected)$/) {
          head = ""
          start = 0
        } else {
          if (!start && c !~ /[ \t]/) start = line
          head = head c
        }
      }
    }
    if (!body) head = head " "
  }
  close(file)
}

END {
  for (entry in is_known) printf "%s: no longer too long; take it off the list\n", entry
  if (broken) {
    printf "%d of %d functions in %d files are too long\n", broken, functions, files
    exit 1
  }
  printf "%d functions in %d files have at most %d lines%s\n", functions, files, limit,
         excused ? ", but for " excused " on the list" : ""
}
