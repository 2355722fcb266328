// The raw outputs of networks of one shape for many rows, forward only. A block has one panel of rows of one network: its levels take
// turns in shared memory, weights stream through it, and nothing but the outputs goes to memory.

// What a launch is told: rows of `stride` floats, the weights of the networks one after the other, and where outputs go, networks x
// panels x outputs x panel.
struct Asked {
  const float *x, *weights;
  float* outputs;
  u32 stride, rows;
};

// Rows of a panel, as many as pass through the layers at a time; x and outputs are those of the panel.
DEVICE void outputs_of_rows(const float* x, u32 stride, const float* weights, Rows rows, float* outputs) {
  auto input = [&](int number, int row) { return x[row * stride + number]; };
  auto first = [&](int unit, int row, float value) { operand(0)[(row - rows.first) * OPERAND_STRIDE + unit] = value; };
  each_row(INPUTS, rows, [&](int number, int row) { first(number, row, input(number, row)); });
  each_embedded(weights, rows, input, first);
  sync_block();
#pragma unroll 1
  for (int layer = 0; layer < LAYERS; ++layer) {
    const float *matrix = weights + STARTS(layer), *before = operand(layer);
    float* next = operand(layer + 1);
    const int apart = STRIDES(layer), inner = UNITS(layer);
    auto bias = [&](int unit, int, float& number) {
      number = far1(matrix + unit * apart + inner);
      return 0.0f;
    };
    if (layer + 1 == LAYERS) {
      own_product<true, LAST_UNITS, LAST_ROWS, WARPS / 2>(matrix, apart, UNITS(layer + 1), inner, before, rows, bias,
        [&](int unit, int row, float sum, float number) { outputs[unit * PANEL + row] = sum + number; });
      break;
    }
    own_product<true, 4, OWN_ROWS_OF_THREAD, WARPS_ALONG_UNITS>(matrix, apart, UNITS(layer + 1), inner, before, rows, bias,
      [&](int unit, int row, float sum, float number) {
      int at = (row - rows.first) * OPERAND_STRIDE + unit;
      float slope, value = activate(sum + number, slope);
      next[at] = RESIDUAL(layer) ? before[at] + value : value;
    });
  }
}

// Panel `item` of all networks' panels.
DEVICE void outputs_of_panel(const Asked& asked, u32 item) {
  const u32 panels = (asked.rows + PANEL - 1) / PANEL, first = item % panels * PANEL;
  const float *x = asked.x + (u64)first * asked.stride, *weights = asked.weights + (u64)(item / panels) * PARAMETERS;
  float* outputs = asked.outputs + (u64)item * UNITS(LAST) * PANEL;
  each_tile(least(PANEL, (int)(asked.rows - first)), [&](Rows rows) { outputs_of_rows(x, asked.stride, weights, rows, outputs); });
}

#ifdef __CUDACC_RTC__
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) outputs(const Asked* asked) { outputs_of_panel(*asked, blockIdx.x); }
#else
extern "C" __attribute__((visibility("default"))) void outputs(const Asked* asked, int blocks, int turned_around) {
  reversed = turned_around;
  in_turn(0, blocks, 1, [&](int number) { outputs_of_panel(*asked, (u32)number); });
}
#endif
