"use strict";
(() => {
  const at = id => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const WAIT = 60;
  const state = { model: "", inputs: [], row: {}, answer: null, file: null, header: [], rows: [], token: "", asked: 0 };

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
  const short = x => Number(x.toPrecision(5)).toString().replace("-", "−");
  const percent = share => `${+(100 * share).toPrecision(3)} %`;

  // Round values between two ends.
  const ticks = (low, high, most) => {
    const raw = (high - low) / most;
    if (!(raw > 0)) return [];
    const size = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map(k => k * size).find(step => step >= raw * 0.999);
    const list = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && list.length < 30; k++) list.push(k * step);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const plain = step >= 1e-4 && Math.abs(high) + Math.abs(low) < 1e7;
    return list.map(x => [x, (plain ? x.toFixed(Math.min(digits, 20)) : x.toExponential(1)).replace("-", "−")]);
  };

  const trouble = text => { at("trouble").textContent = text || ""; };

  // Asks the server; what it complains of is thrown.
  const ask = async (path, options = {}) => {
    const headers = { ...(options.headers || {}) };
    if (state.token) headers.Authorization = `Bearer ${state.token}`;
    const response = await fetch(path, { ...options, headers }).catch(() => { throw new Error("the server does not answer"); });
    if (response.status === 401) at("locked").hidden = false;
    if (!response.ok) {
      const said = await response.json().catch(() => ({}));
      throw new Error(said.error || `the server said ${response.status}`);
    }
    return response;
  };
  const address = what => `v2/models/${encodeURIComponent(state.model)}${what}`;

  const save = (name, type, content) => {
    const link = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // One control for each input; an empty one is missing.
  const control = input => {
    const id = `input-${state.inputs.indexOf(input)}`, wide = input.kind !== "number";
    const box = make("div", { class: wide ? "input wide" : "input" });
    box.append(make("label", { for: id, dir: "auto" }, input.name));
    const change = value => { state.row[input.name] = value; later(); };
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
  const later = () => { clearTimeout(timer); timer = setTimeout(explore, WAIT); };

  const explore = async () => {
    const number = ++state.asked;
    at("prediction").classList.add("stale");
    try {
      const response = await ask(address("/explore"), {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ row: state.row }) });
      const answer = await response.json();
      // A later question is under way.
      if (number !== state.asked) return;
      state.answer = answer;
      trouble();
      show(answer);
    } catch (error) {
      if (number === state.asked) trouble(error.message);
    }
    at("prediction").classList.remove("stale");
  };

  const fill = (id, lines) => {
    at(id).tBodies[0].replaceChildren(...lines.map(([name, value]) => {
      const line = make("tr", {});
      line.append(make("th", { scope: "row" }, name), make("td", {}, value));
      return line;
    }));
  };

  const show = answer => {
    const quantile = level => answer.quantiles.find(([other]) => other === level)[1];
    const told = `${answer.target}: mean ${short(answer.mean)}, sd ${short(answer.sd)}; 90 % lies between ${short(quantile(0.05))} and ${short(quantile(0.95))}.` +
      (answer.novelty > 0 ? ` ${answer.novelty_input} lies outside what training had seen (by ${short(answer.novelty)} sds): the prediction is wider for it.` : "");
    at("told").textContent = told;
    at("picture").replaceChildren(density(answer, told));
    at("reading").textContent = answer.curve.length ?
      "The curve is the predicted density; the shaded parts are the narrowest set that holds 90 %, the darker ones 50 %." +
      (answer.values.length ? " An upright line is a value with a probability of its own." : "") :
      "A bar is the probability of one value; the darker ones are the narrowest set that holds 90 %.";
    fill("facts", [["mean", short(answer.mean)], ["sd", short(answer.sd)],
      ...answer.quantiles.map(([level, value]) => [`${percent(level)} quantile`, short(value)])]);
    const stretch = ([low, high]) => low === high ? short(low) : `${short(low)} to ${short(high)}`;
    fill("regions", answer.regions.map(([share, parts]) => [`${percent(share)} lie in`, parts.map(stretch).join(", ")]));
    effects(answer);
  };

  // The picture of the predicted distribution.
  const density = (answer, told) => {
    // As wide as there is room, so that letters keep their size.
    const W = Math.max(320, Math.min(640, at("picture").clientWidth || 560)), H = 300, LEFT = 16, RIGHT = 16, TOP = 20, BOTTOM = 44;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", told);
    const { curve, values } = answer, step = answer.grid || 1;
    const places = curve.length ? curve.map(([x]) => x) : values.map(([x]) => x);
    const margin = curve.length ? 0 : step / 2;
    const low = Math.min(...places, ...values.map(([x]) => x)) - margin, high = Math.max(...places, ...values.map(([x]) => x)) + margin;
    const peak = Math.max(...(curve.length ? curve : values).map(([, y]) => y)) || 1;
    const most = Math.max(0, ...values.map(([, mass]) => mass));
    const X = x => LEFT + (x - low) / (high - low || 1) * (W - LEFT - RIGHT), Y = y => H - BOTTOM - y / peak * (H - TOP - BOTTOM);
    const inside = (x, share) => answer.regions.find(([other]) => other === share)[1].some(([a, b]) => x >= a && x <= b);
    if (curve.length) {
      answer.regions.slice().reverse().forEach(([share, parts]) => parts.filter(([a, b]) => b > a).forEach(([a, b]) => {
        const part = curve.filter(([x]) => x >= a && x <= b);
        if (!part.length) return;
        const points = part.map(([x, y]) => `${X(x).toFixed(1)} ${Y(y).toFixed(1)}`).join("L");
        add(svg, "path", { d: `M${X(part[0][0]).toFixed(1)} ${Y(0)}L${points}L${X(part[part.length - 1][0]).toFixed(1)} ${Y(0)}Z`,
          fill: "var(--sky)", opacity: share > 0.7 ? 0.35 : 0.6 });
      }));
      add(svg, "path", { d: "M" + curve.map(([x, y]) => `${X(x).toFixed(1)} ${Y(y).toFixed(1)}`).join("L"), fill: "none", stroke: "var(--blue)", "stroke-width": 2 });
      values.forEach(([x, mass]) => {
        const top = H - BOTTOM - mass / most * (H - TOP - BOTTOM);
        add(svg, "path", { d: `M${X(x).toFixed(1)} ${Y(0)}V${top.toFixed(1)}`, stroke: "var(--blue)", "stroke-width": 3 });
        add(svg, "text", { x: X(x) + (X(x) > W - 90 ? -6 : 6), y: top + 22, "font-size": 12, fill: "var(--text)",
          "text-anchor": X(x) > W - 90 ? "end" : "start" }, `${short(x)}: ${percent(mass)}`);
      });
    } else {
      values.forEach(([x, mass]) => add(svg, "path", {
        d: `M${X(x - 0.45 * step).toFixed(1)} ${Y(0)}V${Y(mass).toFixed(1)}H${X(x + 0.45 * step).toFixed(1)}V${Y(0)}Z`,
        fill: inside(x, 0.9) ? "var(--blue)" : "var(--sky)" }));
    }
    add(svg, "path", { d: `M${X(answer.mean).toFixed(1)} ${TOP}V${H - BOTTOM}`, stroke: "var(--orange)", "stroke-dasharray": "5 4", "stroke-width": 2 });
    const right = X(answer.mean) > W - 60;
    add(svg, "text", { x: X(answer.mean) + (right ? -5 : 5), y: TOP - 6, "font-size": 12, fill: "var(--text)", "text-anchor": right ? "end" : "start" }, "mean");
    add(svg, "path", { d: `M${LEFT} ${H - BOTTOM}H${W - RIGHT}`, stroke: "var(--muted)" });
    ticks(low, high, 6).forEach(([x, label]) => {
      add(svg, "path", { d: `M${X(x).toFixed(1)} ${H - BOTTOM}v5`, stroke: "var(--muted)" });
      add(svg, "text", { x: X(x), y: H - BOTTOM + 18, "font-size": 12, fill: "var(--muted)", "text-anchor": "middle" }, label);
    });
    add(svg, "text", { x: W / 2, y: H - 8, "font-size": 13, fill: "var(--text)", "text-anchor": "middle" }, answer.target);
    return svg;
  };

  // How the prediction changes with each input, the one that moves the mean most first.
  const effects = answer => {
    const moved = ({ mean }) => Math.max(...mean) - Math.min(...mean);
    const sorted = answer.effects.filter(effect => effect.values.length > 1).sort((a, b) => moved(b) - moved(a));
    const low = Math.min(...sorted.flatMap(effect => effect.low)), high = Math.max(...sorted.flatMap(effect => effect.high));
    at("effects").replaceChildren(...sorted.map(effect => {
      const card = make("figure", { class: "card" });
      const told = `${effect.input}: the mean goes from ${short(Math.min(...effect.mean))} to ${short(Math.max(...effect.mean))}.`;
      card.append(make("h3", { dir: "auto" }, effect.input), line(effect, low, high, told), make("p", { class: "told" }, told));
      return card;
    }));
  };

  const line = (effect, low, high, told) => {
    const W = 400, H = 200, LEFT = 52, RIGHT = 12, TOP = 10, BOTTOM = 30;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", told);
    const numbers = effect.values.every(value => typeof value === "number"), count = effect.values.length;
    const times = effect.values.map(value => Date.parse(value)), dated = !numbers && times.every(isFinite);
    const places = numbers ? effect.values : dated ? times : effect.values.map((_, k) => k + 0.5);
    const first = numbers || dated ? places[0] : 0, last = numbers || dated ? places[count - 1] : count;
    const X = x => LEFT + (x - first) / (last - first || 1) * (W - LEFT - RIGHT);
    const Y = y => H - BOTTOM - (y - low) / (high - low || 1) * (H - TOP - BOTTOM);
    const point = (x, y) => `${X(x).toFixed(1)} ${Y(y).toFixed(1)}`;
    ticks(low, high, 6).forEach(([y, label]) => {
      add(svg, "path", { d: `M${LEFT} ${Y(y).toFixed(1)}H${W - RIGHT}`, stroke: "var(--grid)" });
      add(svg, "text", { x: LEFT - 6, y: Y(y) + 4, "font-size": 11, fill: "var(--muted)", "text-anchor": "end" }, label);
    });
    if (numbers || dated) {
      const up = places.map((x, k) => point(x, effect.high[k])), down = places.map((x, k) => point(x, effect.low[k])).reverse();
      add(svg, "path", { d: `M${up.join("L")}L${down.join("L")}Z`, fill: "var(--sky)", opacity: 0.4 });
      add(svg, "path", { d: "M" + places.map((x, k) => point(x, effect.mean[k])).join("L"), fill: "none", stroke: "var(--blue)", "stroke-width": 2 });
      const now = numbers ? state.row[effect.input] : Date.parse(state.row[effect.input]);
      if (typeof now === "number" && now >= first && now <= last) {
        add(svg, "path", { d: `M${X(now).toFixed(1)} ${TOP}V${H - BOTTOM}`, stroke: "var(--orange)", "stroke-dasharray": "5 4", "stroke-width": 2 });
      }
      const labels = numbers ? ticks(first, last, 5) :
        [0.1, 0.5, 0.9].map(share => first + share * (last - first)).map(x => [x, new Date(x).toISOString().slice(0, 10)]);
      labels.forEach(([x, label]) =>
        add(svg, "text", { x: X(x), y: H - BOTTOM + 16, "font-size": 11, fill: "var(--muted)", "text-anchor": "middle" }, label));
    } else {
      const room = Math.max(2, Math.floor((W - LEFT - RIGHT) / count / 6.5));
      places.forEach((x, k) => {
        const own = effect.values[k] === state.row[effect.input], colour = own ? "var(--orange)" : "var(--blue)";
        add(svg, "path", { d: `M${point(x, effect.low[k])}L${point(x, effect.high[k])}`, stroke: "var(--sky)", "stroke-width": 8, opacity: 0.5 });
        add(svg, "circle", { cx: X(x).toFixed(1), cy: Y(effect.mean[k]).toFixed(1), r: 4, fill: colour });
        const name = String(effect.values[k]), label = name.length > room ? name.slice(0, Math.max(1, room - 1)) + "…" : name;
        const text = add(svg, "text", { x: X(x), y: H - BOTTOM + 16, "font-size": 11, fill: "var(--muted)", "text-anchor": "middle" }, label);
        add(text, "title", {}, name);
      });
    }
    add(svg, "path", { d: `M${LEFT} ${H - BOTTOM}H${W - RIGHT}`, stroke: "var(--muted)" });
    return svg;
  };

  // The cells of CSV text: quotes, and newlines within them.
  const cells = text => {
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

  const opened = async file => {
    const text = await file.text();
    const [header, ...rows] = cells(text.replace(/^\ufeff/, ""));
    const known = state.inputs.filter(input => (header || []).includes(input.name));
    if (!rows.length || !known.length) {
      trouble(`${file.name} has no row with a column that the model uses`);
      return;
    }
    Object.assign(state, { file, text, header, rows });
    at("rows").hidden = false;
    at("row").max = rows.length;
    at("of-rows").textContent = `of ${rows.length}`;
    pick(1);
  };
  const pick = number => {
    const row = Math.min(Math.max(1, Math.round(number) || 1), state.rows.length);
    at("row").value = row;
    state.inputs.forEach(input => {
      const place = state.header.indexOf(input.name), cell = place < 0 ? "" : (state.rows[row - 1][place] ?? "").trim();
      input.show(cell === "" ? null : cell);
    });
    later();
  };

  const choose = async () => {
    state.model = at("model").value;
    try {
      const found = await (await ask(address("/inputs"))).json();
      Object.assign(state, { inputs: found.inputs, row: {}, rows: [], header: [] });
      at("rows").hidden = true;
      at("file").value = "";
      at("title").textContent = `What would ${found.target} be?`;
      document.title = `${found.target} – negmm`;
      at("inputs").replaceChildren(...found.inputs.map(control));
      found.inputs.forEach(input => input.show(input.start ?? null));
      const sequence = found.window !== null;
      ["inputs", "changes"].forEach(id => { at(id).hidden = sequence; });
      if (sequence) {
        at("told").textContent = `This model predicts from ${found.window} steps before each row: ask /v2/models/${state.model}/infer for a table.`;
        return;
      }
      await explore();
    } catch (error) {
      trouble(error.message);
    }
  };

  const start = async () => {
    try {
      const { models } = await (await ask("v2/models")).json();
      at("locked").hidden = true;
      at("model").replaceChildren(...models.map(name => make("option", { value: name }, name)));
      document.querySelector(".chosen").hidden = models.length < 2;
      trouble();
      await choose();
    } catch (error) {
      trouble(error.message);
    }
    document.body.dataset.ready = "true";
  };

  at("inputs").addEventListener("submit", event => event.preventDefault());
  at("locked").addEventListener("submit", event => { event.preventDefault(); state.token = at("token").value; start(); });
  at("model").addEventListener("change", choose);
  at("file").addEventListener("change", () => { if (at("file").files.length) opened(at("file").files[0]); });
  at("row").addEventListener("change", () => pick(at("row").value));
  at("before").addEventListener("click", () => pick(+at("row").value - 1));
  at("after").addEventListener("click", () => pick(+at("row").value + 1));
  at("save").addEventListener("click", () => {
    if (state.answer) save("answer.json", "application/json", JSON.stringify({ model: state.model, row: state.row, answer: state.answer }, null, 1));
  });
  at("all").addEventListener("click", async () => {
    try {
      const query = new URLSearchParams({ model: state.model, quantiles: "0.05,0.25,0.5,0.75,0.95", novelty: "true" });
      const response = await ask(`invocations?${query}`, { method: "POST", headers: { "Content-Type": "text/csv", Accept: "text/csv" }, body: state.text });
      save("answers.csv", "text/csv", await response.text());
      trouble();
    } catch (error) {
      trouble(error.message);
    }
  });
  addEventListener("resize", () => { if (state.answer) show(state.answer); });
  ["dragover", "dragleave", "drop"].forEach(kind => document.addEventListener(kind, event => {
    event.preventDefault();
    at("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) opened(event.dataTransfer.files[0]);
  }));
  start();
})();
