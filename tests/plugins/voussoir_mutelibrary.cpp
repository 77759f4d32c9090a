// A library that has the name of a plugin, but says nothing.
extern "C" int voussoir_mute_library() { return 0; }
