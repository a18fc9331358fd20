// ---- The debugger: prints the name of the kernel before each launch and after it is complete.

void DebugBefore(const char* kernel) {
  if (!is_timed) std::fprintf(stderr, "[before_launch - %s]\n", kernel);
}

void DebugAfter(const char* kernel) {
  if (is_timed) return;
  Synchronize();
  std::fprintf(stderr, "[after_launch - %s]\n", kernel);
}
