// For ARM64, where every processor has NEON.
#define SUFFICE_ISA neon
#define SUFFICE_ISA_NAME "neon"
#define SUFFICE_NEON
#include "kernels.inc"
