// A library with the name of CUDA's driver, which counts the calls that initialise it and has no device.

extern "C" {

int initialisations = 0;

int cuInit(unsigned /*flags*/) {
  ++initialisations;
  return 100;  // CUDA_ERROR_NO_DEVICE
}

int cuGetExportTable(const void** table, const void* /*id*/) {
  *table = nullptr;
  return 500;  // CUDA_ERROR_NOT_FOUND
}
}
