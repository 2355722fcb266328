// What happens between layers: activation and dropout.

DEVICE float activate(float z, float& slope) {
#if ACTIVATION == 0
  slope = z > 0.0f ? 1.0f : 0.0f;
  return larger(z, 0.0f);
#elif ACTIVATION == 1
  float value = tangent(z);
  slope = neg_mul_add(value, value, 1.0f);
  return value;
#else
  float gate = sigmoid(z), value = z * gate;
  slope = fmaf(1.0f - gate, value, gate);
  return value;
#endif
}

// Four neighbouring rows of a unit's factors, from one draw; `number` counts the draws of a panel.
DEVICE u64 dropout_bits(const Team& team, int row, int number) {
  int panel = row / PANEL, part = panel / PART_PANELS;
  u64 start = draw(team.job->dropout_stream, (u64)team.state()->step * PARTS + part);
  int chunk = row % PANEL / 16, four = row % 16 / 4;
  return draw(start, (u64)(panel % PART_PANELS) * PANEL_DRAWS + number + chunk * 4 + four);
}

DEVICE float dropout_factor(const Team& team, u64 bits, int lane) {
  return (u32)(bits >> (16 * lane) & 0xffff) >= team.job->dropout_cut ? team.job->dropout_keep : 0.0f;
}
