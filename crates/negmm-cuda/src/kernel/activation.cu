// Activation functions with their derivatives, and dropout.

DEVICE float activate(float z, float& derivative) {
#if ACTIVATION == 0
  derivative = z > 0.0f ? 1.0f : 0.0f;
  return max_float(z, 0.0f);
#elif ACTIVATION == 1
  float value = tanh_float(z);
  derivative = neg_mul_add(value, value, 1.0f);
  return value;
#else
  float gate = sigmoid(z), value = z * gate;
  derivative = fmaf(1.0f - gate, value, gate);
  return value;
#endif
}

// One 64-bit random number with the dropout bits of four neighbouring rows of a unit; `number` is its index within the panel.
DEVICE u64 dropout_bits(const Team& team, int row, int number) {
  int panel = row / PANEL, part = panel / PART_PANELS;
  u64 start = draw(team.job->dropout_stream, (u64)team.state()->step * PARTS + part);
  int chunk = row % PANEL / 16, four = row % 16 / 4;
  return draw(start, (u64)(panel % PART_PANELS) * PANEL_DRAWS + number + chunk * 4 + four);
}

DEVICE float dropout_factor(const Team& team, u64 bits, int lane) {
  return (u32)(bits >> (16 * lane) & 0xffff) >= team.job->dropout_threshold ? team.job->dropout_scale : 0.0f;
}
