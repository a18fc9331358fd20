int main(int argc, char** argv) {
  int device_number = 0;
  bool with_times = true;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--no-time") {
      with_times = false;
    } else if (argument == "--device" && i + 1 < argc) {
      device_number = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: %s [--no-time] [--device N]\n", argv[0]);
      return 2;
    }
  }
  OpenDevice(device_number);
  RunPlan();
  if (wrong == 0 && with_times) {
    is_timed = true;
    RunPlan();
    if (kMeasuredMs > 0) std::printf("measured before: %.4f ms; now %.3f of it\n", kMeasuredMs, all_ms / kMeasuredMs);
  }
  if (wrong > 0) std::printf("WRONG in %d places\n", wrong);
  if (wrong == 0) std::printf("the results are right\n");
  return wrong == 0 ? 0 : 1;
}
