"use strict";
(() => {
  const byId = id => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const DEBOUNCE_MS = 60;
  // Contributions take hundreds of predictions, so they wait until the inputs rest.
  const EXPLAIN_MS = 250;
  const PERMUTATIONS = 4;
  const MOST_BARS = 12;
  const state = { model: "", inputs: [], row: {}, prediction: null, explanation: null, file: null, header: [], rows: [], token: "", requests: 0 };

  const make = (name, attributes, text) => {
    const element = document.createElement(name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const add = (parent, name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return parent.appendChild(element);
  };
  const format = x => Number(x.toPrecision(5)).toString().replace("-", "−");
  const percent = probability => `${+(100 * probability).toPrecision(3)} %`;

  // Round values from low to high.
  const ticks = (low, high, maxTicks) => {
    const raw = (high - low) / maxTicks;
    if (!(raw > 0)) return [];
    const size = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map(k => k * size).find(step => step >= raw * 0.999);
    const list = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && list.length < 30; k++) list.push(k * step);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const plain = step >= 1e-4 && Math.abs(high) + Math.abs(low) < 1e7;
    return list.map(x => [x, (plain ? x.toFixed(Math.min(digits, 20)) : x.toExponential(1)).replace("-", "−")]);
  };

  const showError = text => { byId("error").textContent = text || ""; };

  // Sends a request to the server; an error response is thrown.
  const request = async (path, options = {}) => {
    const headers = { ...(options.headers || {}) };
    if (state.token) headers.Authorization = `Bearer ${state.token}`;
    const response = await fetch(path, { ...options, headers }).catch(() => { throw new Error("the server does not respond"); });
    if (response.status === 401) byId("locked").hidden = false;
    if (!response.ok) {
      const body = await response.json().catch(() => ({}));
      throw new Error(body.error || `the server responded with status ${response.status}`);
    }
    return response;
  };
  const endpoint = path => `v2/models/${encodeURIComponent(state.model)}${path}`;

  const download = (name, type, content) => {
    const link = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // A control for one input; empty means missing.
  const control = input => {
    const id = `input-${state.inputs.indexOf(input)}`, wide = input.kind !== "number";
    const box = make("div", { class: wide ? "input wide" : "input" });
    box.append(make("label", { for: id, dir: "auto" }, input.name));
    const change = value => { state.row[input.name] = value; scheduleExplore(); };
    if (input.kind === "number") {
      const step = (input.high - input.low) / 200 || 1;
      const range = make("input", { type: "range", id, min: input.low, max: input.high, step });
      const number = make("input", { type: "number", step: "any", "aria-label": `${input.name}, as a number`, placeholder: "missing" });
      range.addEventListener("input", () => { number.value = Number((+range.value).toPrecision(6)); change(+number.value); });
      number.addEventListener("input", () => {
        if (number.value !== "") range.value = number.value;
        change(number.value === "" ? null : +number.value);
      });
      input.show = value => {
        const found = value === null || value === "" || !isFinite(value) ? null : +value;
        number.value = found === null ? "" : found;
        if (found !== null) range.value = found;
        state.row[input.name] = found === null && value !== null && value !== "" ? value : found;
      };
      box.append(range, number);
    } else if (input.kind === "text" && input.levels.length <= 60) {
      const select = make("select", { id });
      select.append(make("option", { value: "" }, "(missing)"));
      input.levels.forEach(level => select.append(make("option", { value: level }, level)));
      select.addEventListener("change", () => change(select.value === "" ? null : select.value));
      input.show = value => {
        const text = value === null ? "" : String(value);
        if (![...select.options].some(option => option.value === text)) select.append(make("option", { value: text }, text));
        select.value = text;
        state.row[input.name] = text === "" ? null : text;
      };
      box.append(select);
    } else {
      const text = make("input", { type: "text", id, placeholder: "missing" });
      if (input.kind === "text") {
        const list = make("datalist", { id: `${id}-levels` });
        input.levels.forEach(level => list.append(make("option", { value: level })));
        text.setAttribute("list", list.id);
        box.append(list);
      }
      text.addEventListener("input", () => change(text.value === "" ? null : text.value));
      input.show = value => {
        text.value = value === null ? "" : value;
        state.row[input.name] = text.value === "" ? null : text.value;
      };
      box.append(text);
    }
    return box;
  };

  let timer;
  const scheduleExplore = () => { clearTimeout(timer); timer = setTimeout(explore, DEBOUNCE_MS); };

  let explainTimer;
  // The contributions of the inputs, after the prediction they belong to.
  const explain = async () => {
    const number = state.requests;
    const of = [...byId("answer").options].map(option => option.value).join(",");
    try {
      const response = await request(endpoint("/explain"), {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ row: state.row, of, permutations: PERMUTATIONS }) });
      const explanation = await response.json();
      if (number !== state.requests) return;
      state.explanation = explanation;
      showContributions();
    } catch (error) {
      if (number !== state.requests) return;
      state.explanation = null;
      byId("contribution-caption").textContent = error.message;
      byId("contributions").replaceChildren();
    }
    byId("contribution-panel").classList.remove("stale");
  };

  const signed = x => (x < 0 ? "−" : "+") + Number(Math.abs(x).toPrecision(3));

  const showContributions = () => {
    if (!state.explanation) return;
    const { columns, rows: [{ answers, verdict }], background } = state.explanation;
    const own = answers.find(one => one.answer === byId("answer").value);
    const name = byId("answer").selectedOptions[0].textContent.split(":")[0];
    const summary = `${name[0].toUpperCase()}${name.slice(1)} is ${format(own.value)}, and ${format(own.base)} on average over ${background} training rows.`;
    byId("contribution-caption").textContent = `${summary} Each bar is what an input adds to that or takes away; together they are the difference.` +
      (verdict ? ` Would more data help? ${verdict[0].toUpperCase()}${verdict.slice(1)}.` : "");
    const bars = columns.map((column, k) => [column, own.contributions[k]]).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const rest = bars.splice(MOST_BARS);
    if (rest.length) bars.push([`${rest.length} others`, rest.reduce((sum, [, value]) => sum + value, 0)]);
    byId("contributions").replaceChildren(contributionPlot(bars, summary));
  };

  // Bars from 0 to the left and to the right: names, bars and numbers have columns of their own.
  const contributionPlot = (bars, summary) => {
    const W = Math.max(320, Math.min(640, byId("contributions").clientWidth || 560)), LINE = 26, TOP = 8;
    const NAMES = Math.round(0.34 * W), NUMBERS = 64, H = Math.max(110, TOP + LINE * bars.length + 12);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${summary} ${bars.map(([name, value]) => `${name} ${signed(value)}`).join(", ")}`);
    const values = bars.map(([, value]) => value), low = Math.min(0, ...values), high = Math.max(0, ...values);
    const X = x => NAMES + 8 + (x - low) / (high - low || 1) * (W - NAMES - NUMBERS - 16);
    const maxLength = Math.floor(NAMES / 7);
    bars.forEach(([name, value], k) => {
      const y = TOP + LINE * k, label = name.length > maxLength ? name.slice(0, maxLength - 1) + "…" : name;
      const text = add(svg, "text", { x: NAMES, y: y + 17, "font-size": 12, fill: "var(--text)", "text-anchor": "end" }, label);
      add(text, "title", {}, name);
      add(svg, "path", { d: `M${X(0).toFixed(1)} ${y + 4}H${X(value).toFixed(1)}v${LINE - 8}H${X(0).toFixed(1)}Z`, fill: value < 0 ? "var(--blue)" : "var(--orange)" });
      add(svg, "text", { x: W - 4, y: y + 17, "font-size": 12, fill: "var(--text)", "text-anchor": "end" }, signed(value));
    });
    add(svg, "path", { d: `M${X(0).toFixed(1)} ${TOP}V${TOP + LINE * bars.length}`, stroke: "var(--muted)" });
    return svg;
  };

  const explore = async () => {
    const number = ++state.requests;
    byId("prediction").classList.add("stale");
    byId("contribution-panel").classList.add("stale");
    try {
      const response = await request(endpoint("/explore"), {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ row: state.row }) });
      const prediction = await response.json();
      // A later request has been sent.
      if (number !== state.requests) return;
      state.prediction = prediction;
      showError();
      show(prediction);
      clearTimeout(explainTimer);
      explainTimer = setTimeout(explain, EXPLAIN_MS);
    } catch (error) {
      if (number === state.requests) {
        showError(error.message);
        byId("contribution-panel").classList.remove("stale");
      }
    }
    byId("prediction").classList.remove("stale");
  };

  const fill = (id, lines) => {
    byId(id).tBodies[0].replaceChildren(...lines.map(([name, value]) => {
      const line = make("tr", {});
      line.append(make("th", { scope: "row" }, name), make("td", {}, value));
      return line;
    }));
  };

  const show = prediction => {
    const quantile = level => prediction.quantiles.find(([other]) => other === level)[1];
    const summary = `${prediction.target}: mean ${format(prediction.mean)}, sd ${format(prediction.sd)}; 90 % interval ${format(quantile(0.05))} to ${format(quantile(0.95))}.` +
      (prediction.novelty > 0 ? ` ${prediction.novelty_input} lies outside its range in training (by ${format(prediction.novelty)} sds), which makes the prediction wider.` : "");
    byId("summary").textContent = summary;
    byId("plot").replaceChildren(densityPlot(prediction, summary));
    byId("caption").textContent = prediction.curve.length ?
      "The curve is the predicted density; the shaded areas are the highest-density regions of 90 % and, darker, of 50 %." +
      (prediction.values.length ? " A vertical line is a value with a point probability." : "") :
      "Each bar is the probability of one value; the darker ones are the highest-density region of 90 %.";
    fill("facts", [["mean", format(prediction.mean)], ["sd", format(prediction.sd)],
      ...prediction.quantiles.map(([level, value]) => [`${percent(level)} quantile`, format(value)])]);
    const interval = ([low, high]) => low === high ? format(low) : `${format(low)} to ${format(high)}`;
    fill("regions", prediction.regions.map(([coverage, intervals]) => [`${percent(coverage)} region`, intervals.map(interval).join(", ")]));
    effects(prediction);
  };

  // The plot of the predicted distribution.
  const densityPlot = (prediction, summary) => {
    // As wide as its container, so that text keeps its size.
    const W = Math.max(320, Math.min(640, byId("plot").clientWidth || 560)), H = 300, LEFT = 16, RIGHT = 16, TOP = 20, BOTTOM = 44;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", summary);
    const { curve, values } = prediction, step = prediction.grid || 1;
    const positions = curve.length ? curve.map(([x]) => x) : values.map(([x]) => x);
    const margin = curve.length ? 0 : step / 2;
    const low = Math.min(...positions, ...values.map(([x]) => x)) - margin, high = Math.max(...positions, ...values.map(([x]) => x)) + margin;
    const peak = Math.max(...(curve.length ? curve : values).map(([, y]) => y)) || 1;
    const highest = Math.max(0, ...values.map(([, probability]) => probability));
    const X = x => LEFT + (x - low) / (high - low || 1) * (W - LEFT - RIGHT), Y = y => H - BOTTOM - y / peak * (H - TOP - BOTTOM);
    const inside = (x, coverage) => prediction.regions.find(([other]) => other === coverage)[1].some(([a, b]) => x >= a && x <= b);
    if (curve.length) {
      prediction.regions.slice().reverse().forEach(([coverage, intervals]) => intervals.filter(([a, b]) => b > a).forEach(([a, b]) => {
        const section = curve.filter(([x]) => x >= a && x <= b);
        if (!section.length) return;
        const points = section.map(([x, y]) => `${X(x).toFixed(1)} ${Y(y).toFixed(1)}`).join("L");
        add(svg, "path", { d: `M${X(section[0][0]).toFixed(1)} ${Y(0)}L${points}L${X(section[section.length - 1][0]).toFixed(1)} ${Y(0)}Z`,
          fill: "var(--sky)", opacity: coverage > 0.7 ? 0.35 : 0.6 });
      }));
      add(svg, "path", { d: "M" + curve.map(([x, y]) => `${X(x).toFixed(1)} ${Y(y).toFixed(1)}`).join("L"), fill: "none", stroke: "var(--blue)", "stroke-width": 2 });
      values.forEach(([x, probability]) => {
        const top = H - BOTTOM - probability / highest * (H - TOP - BOTTOM);
        add(svg, "path", { d: `M${X(x).toFixed(1)} ${Y(0)}V${top.toFixed(1)}`, stroke: "var(--blue)", "stroke-width": 3 });
        add(svg, "text", { x: X(x) + (X(x) > W - 90 ? -6 : 6), y: top + 22, "font-size": 12, fill: "var(--text)",
          "text-anchor": X(x) > W - 90 ? "end" : "start" }, `${format(x)}: ${percent(probability)}`);
      });
    } else {
      values.forEach(([x, probability]) => add(svg, "path", {
        d: `M${X(x - 0.45 * step).toFixed(1)} ${Y(0)}V${Y(probability).toFixed(1)}H${X(x + 0.45 * step).toFixed(1)}V${Y(0)}Z`,
        fill: inside(x, 0.9) ? "var(--blue)" : "var(--sky)" }));
    }
    add(svg, "path", { d: `M${X(prediction.mean).toFixed(1)} ${TOP}V${H - BOTTOM}`, stroke: "var(--orange)", "stroke-dasharray": "5 4", "stroke-width": 2 });
    const right = X(prediction.mean) > W - 60;
    add(svg, "text", { x: X(prediction.mean) + (right ? -5 : 5), y: TOP - 6, "font-size": 12, fill: "var(--text)", "text-anchor": right ? "end" : "start" }, "mean");
    add(svg, "path", { d: `M${LEFT} ${H - BOTTOM}H${W - RIGHT}`, stroke: "var(--muted)" });
    ticks(low, high, 6).forEach(([x, label]) => {
      add(svg, "path", { d: `M${X(x).toFixed(1)} ${H - BOTTOM}v5`, stroke: "var(--muted)" });
      add(svg, "text", { x: X(x), y: H - BOTTOM + 18, "font-size": 12, fill: "var(--muted)", "text-anchor": "middle" }, label);
    });
    add(svg, "text", { x: W / 2, y: H - 8, "font-size": 13, fill: "var(--text)", "text-anchor": "middle" }, prediction.target);
    return svg;
  };

  // Effect plots, sorted by how much each input changes the mean.
  const effects = prediction => {
    const range = ({ mean }) => Math.max(...mean) - Math.min(...mean);
    const sorted = prediction.effects.filter(effect => effect.values.length > 1).sort((a, b) => range(b) - range(a));
    const low = Math.min(...sorted.flatMap(effect => effect.low)), high = Math.max(...sorted.flatMap(effect => effect.high));
    byId("effects").replaceChildren(...sorted.map(effect => {
      const card = make("figure", { class: "card" });
      const summary = `${effect.input}: the mean ranges from ${format(Math.min(...effect.mean))} to ${format(Math.max(...effect.mean))}.`;
      card.append(make("h3", { dir: "auto" }, effect.input), effectPlot(effect, low, high, summary), make("p", { class: "description" }, summary));
      return card;
    }));
  };

  const effectPlot = (effect, low, high, summary) => {
    const W = 400, H = 200, LEFT = 52, RIGHT = 12, TOP = 10, BOTTOM = 30;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", summary);
    const numbers = effect.values.every(value => typeof value === "number"), count = effect.values.length;
    const times = effect.values.map(value => Date.parse(value)), dated = !numbers && times.every(isFinite);
    const positions = numbers ? effect.values : dated ? times : effect.values.map((_, k) => k + 0.5);
    const first = numbers || dated ? positions[0] : 0, last = numbers || dated ? positions[count - 1] : count;
    const X = x => LEFT + (x - first) / (last - first || 1) * (W - LEFT - RIGHT);
    const Y = y => H - BOTTOM - (y - low) / (high - low || 1) * (H - TOP - BOTTOM);
    const point = (x, y) => `${X(x).toFixed(1)} ${Y(y).toFixed(1)}`;
    ticks(low, high, 6).forEach(([y, label]) => {
      add(svg, "path", { d: `M${LEFT} ${Y(y).toFixed(1)}H${W - RIGHT}`, stroke: "var(--grid)" });
      add(svg, "text", { x: LEFT - 6, y: Y(y) + 4, "font-size": 11, fill: "var(--muted)", "text-anchor": "end" }, label);
    });
    if (numbers || dated) {
      const up = positions.map((x, k) => point(x, effect.high[k])), down = positions.map((x, k) => point(x, effect.low[k])).reverse();
      add(svg, "path", { d: `M${up.join("L")}L${down.join("L")}Z`, fill: "var(--sky)", opacity: 0.4 });
      add(svg, "path", { d: "M" + positions.map((x, k) => point(x, effect.mean[k])).join("L"), fill: "none", stroke: "var(--blue)", "stroke-width": 2 });
      const now = numbers ? state.row[effect.input] : Date.parse(state.row[effect.input]);
      if (typeof now === "number" && now >= first && now <= last) {
        add(svg, "path", { d: `M${X(now).toFixed(1)} ${TOP}V${H - BOTTOM}`, stroke: "var(--orange)", "stroke-dasharray": "5 4", "stroke-width": 2 });
      }
      const labels = numbers ? ticks(first, last, 5) :
        [0.1, 0.5, 0.9].map(fraction => first + fraction * (last - first)).map(x => [x, new Date(x).toISOString().slice(0, 10)]);
      labels.forEach(([x, label]) =>
        add(svg, "text", { x: X(x), y: H - BOTTOM + 16, "font-size": 11, fill: "var(--muted)", "text-anchor": "middle" }, label));
    } else {
      const maxLength = Math.max(2, Math.floor((W - LEFT - RIGHT) / count / 6.5));
      positions.forEach((x, k) => {
        const own = effect.values[k] === state.row[effect.input], colour = own ? "var(--orange)" : "var(--blue)";
        add(svg, "path", { d: `M${point(x, effect.low[k])}L${point(x, effect.high[k])}`, stroke: "var(--sky)", "stroke-width": 8, opacity: 0.5 });
        add(svg, "circle", { cx: X(x).toFixed(1), cy: Y(effect.mean[k]).toFixed(1), r: 4, fill: colour });
        const name = String(effect.values[k]), label = name.length > maxLength ? name.slice(0, Math.max(1, maxLength - 1)) + "…" : name;
        const text = add(svg, "text", { x: X(x), y: H - BOTTOM + 16, "font-size": 11, fill: "var(--muted)", "text-anchor": "middle" }, label);
        add(text, "title", {}, name);
      });
    }
    add(svg, "path", { d: `M${LEFT} ${H - BOTTOM}H${W - RIGHT}`, stroke: "var(--muted)" });
    return svg;
  };

  // Parses CSV text with quoted cells and newlines in them.
  const parseCsv = text => {
    const rows = [[]];
    let cell = "", quoted = false;
    const end = () => { rows[rows.length - 1].push(cell); cell = ""; };
    const separator = (text.split("\n", 1)[0].match(/;/g) || []).length > (text.split("\n", 1)[0].match(/,/g) || []).length ? ";" : ",";
    for (let k = 0; k < text.length; k++) {
      const c = text[k];
      if (quoted) {
        if (c !== "\"") cell += c;
        else if (text[k + 1] === "\"") { cell += c; k++; } else quoted = false;
      } else if (c === "\"") quoted = true;
      else if (c === separator) end();
      else if (c === "\n") { end(); rows.push([]); } else if (c !== "\r") cell += c;
    }
    if (cell !== "" || rows[rows.length - 1].length) end(); else rows.pop();
    return rows.filter(row => row.length > 1 || row[0] !== "");
  };

  const openFile = async file => {
    const text = await file.text();
    const [header, ...rows] = parseCsv(text.replace(/^\ufeff/, ""));
    const matched = state.inputs.filter(input => (header || []).includes(input.name));
    if (!rows.length || !matched.length) {
      showError(`${file.name} has no rows, or none of the columns that the model uses`);
      return;
    }
    Object.assign(state, { file, text, header, rows });
    byId("rows").hidden = false;
    byId("row").max = rows.length;
    byId("of-rows").textContent = `of ${rows.length}`;
    selectRow(1);
  };
  const selectRow = number => {
    const row = Math.min(Math.max(1, Math.round(number) || 1), state.rows.length);
    byId("row").value = row;
    state.inputs.forEach(input => {
      const column = state.header.indexOf(input.name), cell = column < 0 ? "" : (state.rows[row - 1][column] ?? "").trim();
      input.show(cell === "" ? null : cell);
    });
    scheduleExplore();
  };

  const selectModel = async () => {
    state.model = byId("model").value;
    try {
      const found = await (await request(endpoint("/inputs"))).json();
      Object.assign(state, { inputs: found.inputs, row: {}, rows: [], header: [] });
      byId("rows").hidden = true;
      byId("file").value = "";
      byId("title").textContent = `Explore predictions of ${found.target}`;
      document.title = `${found.target} – negmm`;
      byId("inputs").replaceChildren(...found.inputs.map(control));
      found.inputs.forEach(input => input.show(input.start ?? null));
      const sequence = found.window !== null;
      ["inputs", "contribution-panel", "effect-panel"].forEach(id => { byId(id).hidden = sequence; });
      if (sequence) {
        byId("summary").textContent = `This model predicts each row from the ${found.window} steps before it: send a table to /v2/models/${state.model}/infer.`;
        return;
      }
      await explore();
    } catch (error) {
      showError(error.message);
    }
  };

  const start = async () => {
    try {
      const { models } = await (await request("v2/models")).json();
      byId("locked").hidden = true;
      byId("model").replaceChildren(...models.map(name => make("option", { value: name }, name)));
      document.querySelector(".chosen").hidden = models.length < 2;
      showError();
      await selectModel();
    } catch (error) {
      showError(error.message);
    }
    document.body.dataset.ready = "true";
  };

  byId("inputs").addEventListener("submit", event => event.preventDefault());
  byId("locked").addEventListener("submit", event => { event.preventDefault(); state.token = byId("token").value; start(); });
  byId("model").addEventListener("change", selectModel);
  byId("file").addEventListener("change", () => { if (byId("file").files.length) openFile(byId("file").files[0]); });
  byId("row").addEventListener("change", () => selectRow(byId("row").value));
  byId("previous").addEventListener("click", () => selectRow(+byId("row").value - 1));
  byId("next").addEventListener("click", () => selectRow(+byId("row").value + 1));
  byId("download").addEventListener("click", () => {
    if (state.prediction) download("prediction.json", "application/json", JSON.stringify({ model: state.model, row: state.row, prediction: state.prediction }, null, 1));
  });
  byId("download-all").addEventListener("click", async () => {
    try {
      const query = new URLSearchParams({ model: state.model, quantiles: "0.05,0.25,0.5,0.75,0.95", novelty: "true" });
      const response = await request(`invocations?${query}`, { method: "POST", headers: { "Content-Type": "text/csv", Accept: "text/csv" }, body: state.text });
      download("predictions.csv", "text/csv", await response.text());
      showError();
    } catch (error) {
      showError(error.message);
    }
  });
  byId("answer").addEventListener("change", showContributions);
  addEventListener("resize", () => { if (state.prediction) { show(state.prediction); showContributions(); } });
  ["dragover", "dragleave", "drop"].forEach(kind => document.addEventListener(kind, event => {
    event.preventDefault();
    byId("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) openFile(event.dataTransfer.files[0]);
  }));
  start();
})();
