int main(int argc, char** argv) {
  int device_number = 0;
  bool with_times = true;
  std::vector<Shape> chosen = kShapes;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--no-time") {
      with_times = false;
    } else if (argument == "--device" && i + 1 < argc) {
      device_number = std::atoi(argv[++i]);
    } else if (argument == "--size" && i + 1 < argc) {
      const std::string size = argv[++i];
      const auto is_other = [&](const Shape& shape) { return !shape.Has(size); };
      chosen.erase(std::remove_if(chosen.begin(), chosen.end(), is_other), chosen.end());
    } else {
      std::fprintf(stderr, "usage: %s [--size SYMBOL=N] [--no-time] [--device N]\n", argv[0]);
      return 2;
    }
  }
  if (chosen.empty()) {
    std::fprintf(stderr, "no code for these sizes; the shapes of this program are:\n");
    for (const Shape& shape : kShapes) std::fprintf(stderr, "  %s\n", shape.Text().c_str());
    return 2;
  }
  OpenDevice(device_number);
  for (const Shape& shape : chosen) {
    std::printf("at %s:\n", shape.Text().c_str());
    // Each shape draws the inputs that a program of this shape alone draws.
    random_state = kSeed;
    is_timed = false;
    shape.run();
    is_timed = with_times && wrong == 0;
    if (is_timed) shape.run();
  }
  if (wrong > 0) std::printf("WRONG in %d places\n", wrong);
  if (wrong == 0) std::printf("the results are right\n");
  return wrong == 0 ? 0 : 1;
}
