// Search of the guide: sections that have all words, those with words in their headings first.
"use strict";
(() => {
  const input = document.getElementById("search"), results = document.getElementById("results");
  const article = document.querySelector("article");
  const lower = INDEX.map(([title, , heading, , text]) => [title.toLowerCase(), heading.toLowerCase(), text.toLowerCase()]);
  const find = query => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const score = ([title, heading, text]) => {
      let sum = 0;
      for (const word of words) {
        const found = (heading.includes(word) ? 8 : 0) + (title.includes(word) ? 3 : 0) + Math.min(text.split(word).length - 1, 5);
        if (!found) return 0;
        sum += found;
      }
      return sum;
    };
    return lower.map((section, at) => [score(section), at]).filter(([own]) => own > 0).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, 30);
  };
  const show = () => {
    const query = input.value.trim();
    results.hidden = query.length < 2;
    article.hidden = !results.hidden;
    if (results.hidden) return;
    const found = find(query), word = query.toLowerCase().split(/\s+/)[0];
    const heading = document.createElement("h1");
    heading.textContent = found.length ? `${found.length === 30 ? "First 30" : found.length} sections with “${query}”` : `Nothing with “${query}”`;
    results.replaceChildren(heading, ...found.map(([, at]) => {
      const [title, page, section, anchor, text] = INDEX[at];
      const entry = document.createElement("p"), link = document.createElement("a");
      link.href = `${page}#${anchor}`;
      link.textContent = title === section ? title : `${title}: ${section}`;
      link.addEventListener("click", () => { input.value = ""; show(); });
      const start = Math.max(text.toLowerCase().indexOf(word) - 60, 0);
      entry.append(link, document.createElement("br"), (start ? "… " : "") + text.slice(start, start + 200).replaceAll("`", ""));
      return entry;
    }));
  };
  // A link with ?q=… searches.
  input.value = new URLSearchParams(location.search).get("q") || "";
  if (input.value) show();
  input.addEventListener("input", show);
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== input) { event.preventDefault(); input.focus(); }
    if (event.key === "Escape") { input.value = ""; show(); }
  });
})();
