#pragma once
#include <string_view>

// A reader under fuzzing. Each *_target.cpp of this folder defines this one function; it is linked with mutate_main.cpp
// into a program of its own, or with libFuzzer.

/// Gives the bytes to the reader. An Error is an answer; any other exception, a crash, a leak or a hang is a defect.
void read_input(std::string_view bytes);
