// Looks at the page to explore from inside and returns what is wrong with it, as sentences.
const scheme = arguments[0];
const faults = [];
const ground = getComputedStyle(document.body).backgroundColor;
if ((luminance(ground) > 0.5) !== (scheme === "light")) faults.push(`a ground of ${ground} is not ${scheme}`);
if (document.documentElement.scrollWidth > innerWidth) faults.push(`${document.documentElement.scrollWidth} wide`);
if (window.broken !== undefined) faults.push("something from the data ran");
if (document.querySelector("img, iframe, object, [onerror], [onclick]")) faults.push("an element that is not ours");
if (/\b(NaN|Infinity|undefined|null)\b/.test(document.body.innerText)) faults.push("a number that is none");
const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
if (new Set(ids).size !== ids.length) faults.push("an id occurs twice");
document.querySelectorAll("#inputs input, #inputs select").forEach(control => {
  const named = control.getAttribute("aria-label") || document.querySelector(`label[for="${control.id}"]`);
  if (!named) faults.push(`a control without a name: ${control.outerHTML.slice(0, 80)}`);
  const box = control.getBoundingClientRect();
  if (box.height < 24) faults.push(`a control ${box.height} pixels high`);
});
if (document.querySelectorAll("#facts tr").length !== 9) faults.push(`${document.querySelectorAll("#facts tr").length} facts`);
if (document.querySelectorAll("#regions tr").length !== 2) faults.push("not two sets");
const svgs = [...document.querySelectorAll("#picture > svg, #effects svg")];
if (svgs.length < 2) faults.push(`${svgs.length} pictures`);
svgs.forEach((svg, number) => {
  const where = number ? `effect ${number}` : "the density";
  const frame = svg.getBoundingClientRect();
  if (frame.width < 250 || frame.height < 100) faults.push(`${where}: drawn at ${frame.width} × ${frame.height}`);
  if (svg.getAttribute("role") !== "img" || !/\d/.test(svg.getAttribute("aria-label") || "")) faults.push(`${where}: no text alternative`);
  if (/NaN|Infinity/.test(svg.outerHTML)) faults.push(`${where}: a place that is no number`);
  const texts = [...svg.querySelectorAll("text")], boxes = texts.map(text => text.getBoundingClientRect());
  if (texts.length < 4) faults.push(`${where}: ${texts.length} words`);
  texts.forEach((text, k) => {
    const box = boxes[k], said = text.firstChild ? text.firstChild.textContent.slice(0, 30) : "";
    const size = parseFloat(getComputedStyle(text).fontSize) * frame.width / svg.viewBox.baseVal.width;
    if (size < 9) faults.push(`${where}: letters of ${size.toFixed(1)} pixels: ${said}`);
    if (contrast(getComputedStyle(text).fill, ground) < 4.4) faults.push(`${where}: pale letters: ${said}`);
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
      faults.push(`${where}: cut off: ${said}`);
    boxes.slice(k + 1).forEach((other, more) => {
      const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
      const along = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
      if (across > 1 && along > 3) faults.push(`${where}: on top of each other: ${said} and ${texts[k + 1 + more].textContent.slice(0, 30)}`);
    });
  });
});
return faults;
