// Inspects a report from inside and returns what is wrong, as sentences.
const scheme = arguments[0];
const faults = [];
const complain = (where, what) => faults.push(`${where}: ${what}`);
const background = getComputedStyle(document.body).backgroundColor;
if ((luminance(background) > 0.5) !== (scheme === "light")) complain("page", `a background of ${background} is not ${scheme}`);
if (document.documentElement.scrollWidth > innerWidth) complain("page", `${document.documentElement.scrollWidth} wide`);
if (window.broken !== undefined) complain("page", "a script in the data ran");
const scripts = document.querySelectorAll("script");
if (scripts.length !== 2) complain("page", `${scripts.length} scripts`);
if (document.querySelector("img, iframe, object, link, [onerror], [onclick]")) complain("page", "an injected element");
if (/\b(NaN|Infinity|undefined|null)\b/.test(document.body.innerText)) complain("page", "a number that is not finite");
const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
if (new Set(ids).size !== ids.length) complain("page", "an id occurs twice");

const figures = [...document.querySelectorAll("figure")];
if (figures.length < 8) complain("page", `${figures.length} plots`);
document.querySelectorAll("details").forEach(details => { details.open = true; });
figures.forEach(figure => {
  const rows = figure.querySelectorAll("details tbody tr").length;
  if (!rows) complain(figure.id, "no table");
  const caption = figure.querySelector("figcaption");
  if (!caption || caption.innerText.length < 10) complain(figure.id, "no caption");
});
document.querySelectorAll("details").forEach(details => { details.open = false; });

const svgs = [...document.querySelectorAll("figure > svg, #row-plot > svg")];
svgs.forEach(svg => {
  const where = svg.parentElement.id;
  const frame = svg.getBoundingClientRect();
  if (frame.width < 250 || frame.height < 100) complain(where, `drawn at ${frame.width} × ${frame.height}`);
  if (svg.getAttribute("role") !== "img" || (svg.getAttribute("aria-label") || "").length < 10) complain(where, "no text alternative");
  if (!/\d/.test(svg.getAttribute("aria-label"))) complain(where, "a text alternative without a number");
  // Base64 of images may contain any letters.
  const drawn = svg.outerHTML.replace(/href="data:[^"]*"/g, "");
  if (drawn.includes("NaN") || drawn.includes("Infinity")) complain(where, "a coordinate that is not finite");
  const marks = svg.querySelectorAll("svg path, svg image");
  if (!marks.length && where !== "row-plot") complain(where, "nothing drawn");
  const texts = [...svg.querySelectorAll("text")];
  const numbers = texts.filter(text => /^−?[\d,.]+(\s%)?(e[+−]\d+)?$/.test(text.textContent));
  if (numbers.length < 3) complain(where, `${numbers.length} numbers at its axes`);
  const boxes = texts.map(text => text.getBoundingClientRect());
  texts.forEach((text, k) => {
    const box = boxes[k], label = text.textContent.slice(0, 30);
    const size = parseFloat(getComputedStyle(text).fontSize) * frame.width / svg.viewBox.baseVal.width;
    if (size < 9) complain(where, `text of ${size.toFixed(1)} pixels: ${label}`);
    if (contrast(getComputedStyle(text).fill, background) < 4.4) complain(where, `low contrast: ${label}`);
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
      complain(where, `cut off: ${label}`);
    // Bounding boxes of rotated labels overlap where the labels do not.
    if (text.getAttribute("transform")) return;
    boxes.slice(k + 1).forEach((other, more) => {
      if (texts[k + 1 + more].getAttribute("transform")) return;
      const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
      const along = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
      if (across > 1 && along > 3) complain(where, `overlapping: ${label} and ${texts[k + 1 + more].textContent.slice(0, 30)}`);
    });
  });
});
return faults;
