"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = id => document.getElementById(id);
  const select = byId("row");
  if (!select || !data.rows.length) return;
  const SVG = "http://www.w3.org/2000/svg";
  const W = 400, H = 280, LEFT = 54, RIGHT = 14, TOP = 44, BOTTOM = 46;
  const LEVELS = ["5 %", "25 %", "50 %", "75 %", "95 %"];

  const add = (parent, name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return parent.appendChild(element);
  };
  const format = x => Number(x.toPrecision(4)).toString().replace("-", "−");

  // Round values from low to high.
  const ticks = (low, high, maxTicks) => {
    const raw = (high - low) / maxTicks, size = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(k => k * size).find(step => step >= raw * 0.999);
    const list = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) list.push(k * step);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const plain = step >= 1e-4 && Math.abs(high) + Math.abs(low) < 1e7;
    const label = x => (plain ? x.toFixed(digits) : x.toExponential(1)).replace("-", "−");
    return list.map(x => [x, label(x)]);
  };

  // Truncation scales the density by a factor between the bounds and makes it 0 outside.
  const densityFactor = (row, x) => {
    if (!row.bounds) return 1;
    const [lower, upper] = row.bounds;
    return (lower !== null && x < lower) || (upper !== null && x > upper) ? 0 : row.density_factor;
  };
  const density = (row, x) =>
    densityFactor(row, x) * row.components.reduce((sum, [weight, mean, sd]) => sum + componentDensity(weight, mean, sd, x), 0);
  const componentDensity = (weight, mean, sd, x) => weight * Math.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * 2.5066282746310002);

  // Values of a row are differences from its mean.
  const draw = row => {
    const [low, high] = row.range, n = 240;
    const grid = Array.from({ length: n + 1 }, (_, k) => low + (high - low) * k / n);
    // Points at components narrower than a step.
    const curve = row.components && !row.values, push = x => { if (x > low && x < high) grid.push(x); };
    if (curve) row.components.forEach(([, mean, sd]) => [-2, -1, 0, 1, 2].forEach(z => push(mean + z * sd)));
    if (row.bounds) row.bounds.forEach(x => { if (x !== null) [x - 1e-9 * (high - low), x, x + 1e-9 * (high - low)].forEach(push); });
    row.interval.forEach(x => grid.push(x));
    grid.sort((a, b) => a - b);
    // Each bar: start, end, height.
    let bars = [];
    if (row.values) bars = row.values.map(([value, probability]) => [value - row.step / 2, value + row.step / 2, probability]);
    else if (row.samples) {
      const count = 30, width = (high - low) / count, heights = Array(count).fill(0);
      row.samples.map(x => Math.floor((x - low) / width)).filter(at => 0 <= at && at < count)
        .forEach(at => heights[at] += 1 / (row.samples.length * width));
      bars = heights.map((height, k) => [low + k * width, low + (k + 1) * width, height]);
    }
    const peak = Math.max(...(curve ? grid.map(x => density(row, x)) : bars.map(bar => bar[2]))) || 1;
    const atoms = (row.atoms || []).filter(([x]) => x > low && x < high), largest = Math.max(...atoms.map(atom => atom[1]));
    const top = atoms.length ? 1.1 * peak : peak;
    const X = x => LEFT + (x - low) / (high - low) * (W - LEFT - RIGHT);
    const Y = y => H - BOTTOM - y / (1.04 * top) * (H - TOP - BOTTOM);
    const point = (x, y) => X(x).toFixed(1) + " " + Y(y).toFixed(1);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", summary(row));
    ticks(0, 1.04 * top, 5).forEach(([y, label]) => {
      add(svg, "path", { d: `M${LEFT} ${Y(y).toFixed(1)}H${W - RIGHT}`, stroke: "var(--grid)" });
      add(svg, "text", { x: LEFT - 6, y: Y(y) + 4, "font-size": 11, fill: "var(--muted)", "text-anchor": "end" }, label);
    });
    const line = (f, more) => add(svg, "path", { d: "M" + grid.map(x => point(x, f(x))).join("L"), fill: "none", ...more });
    if (curve) {
      const inside = grid.filter(x => x >= row.interval[0] && x <= row.interval[1]);
      const edge = [point(row.interval[0], 0), ...inside.map(x => point(x, density(row, x))), point(row.interval[1], 0)];
      add(svg, "path", { d: "M" + edge.join("L") + "Z", fill: "var(--sky)", opacity: 0.4 });
      const visible = row.components.filter(([weight]) => weight >= 0.02).slice(0, 8);
      if (visible.length > 1) visible.forEach(([weight, mean, sd]) =>
        line(x => densityFactor(row, x) * componentDensity(weight, mean, sd, x), { stroke: "var(--purple)", "stroke-dasharray": "5 4" }));
      line(x => density(row, x), { stroke: "var(--blue)", "stroke-width": 2, "stroke-linejoin": "round" });
      // The most probable atom is drawn a little higher than the density, so that its label is above it.
      atoms.forEach(([x, probability]) =>
        add(svg, "path", { d: `M${point(x, 0)}L${point(x, top * probability / largest)}`, stroke: "var(--blue)", "stroke-width": 3 }));
    } else {
      bars.forEach(([start, end, height]) => add(svg, "path", {
        d: `M${point(start, 0)}L${point(start, height)}L${point(end, height)}L${point(end, 0)}Z`, fill: "var(--sky)", stroke: "var(--paper)", "stroke-width": 0.5 }));
      add(svg, "path", { d: `M${point(row.interval[0], 0)}L${point(row.interval[1], 0)}`, stroke: "var(--text)", "stroke-width": 8, opacity: 0.8 });
    }
    const rule = (x, more) => add(svg, "path", { d: `M${X(x).toFixed(1)} ${TOP}V${H - BOTTOM}`, fill: "none", ...more });
    rule(0, { stroke: "var(--blue)", "stroke-dasharray": "5 4" });
    rule(row.y, { stroke: "var(--orange)", "stroke-width": 2 });
    atoms.forEach(([x, probability]) => add(svg, "text", { x: X(x) + 5, y: Y(top * probability / largest) + 4, "font-size": 11, fill: "var(--muted)",
      stroke: "var(--paper)", "stroke-width": 3, "paint-order": "stroke" }, (100 * probability).toFixed(1) + " %"));
    add(svg, "path", { d: `M${LEFT} ${H - BOTTOM}H${W - RIGHT}`, stroke: "var(--muted)" });
    // A narrow range far from zero is labelled with differences from the mean.
    const narrow = high - low < 1e-5 * Math.abs(row.mean), origin = narrow ? 0 : row.mean;
    ticks(low + origin, high + origin, 6).forEach(([x, label]) => {
      add(svg, "path", { d: `M${X(x - origin).toFixed(1)} ${H - BOTTOM}v4`, stroke: "var(--muted)" });
      add(svg, "text", { x: X(x - origin), y: H - BOTTOM + 17, "font-size": 11, fill: "var(--muted)", "text-anchor": "middle" }, label);
    });
    const label = data.target + (narrow ? " − mean" : "");
    add(svg, "text", { x: (LEFT + W - RIGHT) / 2, y: H - 8, "font-size": 12, fill: "var(--text)", "text-anchor": "middle" }, label);
    const names = [[curve ? "density" : row.values ? "probability" : row.are_quantiles ? "quantiles" : "samples", curve ? "var(--blue)" : "var(--sky)"], ["90 % interval", curve ? "var(--sky)" : "var(--text)"], ["mean", "var(--blue)", "5 4"], ["observed", "var(--orange)"]];
    if (curve && row.components.filter(([weight]) => weight >= 0.02).length > 1) names.splice(1, 0, ["components", "var(--purple)", "5 4"]);
    let x = 4, y = 12;
    names.forEach(([name, colour, dash]) => {
      const width = ["probability", "quantiles", "samples", "90 % interval"].includes(name) ? 9 : 2, itemWidth = 24 + 6.8 * name.length;
      if (x + itemWidth > W) [x, y] = [4, y + 17];
      add(svg, "path", { d: `M${x} ${y}h16`, stroke: colour, "stroke-width": width, "stroke-dasharray": dash || "none" });
      add(svg, "text", { x: x + 20, y: y + 4, "font-size": 11, fill: "var(--text)" }, name);
      x += itemWidth + 6;
    });
    return svg;
  };

  const summary = row => `Row ${row.row}: mean ${row.summary[1]}, 90 % interval from ${row.summary[3]} to ${row.summary[4]}, ` +
    `observed ${row.summary[0]} (PIT ${row.summary[5]}).`;

  const fillTable = (id, lines) => {
    const body = byId(id).tBodies[0];
    body.replaceChildren(...lines.map(cells => {
      const line = document.createElement("tr");
      cells.forEach((cell, k) => {
        const element = document.createElement(k ? "td" : "th");
        element.textContent = cell;
        element.dir = "auto";
        line.append(element);
      });
      return line;
    }));
    byId(id).hidden = !lines.length;
  };

  const show = () => {
    const row = data.rows[select.value];
    byId("row-plot").replaceChildren(draw(row));
    const [y, mean, sd, low, high, pit, ...quantiles] = row.summary;
    fillTable("row-facts", [["observed", y], ["mean", mean], ["sd", sd], ["90 % interval from", low], ["to", high],
      ["PIT of the observed value", pit], ...quantiles.map((q, k) => [LEVELS[k] + " quantile", q])]);
    fillTable("row-components", (row.components || []).filter(([weight]) => weight >= 0.0005).slice(0, 12).map(([weight, m, s]) => [(100 * weight).toFixed(1) + " %", format(m + row.mean), format(s)]));
    fillTable("row-inputs", row.cells.map((cell, k) => [data.inputs[k], cell]));
    byId("row-caption").textContent = row.values ? "Each bar is the probability of one value; the thick line is an interval of at least 90 %." :
      row.samples ? `The bars are a histogram of ${row.are_quantiles ? "equally probable quantiles" : "the samples"}; the thick line is the 90 % interval.` :
      "The curve is the predicted density, dashed curves are its components; the shaded area is the 90 % interval." +
      (row.atoms ? " A vertical line is a value with a point probability, which is written beside it." : "");
    byId("row-summary").textContent = summary(row);
  };

  data.groups.forEach(group => {
    const list = document.createElement("optgroup");
    list.label = group.title;
    group.rows.forEach(k => {
      const option = document.createElement("option");
      option.value = k;
      option.textContent = `row ${data.rows[k].row}`;
      list.append(option);
    });
    select.append(list);
  });
  const move = by => {
    select.selectedIndex = (select.selectedIndex + by + select.options.length) % select.options.length;
    show();
  };
  select.addEventListener("change", show);
  byId("previous").addEventListener("click", () => move(-1));
  byId("next").addEventListener("click", () => move(1));
  byId("row-selector").hidden = false;
  show();
})();
