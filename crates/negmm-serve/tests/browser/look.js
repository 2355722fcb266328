// Inspects the page from inside and returns what is wrong, as sentences.
const scheme = arguments[0];
const faults = [];
const background = getComputedStyle(document.body).backgroundColor;
if ((luminance(background) > 0.5) !== (scheme === "light")) faults.push(`a background of ${background} is not ${scheme}`);
if (document.documentElement.scrollWidth > innerWidth) faults.push(`${document.documentElement.scrollWidth} wide`);
if (window.broken !== undefined) faults.push("a script in the data ran");
if (document.querySelector("img, iframe, object, [onerror], [onclick]")) faults.push("an injected element");
if (/\b(NaN|Infinity|undefined|null)\b/.test(document.body.innerText)) faults.push("a number that is not finite");
const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
if (new Set(ids).size !== ids.length) faults.push("an id occurs twice");
document.querySelectorAll("#inputs input, #inputs select").forEach(control => {
  const named = control.getAttribute("aria-label") || document.querySelector(`label[for="${control.id}"]`);
  if (!named) faults.push(`a control without a name: ${control.outerHTML.slice(0, 80)}`);
  const box = control.getBoundingClientRect();
  if (box.height < 24) faults.push(`a control ${box.height} pixels high`);
});
if (document.querySelectorAll("#facts tr").length !== 9) faults.push(`${document.querySelectorAll("#facts tr").length} facts`);
if (document.querySelectorAll("#regions tr").length !== 2) faults.push("not two regions");
const svgs = [...document.querySelectorAll("#plot > svg, #contributions > svg, #effects svg")];
if (document.querySelectorAll("#contributions > svg").length !== 1) faults.push("no contributions");
if (svgs.length < 3) faults.push(`${svgs.length} plots`);
svgs.forEach((svg, number) => {
  const where = ["the density", "contributions"][number] || `effect ${number - 1}`;
  const frame = svg.getBoundingClientRect();
  if (frame.width < 250 || frame.height < 100) faults.push(`${where}: drawn at ${frame.width} × ${frame.height}`);
  if (svg.getAttribute("role") !== "img" || !/\d/.test(svg.getAttribute("aria-label") || "")) faults.push(`${where}: no text alternative`);
  if (/NaN|Infinity/.test(svg.outerHTML)) faults.push(`${where}: a coordinate that is not finite`);
  const texts = [...svg.querySelectorAll("text")], boxes = texts.map(text => text.getBoundingClientRect());
  // Contributions of a single input have its name and a number.
  if (texts.length < (where === "contributions" ? 2 : 4)) faults.push(`${where}: ${texts.length} labels`);
  texts.forEach((text, k) => {
    const box = boxes[k], label = text.firstChild ? text.firstChild.textContent.slice(0, 30) : "";
    const size = parseFloat(getComputedStyle(text).fontSize) * frame.width / svg.viewBox.baseVal.width;
    if (size < 9) faults.push(`${where}: text of ${size.toFixed(1)} pixels: ${label}`);
    if (contrast(getComputedStyle(text).fill, background) < 4.4) faults.push(`${where}: low contrast: ${label}`);
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
      faults.push(`${where}: cut off: ${label}`);
    boxes.slice(k + 1).forEach((other, more) => {
      const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
      const along = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
      if (across > 1 && along > 3) faults.push(`${where}: overlapping: ${label} and ${texts[k + 1 + more].textContent.slice(0, 30)}`);
    });
  });
});
return faults;
