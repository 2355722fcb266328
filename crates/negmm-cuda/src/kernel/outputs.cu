// Inference kernel: raw outputs of networks of one shape for many rows. A block runs one panel of rows through one network: activations are
// double-buffered in shared memory, weights stream through it, and only the outputs are written to global memory.

// Arguments of a launch: rows of `stride` floats, the weights of all networks one after the other, and the outputs (networks x panels x
// outputs x rows of a panel).
struct Request {
  const float *x, *weights;
  float* outputs;
  u32 stride, rows;
};

// Forward pass of one tile of rows; `x` and `outputs` begin at the panel.
DEVICE void outputs_of_rows(const float* x, u32 stride, const float* weights, Rows rows, float* outputs) {
  auto input = [&](int number, int row) { return x[row * stride + number]; };
  auto store_input = [&](int unit, int row, float value) { operand(0)[(row - rows.first) * OPERAND_STRIDE + unit] = value; };
  for_each_row(INPUTS, rows, [&](int number, int row) { store_input(number, row, input(number, row)); });
  for_each_embedded(weights, rows, input, store_input);
  sync_block();
#pragma unroll 1
  for (int layer = 0; layer < LAYERS; ++layer) {
    const float *matrix = weights + STARTS(layer), *level_input = operand(layer);
    float* next = operand(layer + 1);
    const int matrix_stride = STRIDES(layer), inner = UNITS(layer);
    auto bias = [&](int unit, int, float& number) {
      number = load_global1(matrix + unit * matrix_stride + inner);
      return 0.0f;
    };
    if (layer + 1 == LAYERS) {
      block_product<true, LAST_UNITS_PER_THREAD, LAST_ROWS_PER_THREAD, WARPS / 2>(
        matrix, matrix_stride, UNITS(layer + 1), inner, level_input, rows, bias,
        [&](int unit, int row, float sum, float number) { outputs[unit * PANEL + row] = sum + number; });
      break;
    }
    block_product<true, 4, ROWS_PER_THREAD, WARPS_ALONG_UNITS>(matrix, matrix_stride, UNITS(layer + 1), inner, level_input, rows, bias,
      [&](int unit, int row, float sum, float number) {
      int at = (row - rows.first) * OPERAND_STRIDE + unit;
      float derivative, value = activate(sum + number, derivative);
      next[at] = RESIDUAL(layer) ? level_input[at] + value : value;
    });
  }
}

// Panel `item` of networks x panels.
DEVICE void outputs_of_panel(const Request& request, u32 item) {
  const u32 panels = (request.rows + PANEL - 1) / PANEL, first = item % panels * PANEL;
  const float *x = request.x + (u64)first * request.stride, *weights = request.weights + (u64)(item / panels) * PARAMETERS;
  float* outputs = request.outputs + (u64)item * UNITS(LAST_LEVEL) * PANEL;
  for_each_tile(min_int(PANEL, (int)(request.rows - first)), [&](Rows rows) { outputs_of_rows(x, request.stride, weights, rows, outputs); });
}

#ifdef __CUDACC_RTC__
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) outputs(const Request* request) {
  outputs_of_panel(*request, blockIdx.x);
}
#else
extern "C" __attribute__((visibility("default"))) void outputs(const Request* request, int blocks, int reverse_items) {
  reversed = reverse_items;
  serial_for(0, blocks, 1, [&](int number) { outputs_of_panel(*request, (u32)number); });
}
#endif
