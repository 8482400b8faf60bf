// The library: one file, since reading the headers of XLA takes longest.

#include "circle.h"
#include "grid.h"
#include "pairs.h"
#include "rows.h"
